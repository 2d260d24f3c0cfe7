"""Remedies for taints and cordons. A cordon and the taint that it puts on the node are one cause."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Node, Pod, PodSpec, Taint, Toleration, edited, is_extended_resource
from kubesched.controllers import CORDON, UNREACHABLE, like_on_node, may_run_daemon, uncordon, unpinned, zones_out
from kubesched.documents import count, plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, daemons, node_edit, node_words, repair_words, spec_edit
from kubesched.explanation.remedies.device_plugins import respelt_names
from kubesched.explanation.remedies.left_taints import left_behind, stale_for
from kubesched.explanation.remedies.new_node import added
from kubesched.plugins import near_miss, taint_words, untolerated_taints

_MAX_LISTS: Final = 8  # distinct taint lists that are looked at, those of most nodes first
_CONDITIONS: Final = {
    "node.kubernetes.io/not-ready": "make {} ready",
    UNREACHABLE: "",  # see repair_words
    "node.kubernetes.io/memory-pressure": "free memory on {}",
    "node.kubernetes.io/disk-pressure": "free disk space on {}",
    "node.kubernetes.io/pid-pressure": "end processes on {}",
    "node.kubernetes.io/network-unavailable": "set up the network of {}",
    "node.kubernetes.io/out-of-service": "put {} back into service",
    "node.cloudprovider.kubernetes.io/shutdown": "start {} again",
}
"""Taint that a controller puts on a node -> what ends the condition."""
_STARTUP: Final = {
    "node.cloudprovider.kubernetes.io/uninitialized": "let the cloud provider initialise {}",
    "node.cilium.io/agent-not-ready": "let the Cilium agent start on {}",
    "ebs.csi.aws.com/agent-not-ready": "let the node plugin of ebs.csi.aws.com start on {}",
    "efs.csi.aws.com/agent-not-ready": "let the node plugin of efs.csi.aws.com start on {}",
    "karpenter.sh/unregistered": "let Karpenter register {}",
}
"""Taint that a node has until an agent of the cluster's own is done with it -> what has it go."""
_ENDED_BY: Final = _CONDITIONS | _STARTUP
_DELETION: Final = (
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
)
"""Taints of nodes that are being deleted, or the beginning of their keys; an autoscaler may leave them behind."""
_END: Final = ("cloud.google.com/impending-node-termination", "aws-node-termination-handler/")
"""Taints of nodes that end within minutes: nothing about them helps."""
_OF_FAULTS: Final = frozenset({"broken", "defective", "ecc", "faulty", "nvlink", "unhealthy", "xid"})
"""Words of the keys of taints by which people and agents fence a broken machine off."""
_OF_WORK: Final = frozenset({"drain", "draining", "maintenance", "upgrade", "upgrading"})
"""Words of the keys of taints by which people and agents keep devices free while they work on them."""
_OF_OWNERS: Final = frozenset({"dedicated", "owner", "reserved", "reservation", "team", "tenant"})
"""Words of the keys of taints that reserve nodes; they are there on purpose."""
_WORD: Final = re.compile("[a-z]+")
_SPOT: Final = ("spot", "preemptible")


def cordoned(case: Case) -> BoolVector:
    """(nodes,) bool: nodes whose cordon keeps the pod away."""
    blocked = case.rejected("NodeUnschedulable")
    for taints, positions in _by_taints(case, case.rejected("TaintToleration")):
        if any(taint.key == CORDON.key for taint in taints):
            blocked[positions] = True
    return blocked


def tainted(case: Case) -> BoolVector:
    """(nodes,) bool: nodes that some other taint keeps the pod away from."""
    blocked = np.zeros(len(case.nodes), dtype=np.bool_)
    for taints, positions in _by_taints(case, case.rejected("TaintToleration")):
        blocked[positions] = any(taint.key != CORDON.key for taint in taints)
    return blocked


def is_cordon_alone(node: Node, pod: Pod) -> bool:
    """Whether the taint of a cordon is the only one that keeps the pod away from the node."""
    return {taint.key for taint in untolerated_taints(node.taints, pod.tolerations)} == {CORDON.key}


