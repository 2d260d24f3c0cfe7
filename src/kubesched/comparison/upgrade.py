"""What two versions of Kubernetes change for a cluster: verdicts on waiting pods, texts, fields, plugins and rules.

Each waiting pod is tried with both versions on the snapshot as it is, while no other pod takes room. So what differs
comes from the versions alone, and not from where other pods go.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import IGNORED_FIELDS, KubeObject, Pod, PodOwners, ignored_fields
from kubesched.comparison.candidates import ReadCandidate
from kubesched.comparison.concerned import n_concerned
from kubesched.config import PluginEntry, default_plugins
from kubesched.framework import Diagnosis, Status
from kubesched.release import KEPS, Release, changed_rules
from kubesched.session import Attempt, Session

_COUNT: Final = re.compile(r"^\d+ ")
_DRY_RUN: Final = re.compile(r"^preemption: 0/\d+ nodes are available: ")
_OF_ONE_POD: Final = re.compile(r" on node .*, preempting \d+ victims$", re.DOTALL)
_OF_GATES: Final = {
    "DynamicResources": ("DynamicResourceAllocation", "claims of pods"),
    "NodeDeclaredFeatures": ("NodeDeclaredFeatures", "needed features"),
}
"""Default plugin -> the feature gate that it belongs to, and what it concerns."""


class NodeVerdict(msgspec.Struct, frozen=True, rename="camel"):
    """What a version makes of a pod on a node.

    Attributes:
        plugin: the one that rejects it; empty where it fits.
        code: in upstream's spelling; `Success` where it fits.
    """

    plugin: str
    code: str


class VerdictChange(msgspec.Struct, frozen=True, rename="camel"):
    """Nodes of which the two versions do not make the same, for some pods of a workload.

    Attributes:
        workload: `Kind namespace/name`.
        pods: `namespace/name` of each.
        nodes: the names of the nodes.
        a, b: the verdicts.
    """

    workload: str
    pods: tuple[str, ...]
    nodes: tuple[str, ...]
    a: NodeVerdict
    b: NodeVerdict


class MessageChange(msgspec.Struct, frozen=True, rename="camel"):
    """The text of FailedScheduling and of the PodScheduled condition for pods that fit nowhere with both versions.

    Attributes:
        pods: `namespace/name` of each.
        a, b: the whole texts.
        only_a, only_b: the phrases that an alert can search for and that only one of the texts has.
    """

    pods: tuple[str, ...]
    a: str
    b: str
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


class VersionDifference(msgspec.Struct, frozen=True, rename="camel"):
    """A field, a default plugin or a rule that is not the same in both versions.

    Attributes:
        kind: `field`, `plugin` or `rule`.
        subject: the field, with the kind of the objects that have it, or the plugin.
        a, b: what each version does.
        source: the number of the proposal or pull request; empty where that is not known.
        object_kind: the kind of the objects that it concerns; empty for none.
        n_objects: how many of the cluster these are.
    """

    kind: str
    subject: str
    a: str
    b: str
    source: str = ""
    object_kind: str = ""
    n_objects: int = 0


class Upgrade(msgspec.Struct, frozen=True):
    """What differs because of two versions of Kubernetes.

    Attributes:
        a, b: the versions, such as `v1.33`; with their gates where it is one version.
        rejected: of each side, why its version does not start with the configuration; empty for none. Then neither
            side runs.
        verdicts: where waiting pods fit with one version only, or are rejected by another plugin or with another code.
        messages: the texts that change.
        differences: what else the versions do otherwise; what concerns objects of the cluster comes first.
    """

    a: str
    b: str
    rejected: tuple[str, str] = ("", "")
    verdicts: tuple[VerdictChange, ...] = ()
    messages: tuple[MessageChange, ...] = ()
    differences: tuple[VersionDifference, ...] = ()


def upgrade(objects: Sequence[KubeObject], a: Release, b: Release, rejected: tuple[str, str]) -> Upgrade:
    """What differs without regard to any pod; `rejected` as in an Upgrade."""
    found = (*_fields(objects, a, b), *_plugins(objects, a, b), *_rules(objects, a, b))
    found = tuple(sorted(found, key=lambda one: not one.n_objects))
    names = [str(one) if a.bare == b.bare else one.version for one in (a, b)]
    return Upgrade(names[0], names[1], rejected, differences=found)


def with_verdicts(notice: Upgrade, objects: Sequence[KubeObject], sides: Sequence[ReadCandidate]) -> Upgrade:
    """The same with what both versions make of each waiting pod."""
    tried_a, tried_b = (dict(_tried(objects, side)) for side in sides)
    both = [(key, one, tried_b[key]) for key, one in tried_a.items() if key in tried_b]
    owners = PodOwners(objects)
    workloads = {one.key: str(owners.workload_of(one)) for one in objects if isinstance(one, Pod)}
    return msgspec.structs.replace(notice, verdicts=tuple(_verdicts(both, workloads)), messages=tuple(_messages(both)))


# --- pods ---


class _Tried(NamedTuple):
    """What a version makes of a pod.

    Attributes:
        which: (nodes,) int, which of `verdicts` each node has.
        message: the text of FailedScheduling; empty for a pod that fits.
        phrases: of the message.
    """

    nodes: Sequence[str]
    which: npt.NDArray[np.intp]
    verdicts: tuple[NodeVerdict, ...]
    message: str
    phrases: tuple[str, ...]


_Both = tuple[str, _Tried, _Tried]


def _tried(objects: Sequence[KubeObject], side: ReadCandidate) -> Iterator[tuple[str, _Tried]]:
    with Session(objects, side.set_up()) as session:
        for pod in session.waiting():
            framework = session.frameworks.get(pod.scheduler_name)
            if framework is None or pod.is_terminating:
                continue
            gate = framework.run_pre_enqueue(pod)
            if gate.is_success:
                yield pod.key, _of_attempt(session.attempt(pod))
            else:
                names = list(session.cluster_state.columns.row_of)
                yield pod.key, _on_all(names, gate)


def _on_all(names: Sequence[str], status: Status) -> _Tried:
    """The same on all nodes, as of a pod that a plugin does not let into the queue."""
    verdict = NodeVerdict(status.plugin, status.code.value)
    return _Tried(names, np.zeros(len(names), dtype=np.intp), (verdict,), status.message, status.reasons)


def _of_attempt(tried: Attempt) -> _Tried:
    diagnosis, columns = tried.diagnosis, tried.snapshot.nodes.columns
    names = list(columns.row_of)
    statuses, index = [diagnosis.absent], np.zeros(columns.n_rows, dtype=np.intp)
    if diagnosis.result is not None:
        rows = diagnosis.statuses()
        index[diagnosis.result.nodes.all_rows] = rows.index + 1
        statuses += rows.distinct
    verdicts = tuple(NodeVerdict(one.plugin, one.code.value) for one in statuses)
    index = index[[columns.row_of[name] for name in names]]
    if tried.fits or tried.failure is not None:
        text = "" if tried.failure is None else tried.failure.message
        return _Tried(names, index, verdicts, text, (text,) if text else ())
    reasons = () if tried.post_filter is None else tried.post_filter.reasons
    message = " ".join((diagnosis.message, ", ".join(reasons))).rstrip()
    return _Tried(names, index, verdicts, message, tuple(_phrases(diagnosis, reasons)))


def _phrases(diagnosis: Diagnosis, post_filter: Iterable[str]) -> Iterator[str]:
    """The parts of a message, without the numbers and the node that differ from pod to pod."""
    counted = [status for status, _ in diagnosis.counts()]
    yield from dict.fromkeys(reason for status in (*counted, diagnosis.absent) for reason in status.reasons)
    for text in post_filter:
        head = _DRY_RUN.match(text)
        if head is None:
            yield _OF_ONE_POD.sub(" on node", text)
        else:
            parts = text.removeprefix(head[0]).rstrip(".").split(", ")
            yield from dict.fromkeys(_COUNT.sub("", part) for part in parts)


def _verdicts(both: Iterable[_Both], workloads: Mapping[str, str]) -> Iterator[VerdictChange]:
    groups: dict[tuple[str, NodeVerdict, NodeVerdict, tuple[str, ...]], list[str]] = {}
    for pod, a, b in both:
        for pair in np.unique(np.stack((a.which, b.which)), axis=1).T.tolist():
            verdict_a, verdict_b = a.verdicts[pair[0]], b.verdicts[pair[1]]
            if verdict_a != verdict_b:
                there = np.flatnonzero((a.which == pair[0]) & (b.which == pair[1])).tolist()
                key = workloads[pod], verdict_a, verdict_b, tuple(a.nodes[i] for i in there)
                groups.setdefault(key, []).append(pod)
    for (workload, verdict_a, verdict_b, nodes), pods in groups.items():
        yield VerdictChange(workload, tuple(pods), nodes, verdict_a, verdict_b)


def _messages(both: Iterable[_Both]) -> Iterator[MessageChange]:
    groups: dict[tuple[str, str], list[_Both]] = {}
    for pod, a, b in both:
        if a.message and b.message and a.message != b.message:
            groups.setdefault((a.message, b.message), []).append((pod, a, b))
    for (message_a, message_b), same in groups.items():
        _, a, b = same[0]
        only_a = tuple(one for one in a.phrases if one not in b.phrases)
        only_b = tuple(one for one in b.phrases if one not in a.phrases)
        yield MessageChange(tuple(pod for pod, *_ in same), message_a, message_b, only_a, only_b)


# --- what no pod is tried for ---


def _fields(objects: Sequence[KubeObject], a: Release, b: Release) -> Iterator[VersionDifference]:
    """The fields that some objects have and a version does not read; a field may need several gates."""
    unread = [
        {(field.kind.__name__, field.spelled): n for field, n in ignored_fields(release, objects).items()}
        for release in (a, b)
    ]
    for kind, name in dict.fromkeys((*unread[0], *unread[1])):
        words_a, words_b = ("does not read it" if (kind, name) in one else "reads it" for one in unread)
        gates = (one.gate for one in IGNORED_FIELDS if (one.kind.__name__, one.spelled) == (kind, name))
        source = ", ".join(KEPS[gate] for gate in gates)
        n = max(one.get((kind, name), 0) for one in unread)
        yield VersionDifference("field", f"{kind} {name}", words_a, words_b, source, kind, n)


def _plugins(objects: Sequence[KubeObject], a: Release, b: Release) -> Iterator[VersionDifference]:
    """The default plugins that one version has, that have another weight, or that come before others."""
    entries = [default_plugins(release).multi_point.enabled for release in (a, b)]
    by_name = [{entry.name: entry for entry in some} for some in entries]
    shared = [[entry.name for entry in some if all(entry.name in one for one in by_name)] for some in entries]
    for name in dict.fromkeys(entry.name for some in reversed(entries) for entry in some):
        words_a, words_b = (_words(one.get(name)) for one in by_name)
        if words_a != words_b:
            gate, concerns = _OF_GATES.get(name, ("", ""))
            of_objects = n_concerned(objects, (concerns,))[concerns] if concerns else ("", 0)
            yield VersionDifference("plugin", name, words_a, words_b, KEPS.get(gate, ""), *of_objects)
    for i, (name_a, name_b) in enumerate(zip(*shared, strict=True)):
        if name_a != name_b and shared[0].index(name_b) > i:
            yield VersionDifference("plugin", name_b, f"after {name_a}", f"before {name_a}")
            break


def _words(entry: PluginEntry | None) -> str:
    if entry is None:
        return "not a default plugin"
    return f"default plugin, weight {entry.weight}" if entry.weight else "default plugin"


def _rules(objects: Sequence[KubeObject], a: Release, b: Release) -> Iterator[VersionDifference]:
    changed = list(changed_rules(a, b))
    concerned = n_concerned(objects, (rule.concerns for rule, _ in changed))
    for rule, source in changed:
        words = rule.variant(a).text, rule.variant(b).text
        yield VersionDifference("rule", rule.subject, *words, source, *concerned[rule.concerns])
