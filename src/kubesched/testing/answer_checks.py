"""Checks of the values that a plugin returns, in whichever form its rules are written."""

import warnings
from collections.abc import Iterator

import msgspec
import numpy as np

from kubesched.api import Pod
from kubesched.framework import HOOKS, CycleState, Status, Wait, alike_rejections
from kubesched.state import ClusterState
from kubesched.testing.builders import make_pod
from kubesched.testing.fake_cluster import FakeCluster
from kubesched.testing.subject import Answers, Subject, difference


def check_same_answer_twice(subject: Subject) -> None:
    """The same instance answers a second time as it did the first; a new one in an equal cluster answers so, too.

    Between two answers the cluster may have been another one: `drain` and `fit` try changes, and take them back.
    """
    cluster, other = subject.cluster(), subject.cluster()
    answers: dict[str, Answers] = {}
    for pod in subject.scenario.pending:
        first = answers[pod.key] = subject.answers(cluster, pod)
        wrong = difference(first, subject.answers(cluster, pod))
        assert not wrong, f"{subject.name}: two calls for pod {pod.key} return different answers: {wrong}"
        wrong = difference(first, subject.answers(other, pod))
        assert not wrong, f"{subject.name}: two instances return different answers for pod {pod.key}: {wrong}"
    nodes = subject.scenario.nodes
    with cluster.cluster_state.fork():
        cluster.put(make_pod("newcomer", labels={"app": "web"}, node=nodes[0].name, requests={"cpu": "1"}))
        cluster.remove(nodes[-1])
        for pod in subject.scenario.pending:
            subject.answers(cluster, pod)
    for pod in subject.scenario.pending:
        wrong = difference(answers[pod.key], subject.answers(cluster, pod))
        assert not wrong, (
            f"{subject.name}: a pod came, a node left, and both were taken back; then the answer for pod {pod.key} is "
            f"another one: {wrong}; what the plugin keeps must follow the changes of the cluster"
        )


def check_any_node_order(subject: Subject) -> None:
    """The verdict on a node does not depend on its place in the list."""
    cluster = subject.cluster()
    reversed_cluster = subject.cluster(nodes=subject.scenario.nodes[::-1])
    for pod in subject.scenario.pending:
        wrong = difference(subject.answers(cluster, pod), subject.answers(reversed_cluster, pod))
        assert not wrong, f"{subject.name}: the order of the nodes changes the answer for pod {pod.key}: {wrong}"


def check_score_range(subject: Subject) -> None:
    """Scores are within 0 and 100, after normalize_score where the class has one, whichever nodes are feasible."""
    clusters = [subject.cluster(), *(subject.cluster(nodes=[node]) for node in subject.scenario.nodes)]
    for cluster in clusters:
        for pod in subject.scenario.pending:
            _, scores = subject.answers(cluster, pod)
            for name, score in scores.items():
                assert 0 <= score <= 100, f"{subject.name}: pod {pod.key}: node {name} has the score {score}"


def check_snapshot_untouched(subject: Subject) -> None:
    """Filtering and scoring change neither the cluster nor the pod."""
    cluster = subject.cluster()
    before = _contents(cluster.cluster_state)
    for pod in subject.scenario.pending:
        pod_before = msgspec.json.encode(pod)
        subject.answers(cluster, pod)
        assert msgspec.json.encode(pod) == pod_before, f"{subject.name}: it changes pod {pod.key}"
        after = _contents(cluster.cluster_state)
        changed = [what for what in before if after.get(what) != before[what]]
        assert not changed, f"{subject.name}: a call for pod {pod.key} changes {changed[0]} of the snapshot"


