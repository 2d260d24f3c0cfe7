"""Checks `equal_by`: pods that are equal in what the class names get the same answers."""

from collections.abc import Hashable, Iterator
from operator import attrgetter
from typing import Final

import msgspec

from kubesched.api import Pod, decode_object
from kubesched.framework import CycleState
from kubesched.testing.fake_cluster import FakeCluster
from kubesched.testing.subject import Subject, difference

_SECTIONS: Final = (
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "containers"),
    ("spec", "priority"),
    ("spec", "tolerations"),
    ("spec", "nodeSelector"),
    ("spec", "affinity"),
    ("spec", "topologySpreadConstraints"),
    ("spec", "volumes"),
)


def check_equal_by(subject: Subject) -> None:
    """Pods that are equal in `equal_by` get the same answers, or are both skipped where only that is promised.

    Each pod of the scenario is compared with copies that have one field of another pod of the scenario.
    """
    cluster = subject.cluster()
    for pod in subject.scenario.pending:
        key = _key(subject, cluster, pod)
        for what, other in _varied(pod, subject.scenario.pending):
            if _key(subject, cluster, other) != key:
                continue
            wrong = _difference(subject, cluster, pod, other)
            assert not wrong, (
                f"{subject.name}: pod {pod.key} and its copy with {what} are equal in equal_by = "
                f"{subject.plugin_class.equal_by}, but {wrong}; equal_by omits something that the plugin reads of a pod"
            )


def _key(subject: Subject, cluster: FakeCluster, pod: Pod) -> list[Hashable]:
    """What the class names of a pod."""
    info = cluster.cluster_state.pod_info(pod)
    key: list[Hashable] = []
    for field in subject.plugin_class.equal_by or ():
        try:
            key.append(attrgetter(field)(info))
            hash(key[-1])
        except (AttributeError, TypeError) as error:
            raise AssertionError(
                f"{subject.name}: equal_by has {field!r}, which pod {pod.key} cannot be compared by: {error}; name a "
                "field that each pod has and that can be a key of a dict, such as identity for namespace and labels"
            ) from None
    return key


def _varied(pod: Pod, others: tuple[Pod, ...]) -> Iterator[tuple[str, Pod]]:
    """Copies of a pod with one field of another pod, and what that is."""
    document = pod.document
    for section, field in _SECTIONS:
        seen = {msgspec.json.encode(document[section].get(field))}
        for other in others:
            value = other.document[section].get(field)
            written = msgspec.json.encode(value)
            if written in seen:
                continue
            seen.add(written)
            changed = {**document[section], field: value}
            if value is None:
                del changed[field]
            metadata = changed if section == "metadata" else document["metadata"]
            made = {**document, section: changed, "metadata": {**metadata, "uid": f"uid-copy-{pod.name}"}}
            copy = decode_object("Pod", msgspec.json.encode(made))
            assert isinstance(copy, Pod)
            yield f"the {field} of {other.key}", copy


def _difference(subject: Subject, cluster: FakeCluster, pod: Pod, other: Pod) -> str:
    """How the answers for two pods differ; empty for nothing."""
    plugin = subject.plugin_in(cluster)
    if not plugin.depends_on.is_of_rows or plugin.defines("reserve"):
        skips = _skips(subject, cluster, pod)
        return "" if skips == _skips(subject, cluster, other) else "the plugin skips only one of them"
    cluster.framework.cache.evict()
    answers = subject.answers(cluster, pod)
    cluster.framework.cache.evict()
    wrong = difference(answers, subject.answers(cluster, other))
    return wrong and f"their answers differ: {wrong}"


def _skips(subject: Subject, cluster: FakeCluster, pod: Pod) -> tuple[bool, bool]:
    """Whether the plugin skips Filter, and Score."""
    plugin, state = subject.plugin_in(cluster), CycleState(cluster.cluster_state.pod_info(pod))
    before = cluster.framework.run_pre_filter(state, pod, cluster.nodes)
    skips_filter = plugin.name in state.skip_filter
    if not plugin.defines("pre_score") or not before.status.is_success:
        return skips_filter, False
    feasible = cluster.framework.run_filter(state, pod, cluster.nodes, is_whole=False).feasible
    return skips_filter, bool(feasible.n) and plugin.pre_score(state, pod, feasible).is_skip
