"""Remedies for placed pods in the way: those that hold a disk, a claim, or that affinity keeps apart."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Final

import msgspec
import numpy as np

from kubesched.api import HOSTNAME, Pod, PodAffinity, PodSpec, Selector, WeightedPodAffinityTerm, edited
from kubesched.controllers import is_unreachable, ordinal_of
from kubesched.documents import count, joined, plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import (
    ELSEWHERE,
    Case,
    Remedy,
    field_edit,
    is_equal,
    moved,
    of,
    off_node,
    removal,
    repair_words,
    spec_edit,
)
from kubesched.explanation.remedies.lacking_labels import lacking_label
from kubesched.explanation.snapshot_time import age_words, seconds_of
from kubesched.explanation.trial import Move
from kubesched.state import Identity, PodInfo, Term, disks_conflict

_MAX_DOMAINS: Final = 4
_MAX_NODES: Final = 3
_MAX_PODS: Final = 3
_MAX_LEAVING: Final = 50
_LATE: Final = 3600  # seconds after the end of its grace period, when a pod does not end by itself


# --- inter-pod affinity ---


def anti_affinity(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Move the pods out of a domain that anti-affinity keeps apart from this one; make the terms preferences."""
    blockers = _blockers(case)
    yield from islice(_moves(case, where, blockers), _MAX_DOMAINS)
    if case.info.terms.value.required_anti_affinity:
        yield _preferred(case, [info for places in blockers.values() for infos in places.values() for info in infos])


def _moves(case: Case, where: BoolVector, blockers: dict[str, dict[str, list[PodInfo]]]) -> Iterator[Remedy]:
    """The pods out of each domain of `where`, the domains with the fewest of them first."""
    groups: dict[frozenset[tuple[str, str]], int] = defaultdict(int)
    columns = [(key, case.nodes.codes(key)[where].tolist(), case.nodes.label(key).values.values) for key in blockers]
    for codes in zip(*(codes for _, codes, _ in columns), strict=True):
        values = [(key, known[code]) for (key, _, known), code in zip(columns, codes, strict=True)]
        domains = frozenset((key, value) for key, value in values if value is not None and value in blockers[key])
        if domains:
            groups[domains] += 1
    few = sorted(
        groups, key=lambda domains: (sum(len(blockers[key][value]) for key, value in domains), -groups[domains])
    )
    for domains in few:
        pods = list({info.pod.uid: info for key, value in sorted(domains) for info in blockers[key][value]}.values())
        if len(pods) <= _MAX_PODS:
            yield from moved(case, f"move {_away(pods, domains)}", "movePod", pods, domains)


def _away(pods: Sequence[PodInfo], domains: frozenset[tuple[str, str]]) -> str:
    """Pods and where they leave: one node, or a larger domain."""
    nodes = {info.pod.node_name for info in pods}
    if len(nodes) > 1 or {key for key, _ in domains} != {HOSTNAME}:
        others = " and ".join(f"another {_place(key, '').rstrip()} than {value}" for key, value in sorted(domains))
        return f"{joined(map(of, pods))} to {others}"
    whither = ELSEWHERE if len(pods) == 1 else "to other nodes"
    return f"{joined(info.pod.key for info in pods)} from {nodes.pop()} {whither}"


def _preferred(case: Case, blockers: list[PodInfo]) -> Remedy:
    """Required anti-affinity as a preference; between pods of one controller it costs less.

    The pods of its controller have the same template, so they change, too. Those of a StatefulSet do not where the
    pod is not the last one: it rolls the pods from the last to the first, each once the others run, and until then the
    old pods keep the new one away. Nor does the pod go when the StatefulSet gets smaller.
    """
    equal = {info.pod.key: info for info in blockers if is_equal(info.pod, case.pod)}
    text = "make the required pod anti-affinity preferred"
    owner = case.pod.metadata.controller
    is_numbered = owner is not None and owner.kind == "StatefulSet"
    is_first = is_numbered and any(ordinal_of(info.pod) > ordinal_of(case.pod) for info in equal.values())
    edits = () if is_first else tuple(Edit("Pod", key, _with_preference) for key in equal)
    change = spec_edit(_preferring) + Change(edits=edits)
    if is_first or not equal or len(equal) < len({info.pod.key for info in blockers}):
        return Remedy(text, "podAntiAffinity", False, change)
    text = f"{text}, or run {count(len(equal), 'replica')}"
    return Remedy(text, "podAntiAffinity", False, change, effort=Effort.LOOSEN)