def cordons(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Uncordon the nodes."""
    names = [node.name for node in case.at(case.may_open(where))]
    if not names:
        return
    change = Change(edits=tuple(node_edit(name, uncordon) for name in names))
    yield Remedy(f"uncordon {node_words(names)}", "uncordon", True, change)


def taints(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """For each distinct list of taints: tolerate them, or take them off; end a condition that made one."""
    for every, positions in _by_taints(case, case.may_open(where))[:_MAX_LISTS]:
        blocking = tuple(taint for taint in every if taint.key != CORDON.key)
        names = [case.nodes.name(position) for position in positions.tolist()]
        off = _untainted(names, blocking)
        conditions = [taint for taint in blocking if taint.key in _ENDED_BY]
        if conditions:
            if len(conditions) == len(blocking):
                yield from _in_order_again(case, blocking, names)
            continue
        words = " and ".join(map(taint_words, blocking))
        if any(taint.key.startswith(_END) for taint in blocking):
            continue
        if any(taint.key.startswith(_DELETION) for taint in blocking):
            marked = plural(len(names), "the node is", "the nodes are")
            why, effort = f", if it was left behind: {marked} marked for deletion", Effort.LAST_RESORT
            if age := stale_for(case, blocking, names):
                why, effort = f": it is {age} old, so the scale-down that set it has failed", Effort.OPEN
            yield Remedy(f"remove taint {words} from {node_words(names)}{why}", "taint", True, off, effort=effort)
            continue
        if any(map(_is_of_fault, blocking)):
            if all(map(_is_of_fault, blocking)):
                text = f"repair {node_words(names)}, which taint {words} fences off, then remove the taint"
                yield Remedy(text, "nodeCondition", True, off)
            continue
        near = [near_miss(taint, case.pod.tolerations) for taint in blocking]
        text = " and ".join(f"{taint_words(taint)}{miss}" for taint, miss in zip(blocking, near, strict=True))
        tolerating = spec_edit(partial(_tolerating, more=tuple(map(toleration, blocking))))
        effort = Effort.ADAPT if all(near) else _effort(case, blocking, positions)
        is_left = effort is Effort.RESERVED and not any(_has_word(taint, _OF_OWNERS) for taint in blocking)
        left = left_behind(case, blocking, names) if is_left else ""
        vanish = " (spot nodes can be reclaimed at any time)" if effort is Effort.OTHER_POOL else ""
        keeps = effort is Effort.ADAPT
        steps = tuple(f"tolerate {taint_words(taint)}" for taint in blocking)
        yield Remedy(f"tolerate {text}{vanish}", "toleration", keeps, tolerating, effort=effort, steps=steps)
        text = f"remove taint {words} from {node_words(names)}{f' ({left}: left behind?)' if left else ''}"
        removal = max(effort, Effort.OPEN_TO_ALL)  # after every change of the pod alone: a guess is not an intent
        steps = tuple(f"remove {taint_words(taint)}" for taint in blocking)
        yield Remedy(text, "taint", False, off, effort=removal, steps=steps)


def _is_of_fault(taint: Taint) -> bool:
    """Whether the taint fences off a broken machine."""
    return _has_word(taint, _OF_FAULTS)


def marks_fault(taints: Iterable[Taint]) -> bool:
    """Whether taints fence devices off that are out of order or worked on, or evict the pods that have them."""
    taints = tuple(taints)
    return any(taint.effect == "NoExecute" or _is_of_fault(taint) for taint in taints) or marks_work(taints)


def marks_work(taints: Iterable[Taint]) -> bool:
    """Whether taints keep devices free while somebody works on them."""
    return any(_has_word(taint, _OF_WORK) for taint in taints)


def _has_word(taint: Taint, words: frozenset[str]) -> bool:
    return not words.isdisjoint(_WORD.findall(taint.key.lower()))


def _in_order_again(case: Case, conditions: tuple[Taint, ...], names: Sequence[str]) -> Iterator[Remedy]:
    """What ends the conditions that made the taints; no command repairs a zone that is out."""
    silent = any(taint.key == UNREACHABLE for taint in conditions)
    out = zones_out(node.node for node in case.nodes) if silent else {}
    zones = {name: case.evaluation.snapshot.node_info(name).node.zone for name in names}
    within = [name for name in names if zones[name] not in out]
    if within:
        words = node_words(within)
        what = dict.fromkeys(_ENDED_BY[taint.key].format(words) or repair_words(within) for taint in conditions)
        effort = Effort.OPEN if all(taint.key in _STARTUP for taint in conditions) else None
        yield Remedy(" and ".join(what), "nodeCondition", True, _cured(case, conditions, within), effort=effort)
    for zone, n in out.items():
        if gone := [name for name in names if zones[name] == zone]:
            text = f"zone {zone} is out ({n} of {count(n, 'node')}): wait until it is back"
            change = _cured(case, conditions, gone)
            yield Remedy(text, "nodeCondition", True, change, effort=Effort.OUTAGE)


def _cured(case: Case, conditions: tuple[Taint, ...], names: Sequence[str]) -> Change:
    """The nodes without the taints, and the pods that DaemonSets create there then."""
    come = (edit for name in names for edit in _missing_daemons(case, name, conditions))
    return _untainted(names, conditions) + Change(edits=tuple(come))


def _untainted(names: Sequence[str], gone: tuple[Taint, ...]) -> Change:
    return Change(edits=tuple(node_edit(name, partial(_without, gone=gone)) for name in names))


def to_tolerate(case: Case, nodes: BoolVector) -> tuple[Taint, ...]:
    """The fewest taints that keep the pod from some nodes; none where no toleration is meant for them, or none does."""
    passing, lists = (CORDON.key, *_ENDED_BY, *_DELETION, *_END), case.nodes.columns.taint_lists.values
    every = [
        tuple(untolerated_taints(lists[number] or (), case.pod.tolerations))
        for number in np.unique(case.nodes.taint_ids[nodes]).tolist()
    ]
    meant = [taints for taints in every if not any(taint.key.startswith(passing) for taint in taints)]
    return min(meant, key=len, default=())


def toleration_of(case: Case, blocking: tuple[Taint, ...]) -> Remedy:
    """The toleration of the taints of nodes that the pod chooses, or whose devices it asks for."""
    tolerating = spec_edit(partial(_tolerating, more=tuple(map(toleration, blocking))))
    text = " and ".join(f"{taint_words(taint)}{near_miss(taint, case.pod.tolerations)}" for taint in blocking)
    steps = tuple(f"tolerate {taint_words(taint)}" for taint in blocking)
    return Remedy(f"tolerate {text}", "toleration", True, tolerating, effort=Effort.ADAPT, steps=steps)


def _missing_daemons(case: Case, name: str, gone: tuple[Taint, ...]) -> Iterator[Edit]:
    """The pods that DaemonSets create on a node once taints are gone, as those that they have on other nodes."""
    info = case.evaluation.snapshot.node_info(name)
    there = {owner.uid for one in daemons(info) if (owner := one.pod.metadata.controller) is not None}
    node = _without(info.node, gone)
    for uid, like in case.placed.daemon_sets.items():
        if uid not in there and may_run_daemon(unpinned(like.pod), node):
            yield added(like_on_node(like.pod, name))


def _effort(case: Case, blocking: tuple[Taint, ...], positions: np.ndarray) -> Effort:
    """What it means to tolerate the taints: all nodes of the kind that it chooses have them, or they are others'."""
    if case.chosen is not None and _all_have(case, case.chosen, {taint.key for taint in blocking}):
        return Effort.ADAPT
    if _devices(case, positions):
        return Effort.LAST_RESORT
    is_spot = all(any(word in f"{taint.key}={taint.value}".lower() for word in _SPOT) for taint in blocking)
    return Effort.OTHER_POOL if is_spot else Effort.RESERVED


def _all_have(case: Case, nodes: BoolVector, keys: set[str]) -> bool:
    """Whether each of some nodes has a taint with each of the keys."""
    lists = case.nodes.columns.taint_lists.values
    numbers = np.unique(case.nodes.taint_ids[nodes]).tolist()
    return all(keys <= {taint.key for taint in lists[number] or ()} for number in numbers)


def _devices(case: Case, positions: np.ndarray) -> bool:
    """Whether the nodes have devices that the pod does not ask for, and that nodes without taints do not have."""
    resources = case.nodes.columns.resources
    free = np.flatnonzero(~tainted(case))
    wanted = {*case.info.requests.value.wanted, *respelt_names(case).values()}
    for name in (name for name in resources.values if name and is_extended_resource(name)):
        offered = case.nodes.allocatable[resources.find(name)]
        if name not in wanted and offered[positions].all() and not offered[free].any():
            return True
    return False


def _by_taints(case: Case, where: BoolVector) -> list[tuple[tuple[Taint, ...], np.ndarray]]:
    """The distinct lists of taints that keep the pod away, with the positions of their nodes, most nodes first."""
    ids = case.nodes.taint_ids
    lists = case.nodes.columns.taint_lists.values
    counts = Counter(ids[where].tolist())
    lists_of = []
    for number, _ in counts.most_common():
        blocking = tuple(untolerated_taints(lists[number] or (), case.pod.tolerations))
        if blocking:
            lists_of.append((blocking, np.flatnonzero(where & (ids == number))))
    return lists_of


def toleration(taint: Taint) -> Toleration:
    """The toleration of one taint."""
    if taint.value:
        return Toleration(taint.key, "Equal", taint.value, taint.effect)
    return Toleration(taint.key, "Exists", "", taint.effect)


def _tolerating(spec: PodSpec, more: tuple[Toleration, ...]) -> PodSpec:
    return msgspec.structs.replace(spec, tolerations=(*(spec.tolerations or ()), *more))


def _without(node: Node, gone: tuple[Taint, ...]) -> Node:
    kept = tuple(taint for taint in node.taints if taint not in gone)
    return edited(node, spec=msgspec.structs.replace(node.spec, taints=kept or None))
