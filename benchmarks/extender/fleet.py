"""A plugin as a platform team has one, over columns: `kubesched extender --plugin benchmarks/extender/fleet.py:Fleet`.

It reads labels, taints and allocatable amounts, so it needs nothing but the nodes, whole or watched.
"""

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from kubesched import (
    CPU,
    MEMORY,
    BoolVector,
    CycleState,
    DependsOn,
    IntVector,
    Nodes,
    Plugin,
    PluginArgs,
    Pod,
    Status,
    Taint,
    Toleration,
)

ZONE = "topology.kubernetes.io/zone"
KEEPS_AWAY = ("NoSchedule", "NoExecute")
LARGEST = 2**40  # bytes of memory that earn a full score


class Fleet(Plugin):
    """Nodes in a zone, without taints that keep the pod away, with enough cpu; the more memory the better."""

    depends_on = DependsOn.NODE
    reasons = (
        Status.unresolvable("node(s) had no zone"),
        Status.unresolvable("node(s) had a taint that the pod did not tolerate"),
        Status.unresolvable("node(s) had too little allocatable cpu"),
    )

    def __init__(self, args: PluginArgs) -> None:
        super().__init__(args)
        self._judged: dict[tuple[Toleration, ...], BoolVector] = {}

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> npt.NDArray[np.int8]:
        verdicts = (nodes.allocatable[CPU] < _wanted_cpu(state)).astype(np.int8) * 3
        verdicts[self._keeps_away(pod, nodes)[nodes.taint_ids]] = 2
        verdicts[nodes.codes(ZONE) == 0] = 1
        return verdicts

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return (pod.tolerations, _wanted_cpu(state))

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        return np.minimum(nodes.allocatable[MEMORY] * 100 // LARGEST, 100)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return None

    def _keeps_away(self, pod: Pod, nodes: Nodes) -> BoolVector:
        """For each distinct list of taints, of which a fleet has few, whether it keeps the pod away."""
        lists = nodes.columns.taint_lists
        key = (pod.tolerations, lists.log.generation)
        judged = self._judged.get(key)
        if judged is None:
            judged = np.array([any(_keeps_away(taint, pod) for taint in taints or ()) for taints in lists.values])
            self._judged = {key: judged}  # the last pod's are most likely to come again
        return judged


def _wanted_cpu(state: CycleState) -> int:
    return state.pod.requests.value.wanted.get("cpu", 0)


def _keeps_away(taint: Taint, pod: Pod) -> bool:
    if taint.effect not in KEEPS_AWAY:
        return False
    return not any(
        toleration.key in ("", taint.key)
        and toleration.effect in ("", taint.effect)
        and (toleration.operator == "Exists" or toleration.value == taint.value)
        for toleration in pod.tolerations
    )
