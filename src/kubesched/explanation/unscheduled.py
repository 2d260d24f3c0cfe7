"""Pods that have ended, which kube-scheduler does not schedule again."""

from collections.abc import Iterable

import msgspec

from kubesched.api import Pod


class Ended(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How a pod has ended, and who replaces it.

    Attributes:
        phase: `Succeeded` or `Failed`.
        reason: why, such as `Evicted`; empty where the status does not say it.
        controller: `Kind name` of its controller; empty for none.
        others: `namespace/name` of the pods of this controller that have not ended.
    """

    phase: str
    reason: str = ""
    controller: str = ""
    others: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The phase and the reason: `phase Failed, reason Evicted`."""
        return f"phase {self.phase}, reason {self.reason}" if self.reason else f"phase {self.phase}"

    @property
    def successor(self) -> str:
        """Whether its controller has other pods, in one sentence."""
        if not self.controller:
            return "It has no controller that would create another pod for it."
        if not self.others:
            return f"{self.controller}, its controller, has no other pod here that has not ended."
        n = len(self.others)
        named = self.others[0] if n == 1 else f"{n} others, such as {self.others[0]}"
        return f"{self.controller}, its controller, has {'another pod, ' if n == 1 else ''}{named}."


def ended_of(pod: Pod, pods: Iterable[Pod]) -> Ended | None:
    """How a pod has ended; None where it has not.

    Args:
        pods: all pods, in which the others of its controller are looked for.
    """
    if not pod.is_finished:
        return None
    controller = pod.metadata.controller
    if controller is None:
        return Ended(pod.status.phase, pod.status.reason)
    others = sorted(
        other.key
        for other in pods
        if other.key != pod.key
        and other.namespace == pod.namespace
        and not other.is_finished
        and (above := other.metadata.controller) is not None
        and (above.kind, above.name) == (controller.kind, controller.name)
    )
    return Ended(pod.status.phase, pod.status.reason, f"{controller.kind} {controller.name}", tuple(others))
