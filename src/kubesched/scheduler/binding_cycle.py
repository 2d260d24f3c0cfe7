"""From the chosen node to the bound pod: Permit's wait, PreBind, Bind, PostBind.

Rule: kube-scheduler v1.36 bindingCycle. A coroutine that awaits only what the driver offers. Reserve and assume are
undone if it returns anything but SUCCESS.
"""

import inspect
from asyncio import CancelledError, current_task
from collections.abc import Callable, Coroutine
from typing import Any

from kubesched.api import Pod
from kubesched.framework import (
    HOOK_FAULTS,
    Code,
    CycleState,
    Decision,
    Framework,
    Hook,
    PatchPodStatus,
    Plugin,
    Status,
    checked,
    fault,
    fault_text,
)
from kubesched.scheduler.placed_pod import PlacedPod
from kubesched.scheduler.pod_in_pre_bind import PodInPreBind
from kubesched.scheduler.suspension import PermitRequest, perform, suspend

BindingCycle = Coroutine[Any, Any, Decision]
"""Runs a decision to its end; yields requests (see `suspension`) and gives the decision with its final outcome.

Closing it, or throwing anything into it that is not a hook's fault, takes the pod off its node and puts it back into
the queue.
"""


async def run_binding_cycle(placed: PlacedPod, on_permitted: Callable[[str], object]) -> Status:
    """Bind a pod that was taken.

    First yields None, before anything else happens. The caller sends it there before it passes it on: closing a
    coroutine that was never started would not reach its `finally`.

    Args:
        on_permitted: called with the pod's uid once Permit has let it go on; later failures do not count as
            unschedulable.
    Returns: SUCCESS, or why the pod is not bound, with everything given back.
    """
    is_bound = False
    try:
        await suspend(None)
        framework, state, pod, node_name = placed.framework, placed.state, placed.pod, placed.node_name
        is_waiting, skipped = placed.is_waiting, set[str]()
        if framework.pre_binds or is_waiting:
            status = _pre_flight(framework, state, pod, node_name, skipped)
            if not status.is_success:
                return status
            takes_long = is_waiting or len(skipped) < len(framework.pre_binds)
            if takes_long and framework.profile.release.has("NominatedNodeNameForExpectation"):
                await perform(PatchPodStatus(pod, nominated_node_name=node_name))
        if is_waiting:
            permitted: Status = await suspend(PermitRequest(pod.uid))
            if not permitted.is_success:
                return permitted
        placed.waits_no_more()
        on_permitted(pod.uid)
        if len(skipped) < len(framework.pre_binds):
            status = await _pre_bind(framework, state, pod, node_name, skipped, placed.pre_bind)
            if not status.is_success:
                return status
        status = await _bind(framework, state, pod, node_name)
        if not status.is_success and not placed.is_confirmed:
            return status
        is_bound = placed.is_written = True
        for plugin in framework.profile.points["postBind"]:
            await _post_bind(framework, plugin, state, pod, node_name)
        return Status.SUCCESS
    except BaseException:
        is_bound = placed.is_written
        raise
    finally:
        if not is_bound:
            placed.undo()


async def run_pre_bind(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> Status:
    """Ask the PreBind plugins alone about a pod that is assumed on a node.

    Returns: SUCCESS, or the fault of the first that fails.
    """
    skipped: set[str] = set()
    status = _pre_flight(framework, state, pod, node_name, skipped)
    if not status.is_success:
        return status
    return await _pre_bind(framework, state, pod, node_name, skipped, PodInPreBind())


async def _pre_bind(
    framework: Framework, state: CycleState, pod: Pod, node_name: str, skipped: set[str], pre_bind: PodInPreBind
) -> Status:
    for hook in framework.pre_binds:
        if hook.plugin not in skipped:
            status = await pre_bind.run(hook.what, _call(hook, state, pod, node_name))
            if not status.is_success:
                return status.by(hook.plugin)
    return Status.SUCCESS


def _pre_flight(framework: Framework, state: CycleState, pod: Pod, node_name: str, skipped: set[str]) -> Status:
    """Which PreBind plugins have something to do; the others are noted in `skipped`."""
    for hook in framework.pre_flights:
        status = hook.ask(state, pod, node_name, may_skip=True)
        if status.is_skip:
            skipped.add(hook.plugin)
        elif status.code is Code.ERROR:
            return status.by(hook.plugin)
        elif not status.is_success:
            supported = "It is supposed to return Success, Skip, or Error status"
            text = f'PreBindPreFlight {hook.plugin} returned "{status.code.value}", which is unsupported. {supported}'
            return Status.error(text).by(hook.plugin)
    return Status.SUCCESS


async def _bind(framework: Framework, state: CycleState, pod: Pod, node_name: str) -> Status:
    extenders = framework.handle.extenders
    extended = None if extenders is None else await extenders.bind(state.pod, node_name)
    if extended is not None:
        return extended
    status = Status.SKIP
    for hook in framework.binds:
        status = await _call(hook, state, pod, node_name, may_skip=True)
        if not status.is_skip:
            break
    return Status.error(status.message) if status.is_skip else status


async def _post_bind(framework: Framework, plugin: Plugin, state: CycleState, pod: Pod, node_name: str) -> None:
    """The pod is bound: a fault in PostBind is worth a message, no more."""
    try:
        answer = plugin.post_bind(state, pod, node_name)
        if inspect.isawaitable(answer):
            await answer
    except HOOK_FAULTS as error:
        if is_cancelled(error):
            raise
        framework.handle.logger.warning("PostBind plugin %s: %s", plugin.name, fault_text(error).located)


async def _call(hook: Hook, state: CycleState, pod: Pod, node_name: str, *, may_skip: bool = False) -> Status:
    """Call a hook that may be a coroutine; faults and nonsense become Error statuses."""
    try:
        answer = hook.call(state, pod, node_name)
    except HOOK_FAULTS as error:
        return fault(hook.what, error).by(hook.plugin)
    if not isinstance(answer, Status) and inspect.isawaitable(answer):
        try:
            answer = await answer
        except HOOK_FAULTS as error:
            if is_cancelled(error):
                raise
            return fault(hook.what, error).by(hook.plugin)
    status = checked(hook.what, answer, may_skip=may_skip)
    return status if isinstance(answer, Status) else status.by(hook.plugin)


def is_cancelled(error: BaseException) -> bool:
    """Whether a fault of an awaited hook is the driver's wish that it ends, and not the plugin's own."""
    if not isinstance(error, CancelledError):
        return False
    try:
        task = current_task()
    except RuntimeError:  # no event loop: only a driver can have thrown it in
        return True
    return task is None or task.cancelling() > 0
