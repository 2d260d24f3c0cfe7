"""Drains of every node are the same, whoever carries them out."""

import pickle

import pytest

from kubesched import Drain, Drainer, TieBreak
from kubesched.api import KubeObject
from kubesched.pages.plans import each_page
from kubesched.parallel import carried_out
from kubesched.planning.single_drains import SingleDrain
from kubesched.testing import make_node
from tests.comparison.small_clusters import random_cluster, replicas


def cluster(seed: int) -> list[KubeObject]:
    """Nodes, some of whose pods fit nowhere else."""
    large = [pod for i in range(3) for pod in replicas(f"large-{i}", 1, "3", node=f"extra-{i}")]
    extra = [make_node(f"extra-{i}", allocatable={"cpu": "4", "memory": "8Gi", "pods": "20"}) for i in range(3)]
    return [*random_cluster(seed), *extra, *large]


def drained(seed: int) -> list[Drain]:
    with Drainer(cluster(seed), tie_break=TieBreak.RANDOM, seed=seed) as drainer:
        return list(drainer.each())


@pytest.mark.timeout(240)
def test_worker_processes_drain_as_this_one(monkeypatch: pytest.MonkeyPatch):
    here = drained(1)
    monkeypatch.setattr(carried_out, "_WORTH_SECONDS", -1.0)
    monkeypatch.setattr(carried_out, "_LONG_SECONDS", -1.0)
    monkeypatch.setattr(carried_out, "n_cores", lambda: 2)
    sent: list[object] = []
    packed = carried_out.packed
    monkeypatch.setattr(carried_out, "packed", lambda runner: (sent.append(runner), packed(runner))[1])
    there = drained(1)
    assert sent
    assert any(pod.cause for drain in here for pod in drain.pods)
    assert [drain.pods for drain in there] == [drain.pods for drain in here]
    assert [drain.fills for drain in there] == [drain.fills for drain in here]
    assert each_page(there).document == each_page(here).document


def test_a_node_drained_alone_is_drained_as_among_others():
    with Drainer(cluster(2), tie_break=TieBreak.RANDOM, seed=3) as drainer:
        names = [drain.nodes[0] for drain in drainer.each()]
        for name in names[::4]:
            [alone] = drainer.each([name])
            [among] = [drain for drain in drainer.each() if drain.nodes == (name,)]
            assert [(pod.pod, pod.to) for pod in alone.pods] == [(pod.pod, pod.to) for pod in among.pods]


def test_a_drain_is_sent_without_what_all_have_in_common():
    """A thousand drains of a thousand nodes would be gigabytes."""
    objects = [
        *(make_node(f"n{i}", allocatable={"cpu": "4", "pods": "20"}) for i in range(200)),
        *replicas("web", 3, "1", node="n0"),
    ]
    with Drainer(objects) as drainer:
        [whole] = drainer.each(["n0"])
        alone = drainer.drain(["n0"])
    sent = SingleDrain.of(whole, {})
    assert len(pickle.dumps(sent)) < 5_000
    assert whole.fills == alone.fills
    assert whole.groups == alone.groups