def _with_preference(pod: Pod | None) -> Pod | None:
    """The pod with its terms as preferred ones; none where a fix beside this one moves it away."""
    return None if pod is None else edited(pod, spec=_preferring(pod.spec))


def _preferring(spec: PodSpec) -> PodSpec:
    """The spec with each required anti-affinity term as a preferred one."""
    affinity = spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return spec
    terms = affinity.pod_anti_affinity
    wishes = tuple(WeightedPodAffinityTerm(100, term) for term in terms.required or ())
    weaker = PodAffinity(preferred=(*(terms.preferred or ()), *wishes))
    return msgspec.structs.replace(spec, affinity=msgspec.structs.replace(affinity, pod_anti_affinity=weaker))


def _blockers(case: Case) -> dict[str, dict[str, list[PodInfo]]]:
    """Topology key -> value -> the placed pods there that required anti-affinity, theirs or the pod's, keeps apart."""
    snapshot, me, placed = case.evaluation.snapshot, case.info.identity.value, case.placed
    namespace_labels = snapshot.namespace_labels
    keys: dict[int, set[str]] = defaultdict(set)  # by index of the pod
    for term in case.info.terms.value.required_anti_affinity:

        def is_hated(them: Identity, term: Term = term) -> bool:
            return term.matches(them.namespace, them.labels, namespace_labels(them.namespace))

        for index in placed.matching(is_hated).tolist():
            keys[index].add(term.topology_key)
    my_labels = namespace_labels(me.namespace)
    hating: dict[int, set[str]] = {}  # topology keys by the part with the terms
    for index in placed.with_anti_affinity.tolist():
        part = placed.pods[index].terms
        if id(part) not in hating:
            terms = part.value.required_anti_affinity
            hating[id(part)] = {term.topology_key for term in terms if term.matches(me.namespace, me.labels, my_labels)}
        if hating[id(part)]:
            keys[index] |= hating[id(part)]
    blockers: dict[str, dict[str, list[PodInfo]]] = defaultdict(lambda: defaultdict(list))
    for index in sorted(keys):
        labels = case.nodes.node(int(placed.positions[index])).labels
        for key in keys[index]:
            if key in labels:
                blockers[key][labels[key]].append(placed.pods[index])
    return blockers


def _places(domains: Iterable[tuple[str, str]]) -> str:
    return " and ".join(_place(key, value) for key, value in sorted(domains))


def _place(key: str, value: str) -> str:
    return f"node {value}" if key == HOSTNAME else f"{key.rpartition('/')[2]} {value}"


