"""The generated clusters are what they claim: 60 to 80 percent full, with pods that are pending for a known cause."""

import gzip
import hashlib
import io
from pathlib import Path

import msgspec
import pytest

from kubesched import Simulator, load_snapshot
from kubesched.api import Node, Pod, parse_quantity
from tests.clusters import CAUSES, MIN_NODES, SHAPES, realistic


@pytest.mark.parametrize("shape", SHAPES)
def test_pods_are_pending_for_their_cause(shape):
    data = realistic(shape, MIN_NODES)
    cluster = load_snapshot(io.BytesIO(data))
    nodes = cluster.of(Node)
    pods = cluster.of(Pod)
    requested = sum(
        parse_quantity(container.resources.requests.get("cpu", 0))
        for pod in pods
        if pod.node_name
        for container in pod.spec.containers
    )
    offered = sum(parse_quantity(node.status.allocatable["cpu"]) for node in nodes)
    assert len(nodes) == MIN_NODES
    assert 0.6 < requested / offered < 0.8
    causes = {pod.key: pod.labels["cause"] for pod in pods if not pod.node_name}
    placements = {placement.pod: placement for placement in Simulator(cluster).run().placements}
    for key, cause in causes.items():
        if cause in ("fits", "preemption"):
            assert placements[key].node, (key, placements[key].message)
        else:
            assert not placements[key].node, key
            assert CAUSES[cause] in placements[key].message, (key, placements[key].message)
    assert set(causes.values()) == set(CAUSES) - ({"no-local-volume"} if shape != "bare-metal" else set())


@pytest.mark.parametrize("shape", SHAPES)
def test_running_pods_do_not_need_more_than_their_node_has(shape):
    cluster = load_snapshot(io.BytesIO(realistic(shape, 60, seed=3)))
    free = {node.name: parse_quantity(node.status.allocatable["cpu"]) for node in cluster.of(Node)}
    for pod in cluster.of(Pod):
        if pod.node_name:
            free[pod.node_name] -= sum(
                parse_quantity(container.resources.requests.get("cpu", 0)) for container in pod.spec.containers
            )
    assert min(free.values()) >= 0


def test_the_same_arguments_give_the_same_bytes():
    first, again, other = (hashlib.sha256(realistic("gke", 50, seed)).digest() for seed in (1, 1, 2))
    assert first == again != other


def test_every_object_is_there_once():
    items = msgspec.json.decode(realistic("bare-metal", MIN_NODES))["items"]
    keys = [(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in items]
    assert len(keys) == len(set(keys))
    assert len({one["metadata"]["uid"] for one in items}) == len(items)


def test_a_cluster_needs_a_node_for_each_pool():
    with pytest.raises(ValueError, match="expected at least 40"):
        realistic("eks", 3)


@pytest.mark.parametrize("shape", ["gke", "eks", "bare-metal"])
def test_the_bundled_clusters_are_what_the_generator_writes(shape):
    bundled = Path(__file__).parents[2] / "examples" / "clusters" / f"{shape}.json.gz"
    assert gzip.decompress(bundled.read_bytes()) == realistic(shape, 40)
