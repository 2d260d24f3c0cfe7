"""SchedulingGates: a pod with scheduling gates waits outside the active queue until somebody removes them.

Rule: kube-scheduler v1.36 SchedulingGates.
"""

from kubesched.api import ActionType, Pod
from kubesched.framework import EventRegistration, Plugin, Status
from kubesched.plugins.shared_hints import by_own


class SchedulingGates(Plugin):
    """Keep gated pods out of the active queue."""

    def pre_enqueue(self, pod: Pod) -> Status:
        """Names the gates, in order."""
        gates = pod.spec.scheduling_gates
        if not gates:
            return Status.SUCCESS
        return Status.unresolvable(f"waiting for scheduling gates: [{' '.join(gate.name for gate in gates)}]")

    def events_to_register(self) -> list[EventRegistration]:
        """The pod's own last gate goes."""
        return [by_own(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)]
