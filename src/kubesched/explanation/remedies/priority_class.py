"""The remedy of a higher priority: with it, the pod evicts others."""

from collections.abc import Iterator
from functools import partial
from typing import Final

import msgspec
import numpy as np

from kubesched.admission import BUILT_IN_CLASSES
from kubesched.api import PodSpec, PriorityClass
from kubesched.documents import joined, plural
from kubesched.engine import BoolVector
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, daemon_set, loss_words, moves_of, of, removal, spec_edit
from kubesched.state import NodeInfo, PodInfo

_FOR_DAEMONS: Final = "system-node-critical"
_SYSTEM: Final = "kube-system"
_MAX_NODES: Final = 20
_MAX_VICTIMS: Final = 3
_NEVER: Final = "Never"


def priority(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """The lowest priority class with which the pod evicts few others; nothing where it evicts some already.

    Rule: Kubernetes: pods of the priorities of system-node-critical are for kube-system, unless a quota allows them.
    """
    done = case.evaluation.preemption
    if (done is not None and done.node_name) or case.pod.spec.preemption_policy == _NEVER:
        return
    positions = np.flatnonzero(where)
    nearest = positions[np.argsort(case.shortage[positions], kind="stable")][:_MAX_NODES].tolist()
    effort = Effort.ADAPT if daemon_set(case.pod) else Effort.OUTRANK
    for name, value in _classes(case):
        found = [victims for position in nearest if (victims := _victims(case, case.nodes[position], value))]
        if found and len(victims := min(found, key=len)) <= _MAX_VICTIMS:
            broken = case.evaluation.snapshot.cluster_state.disruption_budgets.broken_by(victims)
            which = f", which breaks {plural(len(broken), 'budget')} {joined(broken)}" if broken else ""
            text = f"set priorityClassName: {name}, so that it evicts {joined(map(of, victims))}{which}"
            text += loss_words(victims)
            change = spec_edit(partial(_with_class, name=name, value=value)) + removal(victims)
            moves = moves_of(victims)
            yield Remedy(text, "priorityClass", effort is Effort.ADAPT, change, moves=moves, effort=effort)
            return


def _classes(case: Case) -> list[tuple[str, int]]:
    """The classes above the pod's priority that it may have, lowest first."""
    classes = [one for one in case.objects("PriorityClass") if isinstance(one, PriorityClass)]
    known = {one.name: one.value for one in classes if one.preemption_policy != _NEVER}
    if case.pod.namespace == _SYSTEM and daemon_set(case.pod):
        known[_FOR_DAEMONS] = BUILT_IN_CLASSES[_FOR_DAEMONS]
    else:
        known = {name: value for name, value in known.items() if name not in BUILT_IN_CLASSES}
    return sorted(((name, value) for name, value in known.items() if value > case.pod.priority), key=lambda one: one[1])


def _victims(case: Case, node: NodeInfo, value: int) -> list[PodInfo]:
    """The pods that leave the node for the pod with a priority, the least important ones; none if they are too few.

    Rule: kube-scheduler v1.36 DefaultPreemption: all pods of lower priority go, and the more important ones come back
    as long as the pod fits.
    """
    wanted = {**case.info.requests.value.wanted, "pods": 1}
    lower = [info for info in node.pods if info.pod.priority < value]
    held = {info.pod.uid: {**info.requests.value.held, "pods": 1} for info in node.pods}
    stay = [info for info in node.pods if info.pod.priority >= value]

    def fits(pods: list[PodInfo]) -> bool:
        taken = {name: sum(held[info.pod.uid].get(name, 0) for info in pods) for name in wanted}
        return all(taken[name] + amount <= node.allocatable.get(name, 0) for name, amount in wanted.items())

    if not fits(stay):
        return []
    for info in sorted(lower, key=lambda info: (-info.pod.priority, info.pod.status.start_time or "")):
        if fits([*stay, info]):
            stay.append(info)
    kept = {info.pod.uid for info in stay}
    return [info for info in lower if info.pod.uid not in kept]


def _with_class(spec: PodSpec, name: str, value: int) -> PodSpec:
    return msgspec.structs.replace(spec, priority_class_name=name, priority=value)
