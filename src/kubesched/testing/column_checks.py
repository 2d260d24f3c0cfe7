"""Checks of rules over columns: they judge row by row, and kept answers stay true."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from kubesched.api import HOSTNAME, KubeObject, Pod, kind_of
from kubesched.framework import CycleState, Status
from kubesched.state import Nodes, PodBatch
from kubesched.testing.builders import make_node, make_pod
from kubesched.testing.fake_cluster import FakeCluster
from kubesched.testing.subject import Subject, difference


def check_some_rows(subject: Subject) -> None:
    """A row gets the same answer whatever other rows the table has."""
    cluster = subject.cluster()
    nodes = cluster.nodes
    everywhere = np.arange(len(nodes))
    tables = [nodes.select(everywhere[[i]]) for i in range(len(nodes))]
    tables += [nodes.select(everywhere[::2]), nodes.select(everywhere[::-1].copy()), nodes.copy()]
    for pod in subject.scenario.pending:
        for hook, ask in _column_hooks(subject, cluster, pod):
            whole = ask(nodes)
            for table in tables:
                some = ask(table)
                wrong = difference(({name: whole[name] for name in some}, {}), (some, {}))
                assert not wrong, f"{subject.name}.{hook}: pod {pod.key}: called for {table.names} alone: {wrong}"


def _column_hooks(
    subject: Subject, cluster: FakeCluster, pod: Pod
) -> Iterator[tuple[str, Callable[[Nodes], dict[str, Status]]]]:
    """The column hooks that get to run for a pod, ready to be asked about a table."""
    plugin = subject.plugin_in(cluster)
    state = CycleState(cluster.cluster_state.pod_info(pod))
    if not cluster.framework.run_pre_filter(state, pod, cluster.nodes).status.is_success:
        return

    def filter_nodes(table: Nodes) -> dict[str, Status]:
        statuses = cluster.framework.run_filter(state, pod, table, is_whole=False).statuses()
        return {name: statuses[position] for position, name in enumerate(table.names)}

    def score_nodes(table: Nodes) -> dict[str, Status]:
        scores = np.asarray(plugin.score_nodes(state, pod, table)).tolist()
        return dict(zip(table.names, scores, strict=True))

    if plugin.defines("filter_nodes") and plugin.name not in state.skip_filter:
        yield "filter_nodes", filter_nodes
    skips = plugin.defines("pre_score") and plugin.pre_score(state, pod, cluster.nodes).is_skip
    if plugin.defines("score_nodes") and not skips:
        yield "score_nodes", score_nodes


def check_kept_columns(subject: Subject) -> None:
    """A kept column equals a newly computed one after each change: `depends_on` and the parts are true.

    The pods of the scenario are asked about in turn over one cache; nodes, pods and other objects change one by one.
    """
    cluster = subject.cluster()
    pods = (*subject.scenario.pending, *_twins(subject.scenario.pending))
    for what, came, left in _changes(subject):
        cluster.put(*came)
        cluster.remove(*left)
        kept = [subject.answers(cluster, pod) for pod in pods]
        for pod, said in zip(pods, kept, strict=True):
            cluster.framework.cache.evict()
            wrong = difference(said, subject.answers(cluster, pod))
            assert not wrong, (
                f"{subject.name}: after {what} a kept column for pod {pod.key} differs from a new one: {wrong}; "
                "depends_on, filter_part or score_part omits something that the rule reads"
            )
        for pod in pods:
            subject.answers(cluster, pod)  # so that the next change finds columns to bring up to date


def _twins(pods: tuple[Pod, ...]) -> list[Pod]:
    """Pods that share most of what one of the scenario's pods is, and differ in one thing."""
    first = pods[0]
    return [
        make_pod(f"{first.name}-twin", namespace=first.namespace, labels={**first.labels, "twin": "true"}),
        make_pod(first.name, namespace="twin"),
    ]


def _changes(subject: Subject) -> Iterator[tuple[str, Iterable[KubeObject], Iterable[KubeObject]]]:
    """What happens to the cluster, one thing at a time: in words, objects that come or change, objects that leave."""
    nodes, pods = subject.scenario.nodes, subject.scenario.pods
    first, last = nodes[0], nodes[-1]
    own, others = first.labels, {k: v for k, v in last.labels.items() if k != HOSTNAME}
    newcomer = make_pod("newcomer", labels={"app": "web"}, node=first.name, requests={"cpu": "1"}, host_ports=[5432])
    yield "nothing changed", (), ()
    yield "a pod was added", [newcomer], ()
    yield "a pod was deleted", (), pods[:1]
    yield "a node got other labels", [make_node(first.name, labels=others)], ()
    yield "a node got a taint", [make_node(first.name, taints=["new:NoSchedule"])], ()
    yield "a node was cordoned", [make_node(first.name, labels=own, unschedulable=True)], ()
    yield "a node shrank", [make_node(first.name, labels=own, status={"allocatable": {"cpu": "1", "pods": "2"}})], ()
    yield "a node was added", [make_node("newcomer", zone="a", labels={"disk": "ssd"})], ()
    yield "a node was deleted", (), [last]
    for known in subject.scenario.objects:
        yield f"{kind_of(known)} {known.key} was deleted", (), [known]


def check_moved_pods(subject: Subject) -> None:
    """In a what-if table a node is judged by the pods that it has there, as preemption and nominated pods need it.

    Each pod of the scenario is taken off its node in a what-if table, and the verdict on that node is held against the
    one in a cluster that never had the pod.
    """
    for gone in subject.scenario.pods:
        cluster = subject.cluster()
        without = subject.cluster(pods=[pod for pod in subject.scenario.pods if pod is not gone])
        for pod in subject.scenario.pending:
            moved = _verdict_without(cluster, pod, gone)
            if moved is None:
                continue
            expected = without.filter(pod)[gone.node_name]
            wrong = difference(({gone.node_name: expected}, {}), ({gone.node_name: moved}, {}))
            assert not wrong, (
                f"{subject.name}: pod {pod.key}: with pod {gone.key} moved away in a what-if table the verdict is not "
                f"that of a cluster without it: {wrong}; add_pods and remove_pods must update the state"
            )


def _verdict_without(cluster: FakeCluster, pod: Pod, gone: Pod) -> Status | None:
    """The verdict on the node of a pod that is taken off it; None where no filter runs."""
    framework = cluster.framework
    state = CycleState(cluster.cluster_state.pod_info(pod))
    before = framework.run_pre_filter(state, pod, cluster.nodes)
    position = cluster.nodes.position_of(gone.node_name)
    info = cluster.cluster_state.placed(gone.uid)
    if not before.status.is_success or before.node_names is not None or position is None or info is None:
        return None
    what_if = framework.what_if(state, pod, cluster.nodes.select(np.array([position], dtype=np.intp)))
    what_if.remove(np.array([0], dtype=np.intp), PodBatch([info]))
    return what_if.filter().statuses()[0]
