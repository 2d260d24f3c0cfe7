"""What a failed attempt becomes: the decision after a late rejection, and what users read of it.

Rule: kube-scheduler v1.36 handleBindingCycleError and handleSchedulingFailure.
"""

from typing import Final

from msgspec.structs import replace

from kubesched.api import Pod
from kubesched.framework import Action, Decision, Diagnosis, Logger, Outcome, PatchPodStatus, RecordEvent, Status

_NOTE_BYTES: Final = 1024


def rejected_later(decision: Decision, status: Status) -> Decision:
    """Reserve, Permit or the binding cycle rejected the pod: the node counts as the only one there was."""
    decision = replace(decision, outcome=Outcome(status, status.message), nominated_node_name="")
    if not status.is_rejected:
        return decision
    diagnosis = Diagnosis(1)
    diagnosis.absent = status
    diagnosis.add_plugin(status)
    return replace(
        decision,
        outcome=Outcome(status, diagnosis.message),
        unschedulable_plugins=frozenset(diagnosis.unschedulable_plugins),
        pending_plugins=frozenset(diagnosis.pending_plugins),
    )


def unwritten(decision: Decision, error: str) -> Decision:
    """PostFilter made room, and the API server refused to write it."""
    return replace(decision, outcome=Outcome(decision.outcome.status, f"{decision.unwritten_message} {error}"))


def failure_actions(decision: Decision, pod: Pod) -> tuple[Action, Action]:
    """The event and the condition of a pod that was not placed; the event's note is cut to 1024 bytes.

    Args:
        pod: as it is now: the same failure of a newer version is a new event, not one more of a series.
    """
    message = decision.outcome.located
    condition = ("PodScheduled", "False", decision.reason, message)
    return (
        RecordEvent("FailedScheduling", "Warning", "Scheduling", pod, _note(message)),
        PatchPodStatus(pod, condition=condition, nominated_node_name=decision.nominated_node_name),
    )


def _note(message: str) -> str:
    """An event's note is cut to 1024 bytes."""
    encoded = message.encode()
    if len(encoded) <= _NOTE_BYTES:
        return message
    return encoded[: _NOTE_BYTES - 4].decode(errors="ignore") + " ..."


class MissingReasons:
    """Logs once which plugin rejects without a reason: the message of the pod says nothing about it."""

    def __init__(self) -> None:
        self._named: set[str] = set()  # plugins that the log has named

    def look_at(self, decision: Decision, logger: Logger) -> None:
        """Look for a rejection without a reason among those of a pod."""
        for status in (decision.outcome.status, *(status for status, _ in decision.rejections)):
            name = status.plugin
            if status.is_rejected and name and not any(status.reasons) and name not in self._named:
                self._named.add(name)
                logger.warning(
                    "plugin %s rejects without a reason, for example pod %s; give one that users can search for: "
                    'Status.unschedulable("node(s) had no license")',
                    name,
                    decision.pod.key,
                )