def check_reasons(subject: Subject) -> None:
    """Every rejection has a reason: users read it, and search for it. Warns about a filter that never rejects."""
    for status in subject.plugin_class.reasons:
        _check_reason(subject, status, "its `reasons`")
    cluster = subject.cluster()
    has_rejected = not any(map(subject.plugin_class.defines, (*HOOKS["preFilter"], *HOOKS["filter"])))
    for pod in subject.scenario.pending:
        for name, status in subject.answers(cluster, pod)[0].items():
            has_rejected = has_rejected or status.is_rejected
            _check_reason(subject, status, f"pod {pod.key}, node {name}")
        for hook, answer in _other_answers(subject, cluster, pod):
            if not isinstance(answer, Wait):
                _check_reason(subject, answer, f"pod {pod.key}, {hook}")
        if subject.plugin_class.defines("explain_rejection"):
            _check_details(subject, cluster, pod)
        if subject.plugin_class.defines("explain_data"):
            state = CycleState(cluster.cluster_state.pod_info(pod))
            notes: list[object] = list(subject.plugin_in(cluster).explain_data(state, pod))
            _check_texts(subject, notes, f"pod {pod.key}: explain_data")
    if not has_rejected:
        also = ", and explain_rejection was not called" if subject.plugin_class.defines("explain_rejection") else ""
        warnings.warn(
            f"{subject.name}: its filter accepts every pod on every node of the scenario, so the checks have not seen "
            f"a rejection{also}; in a test, give check_plugin a scenario with a pod or node that it rejects, as in "
            "docs/guides/test-a-plugin.md",
            stacklevel=3,
        )


def _check_details(subject: Subject, cluster: FakeCluster, pod: Pod) -> None:
    """Check what explain_rejection returns for each node that filter rejects."""
    plugin, nodes, state = subject.plugin_in(cluster), cluster.nodes, CycleState(cluster.cluster_state.pod_info(pod))
    before = cluster.framework.run_pre_filter(state, pod, nodes)
    if not before.status.is_success or plugin.name in state.skip_filter:
        return
    statuses = cluster.framework.run_filter(state, pod, nodes, is_whole=True).statuses()
    alike = alike_rejections(plugin, state, pod, nodes)
    explained: dict[tuple[int, tuple[str, ...]], tuple[str, list[object]]] = {}
    for position in np.flatnonzero(statuses.index).tolist():
        name, status = nodes.name(position), statuses[position]
        details: list[object] = list(plugin.explain_rejection(state, pod, nodes[position], status))
        _check_texts(subject, details, f"pod {pod.key}, node {name}: explain_rejection")
        first, expected = explained.setdefault((int(alike[position]), status.reasons), (name, details))
        assert details == expected, (
            f"{subject.name}: pod {pod.key}: explain_alike returns one number for the nodes {first} and {name}, and "
            f"explain_rejection returns {expected!r} and {details!r}"
        )


def _check_texts(subject: Subject, texts: list[object], where: str) -> None:
    said = all(isinstance(text, str) and text for text in texts)
    assert said, f"{subject.name}: {where} must return strings; found {texts!r}"


def _other_answers(subject: Subject, cluster: FakeCluster, pod: Pod) -> Iterator[tuple[str, object]]:
    """What pre_enqueue returns for a pod, and permit where it does not build on reserve."""
    plugin = subject.plugin_in(cluster)
    if plugin.defines("pre_enqueue"):
        yield "pre_enqueue", plugin.pre_enqueue(pod)
    if plugin.defines("permit") and not plugin.defines("reserve"):
        fitting = [name for name, status in cluster.filter(pod).items() if status.is_success]
        for node_name in fitting[:1]:
            yield "permit", plugin.permit(CycleState(cluster.cluster_state.pod_info(pod)), pod, node_name)


def _check_reason(subject: Subject, status: object, where: str) -> None:
    assert isinstance(status, Status), f"{subject.name}: {where}: found {status!r}, which is not a Status"
    if status.is_rejected:
        reasons: tuple[object, ...] = status.reasons
        said = bool(reasons) and all(isinstance(reason, str) and bool(reason) for reason in reasons)
        assert said, f"{subject.name}: {where}: {status.code.value} without a reason; found {status.reasons!r}"


def _contents(cluster_state: ClusterState) -> dict[str, object]:
    """Everything that a snapshot shows, by what it is called in messages."""
    columns = cluster_state.columns
    rows = sorted(columns.row_of.items())
    contents: dict[str, object] = {
        f"the {kind}s": msgspec.json.encode([*cluster_state.objects.list(kind)]) for kind in cluster_state.objects.kinds
    }
    for name in ("allocatable", "requested", "non_zero_requested"):
        matrix = getattr(columns, name)
        contents[name] = {node: [amount for amount in matrix[:, row].tolist() if amount] for node, row in rows}
    for name in ("allowed_pods", "n_pods", "unschedulable", "taint_ids"):
        vector = getattr(columns, name)
        contents[name] = {node: vector[row].item() for node, row in rows}
    contents["the pods of a node"] = {node: [info.pod.uid for info in columns.pods[row]] for node, row in rows}
    return contents