def affinity(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Start a pod that the terms want, or drop them."""
    terms = case.info.terms.value.required_affinity
    if not terms:
        return
    node = next(case.at(where & _has_keys(case, terms)), None)
    labels = _labels_for([term.selector for term in terms])
    if node is not None and labels is not None:
        namespace = next((name for term in terms for name in sorted(term.namespaces)), case.pod.namespace)
        places = {(term.topology_key, node.labels[term.topology_key]) for term in terms}
        place = _places(places).replace("node ", "on node ") if HOSTNAME in dict(places) else f"in {_places(places)}"
        words = ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "any labels"
        text = f"start a pod with {words} in namespace {namespace}, for example {place}"
        name = f"{case.pod.name}-friend"
        friend = Pod(
            metadata=msgspec.structs.replace(
                case.pod.metadata, name=name, namespace=namespace, uid=name, labels=labels, owner_references=None
            ),
            spec=msgspec.structs.replace(type(case.pod.spec)(), node_name=node.name),
            status=msgspec.structs.replace(type(case.pod.status)(), phase="Running"),
        )
        yield Remedy(text, "startPod", True, Change(edits=(Edit("Pod", friend.key, lambda _: friend),)))
    for key in dict.fromkeys(term.topology_key for term in terms):
        yield from lacking_label(case, where, key)
    yield from _namespaces(case, terms)
    change = field_edit("affinity.pod_affinity.required")
    yield Remedy("drop the required pod affinity", "podAffinity", False, change)


def _namespaces(case: Case, terms: Sequence[Term]) -> Iterator[Remedy]:
    """The namespace of the pods that a term selects, where there are none in those that it looks into."""
    affinity = case.pod.spec.affinity
    written = (affinity.pod_affinity.required if affinity and affinity.pod_affinity else None) or ()
    for i, term in enumerate(terms[: len(written)]):
        pods = [info for info, _ in case.placed.selected(partial(_is_selected, term=term))]
        if not pods or any(_is_meant(case, info, term) for info in pods):
            continue
        other = pods[0]
        namespace = other.pod.namespace
        old = written[i].namespaces or ()
        if not old and written[i].namespace_selector is None:
            old = (case.pod.namespace,)  # what it looks into without the field
        namespaces = (*old, namespace)
        looking = msgspec.structs.replace(written[i], namespaces=namespaces)
        text = f"set namespaces: [{', '.join(namespaces)}] in the required pod affinity: {of(other)} has such labels"
        change = field_edit("affinity.pod_affinity.required", (*written[:i], looking, *written[i + 1 :]))
        yield Remedy(text, "podAffinity", True, change)


def _is_selected(them: Identity, term: Term) -> bool:
    return term.selector.matches(them.labels)


def _is_meant(case: Case, info: PodInfo, term: Term) -> bool:
    namespace = info.pod.namespace
    return term.matches(namespace, info.pod.labels, case.evaluation.snapshot.namespace_labels(namespace))


def _has_keys(case: Case, terms: Iterable[Term]) -> BoolVector:
    has = np.ones(len(case.nodes), dtype=np.bool_)
    for term in terms:
        has &= case.nodes.codes(term.topology_key) > 0
    return has


def _labels_for(selectors: Iterable[Selector]) -> dict[str, str] | None:
    """Labels that all selectors select; None where there are none that are easily found."""
    every = list(selectors)
    labels: dict[str, str] = {}
    for selector in every:
        for one in selector.requirements:
            if one.operator == "In" and not one.matches(labels):
                labels[one.key] = min(one.values)
            elif one.operator == "Exists":
                labels.setdefault(one.key, "true")
    return labels if all(selector.matches(labels) for selector in every) else None


# --- volumes that other pods use, pods that end ---


def volume_users(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Use a copy of a ReadWriteOncePod claim that pods have, or wait for them; move those with its disk on a node."""
    wanted = set(case.info.volumes.direct_claims)
    disks = case.info.volumes.disks
    with_volumes = (case.placed.pods[index] for index in case.placed.with_volumes.tolist())
    users = [
        info
        for info in with_volumes
        if info.pod.namespace == case.pod.namespace and wanted.intersection(info.volumes.direct_claims)
    ]
    if users:
        claims = sorted(wanted.intersection(name for info in users for name in info.volumes.direct_claims))
        has, them = plural(len(users), "has", "have"), plural(len(claims), "claim")
        text = f"mount a clone or snapshot of {them} {joined(claims)}"
        wait = f"or wait until {joined(map(of, users), _MAX_PODS)} {has} ended"
        yield Remedy(f"{text}, {wait}", "claimInUse", True, removal(users))
    for node in islice(case.at(where), _MAX_NODES) if disks else ():
        here = [info for info in node.pods if info.volumes.disks and disks_conflict(disks, info.volumes.disks)]
        if len(here) == 1:
            yield from off_node(case, here[0], "diskInUse")
        elif here:
            yield from moved(case, f"move {joined(map(of, here))} to other nodes", "diskInUse", here)


def volume_limits(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Detach volumes that no pod of a full node uses; move a pod with volumes off it."""
    attached = case.evaluation.snapshot.cluster_state.volumes.attached
    for node in islice(case.at(where), _MAX_NODES):
        if unused := attached.unused(node.name):
            belong = f"{plural(len(unused), 'belongs', 'belong')} to no pod"
            text = f"look at the attacher: {count(len(unused), 'VolumeAttachment')} on {node.name} {belong}"
            edits = tuple(Edit("VolumeAttachment", one.name, lambda _: None) for one in unused)
            yield Remedy(text, "csiDriver", True, Change(edits=edits))
        with_volumes = [info for info in node.pods if info.pod.spec.volumes and info.volumes.n_attachable]
        moves = (off_node(case, info, "volumeLimit", ", with its volumes") for info in with_volumes)
        yield from islice(chain.from_iterable(moves), _MAX_PODS)


def terminating(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Wait for pods that are being deleted, or find out why they do not end.

    On an unreachable node, no kubelet confirms that they have ended.
    """
    near, leaving, stuck = [], [], []
    overdue: dict[int, list[PodInfo]] = defaultdict(list)  # by position
    for index in case.placed.leaving.tolist():
        info, position = case.placed.pods[index], int(case.placed.positions[index])
        if is_unreachable(case.nodes.node(position)):
            stuck.append(info)
            continue
        if _overdue(case, info) > _LATE:
            overdue[position].append(info)
            continue
        leaving.append(info)
        if where[position]:
            near.append(info)
    for pods in (near, leaving) if len(near) < len(leaving) else (near,):
        if 0 < len(pods) <= _MAX_LEAVING:
            text = f"wait until {joined(map(of, pods), _MAX_PODS)} {plural(len(pods), 'has', 'have')} ended"
            yield Remedy(text, "terminating", True, removal(pods), ladder="terminating")
    for pods in islice((pods for position, pods in overdue.items() if where[position]), _MAX_NODES):
        yield _not_ending(case, pods)
    if 0 < len(stuck) <= _MAX_LEAVING:
        silent = repair_words(dict.fromkeys(info.pod.node_name for info in stuck))
        text = f"{silent}, so that {joined(map(of, stuck), _MAX_PODS)}"
        yield Remedy(f"{text} {plural(len(stuck), 'ends', 'end')}", "nodeCondition", True, removal(stuck))


def _overdue(case: Case, info: PodInfo) -> float:
    """For how many seconds a pod that is being deleted should be gone; 0 where its time is not valid.

    Rule: Kubernetes: metadata.deletionTimestamp is the end of the grace period.
    """
    end = seconds_of(info.pod.metadata.deletion_timestamp or "")
    return case.now - end if end else 0.0


def _not_ending(case: Case, pods: Sequence[PodInfo]) -> Remedy:
    """Pods on one node that should be gone, with what keeps them as objects."""
    age = age_words(min(_overdue(case, info) for info in pods))
    kept = list(dict.fromkeys(name for info in pods for name in _finalizers(info.pod)))
    by = f"; {plural(len(kept), 'finalizer', 'finalizers')} {joined(kept)}" if kept else ""
    n = len(pods)
    text = (
        f"find out why {joined(map(of, pods), _MAX_PODS)} {plural(n, 'does', 'do')} not end: the grace period was over"
    )
    return Remedy(f"{text} {age} ago{by}", "terminating", True, removal(pods))


def _finalizers(pod: Pod) -> list[str]:
    names = (pod.document.get("metadata") or {}).get("finalizers") or []
    return [name for name in names if isinstance(name, str)]


def nominated(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Clear the nominations of pending pods that keep room on a node."""
    for position in dict.fromkeys(position for position, _ in case.nominated if where[position]):
        there = [info for at, info in case.nominated if at == position]
        pods, effort = [info.pod for info in there], Effort.OUTRANK if case.higher(there) else None
        name = case.nodes.name(position)
        text = f"clear the nomination of {joined(pod.key for pod in pods)}, for which room is kept on {name}"
        cleared = [edited(pod, status=msgspec.structs.replace(pod.status, nominated_node_name="")) for pod in pods]
        edits = tuple(Edit("Pod", pod.key, partial(_as, pod)) for pod in cleared)
        moves = tuple(map(Move, cleared))
        yield Remedy(text, "nomination", effort is None, Change(edits=edits), moves=moves, effort=effort)


def _as(pod: Pod, _: Pod | None) -> Pod:
    return pod
