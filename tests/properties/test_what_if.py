"""Moving pods in a what-if table says of each node what moving them in the cluster would say, and moves nothing."""

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.framework import CycleState, Framework
from kubesched.framework.verdicts import FilterResult
from kubesched.scheduler import build_frameworks
from kubesched.setup import set_up
from kubesched.state import ClusterState, PodBatch, Rows
from tests.properties.cluster_walk import as_pod, generated, read
from tests.properties.test_cluster_state import everything
from tests.trials import examples

FEATURES = ("claims", "ephemeral", "host-ports", "inline-disks", "pod-level", "resize", "sidecars", "zones", "migrated")
CLUSTERS = {
    "seed": st.integers(0, 2**16),
    "features": st.lists(st.sampled_from(FEATURES), max_size=3, unique=True),
    "chance": st.integers(0, 2**16),
    "by_slot": st.booleans(),
}


class Cluster:
    """A small cluster, its default profile, and the first pending pod in the middle of its cycle."""

    def __init__(self, items: list[dict]) -> None:
        self.cluster_state = ClusterState()
        self.cluster_state.load([(item["kind"], read(item)) for item in items])
        self.framework: Framework = build_frameworks(set_up(None).profiles, self.cluster_state)["default-scheduler"]
        waiting = [item for item in items if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
        self.pods = [as_pod(item) for item in waiting]
        self.nodes = self.cluster_state.snapshot().nodes
        self.state = CycleState(self.cluster_state.pod_info(self.pods[0]))
        before = self.framework.run_pre_filter(self.state, self.pods[0], self.nodes)
        self.goes_on = before.status.is_success and before.node_names is None

    def rejections(self, name: str) -> dict[str, str]:
        """What every filter says of one node in the cluster as it is."""
        result = self.framework.run_filter(self.state, self.pods[0], self.nodes, is_whole=True)
        return rejections_at(result, result.nodes.position_of(name))

    def remove(self, pod: Pod) -> None:
        self.cluster_state.apply(WatchEvent(EventType.DELETED, "Pod", pod))


def rejections_at(result: FilterResult, position: int) -> dict[str, str]:
    found = {}
    for rejection in result.rejections:
        value = int(rejection.verdicts.values[position])
        if value:
            found[rejection.plugin] = rejection.verdicts.status(value).message
    return found


def chosen(cluster: Cluster, r: random.Random) -> dict[str, list[Pod]]:
    """Some of the pods on every node."""
    columns = cluster.cluster_state.columns
    on = {name: [info.pod for info in columns.pods[row]] for name, row in columns.row_of.items()}
    return {name: r.sample(pods, r.randint(0, len(pods))) for name, pods in on.items()}


def batches(
    cluster: Cluster, chosen: dict[str, list[Pod]], n_batches: int, *, by_slot: bool
) -> list[tuple[Rows, PodBatch]]:
    """The chosen pods with their positions, in this many parts; by slot as preemption names them, or one by one."""
    found = []
    table = cluster.cluster_state.columns.pod_table
    table.settle()
    for part in range(n_batches):
        some = [(name, pod) for name, pods in chosen.items() for pod in pods[part::n_batches]]
        positions = np.array([cluster.nodes.position_of(name) for name, _ in some], dtype=np.intp)
        infos = [cluster.cluster_state.placed(pod.uid) for _, pod in some]
        slots = np.array([info.slot for info in infos], dtype=np.intp)
        found.append((positions, PodBatch([], table, slots) if by_slot else PodBatch(infos)))
    return found


@examples(20)
@given(**CLUSTERS)
def test_pods_taken_off_a_what_if_table_are_gone_for_the_filters(
    seed: int, features: list[str], chance: int, by_slot: bool
) -> None:
    items = generated(seed, nodes=4, bound=16, pending=2, features=tuple(features))
    cluster = Cluster(items)
    if not cluster.goes_on:
        return
    leaving = chosen(cluster, random.Random(chance))
    untouched = everything(cluster.cluster_state)
    table = cluster.framework.what_if(cluster.state, cluster.pods[0], cluster.nodes)
    for positions, pods in batches(cluster, leaving, 2, by_slot=by_slot):
        table.remove(positions, pods)
    found = table.filter()
    assert table.fits().tolist() == found.fits.tolist()
    assert everything(cluster.cluster_state) == untouched
    for name, gone in leaving.items():
        really = Cluster(items)
        for pod in gone:
            really.remove(pod)
        really.state = CycleState(really.cluster_state.pod_info(really.pods[0]))
        if really.framework.run_pre_filter(really.state, really.pods[0], really.nodes).status.is_success:
            said = rejections_at(found, cluster.nodes.position_of(name))
            assert without_shared_claims(said) == without_shared_claims(really.rejections(name)), name


@examples(20)
@given(**CLUSTERS)
def test_pods_put_back_on_a_what_if_table_leave_everything_as_it_was(
    seed: int, features: list[str], chance: int, by_slot: bool
) -> None:
    cluster = Cluster(generated(seed, nodes=5, bound=20, pending=2, features=tuple(features)))
    if not cluster.goes_on:
        return
    table = cluster.framework.what_if(cluster.state, cluster.pods[0], cluster.nodes)
    before = table.filter()
    ((positions, pods),) = batches(cluster, chosen(cluster, random.Random(chance)), 1, by_slot=by_slot)
    table.remove(positions, pods)
    table.add(positions, pods)
    after = table.filter()
    for position in range(len(cluster.nodes)):
        assert without_ports(rejections_at(after, position)) == without_ports(rejections_at(before, position))
    assert np.array_equal(table.nodes.requested, cluster.nodes.requested)
    assert np.array_equal(table.nodes.non_zero_requested, cluster.nodes.non_zero_requested)
    assert table.nodes.n_pods.tolist() == cluster.nodes.n_pods.tolist()


def without_shared_claims(rejections: dict[str, str]) -> dict[str, str]:
    """Upstream takes it that one pod at most uses a ReadWriteOncePod claim; when that goes, so does the conflict."""
    return {plugin: message for plugin, message in rejections.items() if "ReadWriteOncePod" not in message}


def without_ports(rejections: dict[str, str]) -> dict[str, str]:
    """A port that two pods hold is free when one has gone, and taken when it has come back: upstream keeps a set."""
    return {plugin: message for plugin, message in rejections.items() if plugin != "NodePorts"}
