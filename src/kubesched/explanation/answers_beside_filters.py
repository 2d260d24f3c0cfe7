"""What plugins answer before and after the filters: PreEnqueue, PostFilter, Reserve and Permit."""

import re
from typing import Final

import msgspec

from kubesched.api import Pod
from kubesched.framework import CycleState, Framework, Status, WaitingPod
from kubesched.plugins import ClaimPlan
from kubesched.scheduler import PlacedPod
from kubesched.session import why_never_written

PRE_ENQUEUE: Final = "preEnqueue"
_PRE_BIND: Final = "preBind"
_OWN_NAME: Final = re.compile(r'^pod "[^"]*": ')


class HookAnswer(msgspec.Struct, frozen=True):
    """What a plugin said in a hook that does not look at all nodes, if it is not SUCCESS.

    Attributes:
        plugin: its name.
        point: the extension point, as configurations write it, such as `permit`.
        status: the answer; of a Permit plugin that asks to wait, SUCCESS.
        node: the node that it was asked about; empty where it was asked about none.
        seconds: how long a Permit plugin lets the pod wait at most; 0 for no wait.
    """

    plugin: str
    point: str
    status: Status
    node: str = ""
    seconds: float = 0.0

    @property
    def is_rejection(self) -> bool:
        """Whether the pod is turned down."""
        return not self.status.is_success

    @property
    def is_never_written(self) -> bool:
        """Whether kube-scheduler chooses the node, and can never write the claims of the pod for it."""
        return self.point == _PRE_BIND

    @property
    def text(self) -> str:
        """The answer in words."""
        if self.is_rejection:
            return self.status.located or "rejected without a reason"
        return f"waits up to {self.seconds:g} s"


def take(framework: Framework, state: CycleState, node_name: str) -> list[HookAnswer]:
    """Ask Reserve and Permit about the chosen node, and give back what they took.

    Args:
        state: what the plugins remember since PreFilter.
    Returns: the rejection or fault that ends the attempt; or the plugins that let the pod wait.
    """
    waiting: dict[str, WaitingPod] = {}
    placed = PlacedPod(framework, framework.handle.cluster_state, state, node_name, waiting)
    try:
        status = placed.take(0.0)
        if not status.is_success:
            return [HookAnswer(status.plugin, placed.point, status, node_name)]
        return [
            HookAnswer(plugin, "permit", Status.SUCCESS, node_name, seconds)
            for one in waiting.values()
            for plugin, (_, seconds) in one.deadlines.items()
        ]
    finally:
        placed.undo()


def never_written(plan: ClaimPlan, pod: Pod, node_name: str) -> list[HookAnswer]:
    """That kube-scheduler can never write the claims of a pod for a node; nothing where it can."""
    why = why_never_written(plan, pod)
    return [HookAnswer("DynamicResources", _PRE_BIND, Status.error(why), node_name)] if why else []


def gated_words(answer: HookAnswer) -> str:
    """Which plugin keeps the pod out of the queue, and why; without its name, so that equal pods have equal words."""
    return f"gated by plugin {answer.plugin}: {_OWN_NAME.sub('', answer.text)}"


def turned_down_words(answer: HookAnswer) -> str:
    """Which plugin rejects the pod on the chosen node, and why."""
    if answer.is_never_written:
        return f"kube-scheduler can never write its claims on {answer.node} (SchedulerError): {answer.text}"
    return f"plugin {answer.plugin} turns the pod down on {answer.node} ({answer.point}): {answer.text}"
