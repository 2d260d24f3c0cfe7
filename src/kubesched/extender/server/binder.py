"""bind: the pod is assumed and reserved at once, bound by an API write, and given back when that fails.

A call names the pod and nothing else, so PreFilter runs again, then Reserve, Permit, PreBind, Bind and PostBind. Up to
Permit nothing waits: two calls cannot take the same device. From then on calls run side by side. A binding outlives
its call: once the Binding is on its way to the API server nobody can take it back, so a call that runs out of time
answers with an error, and the binding ends by itself. A second call for the same pod joins the binding that is under
way. A bound pod stays assumed until the watch shows it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
import numpy as np

from kubesched.api import Pod
from kubesched.errors import ClusterError, ExtenderError, StateError
from kubesched.extender.server.answer import Answer, reason_text
from kubesched.extender.wire import BindingArgs, binding_answer, parse_binding_args, utf8_text
from kubesched.framework import (
    Action,
    ActionDone,
    Bind,
    CycleState,
    Framework,
    PatchPodStatus,
    Status,
    in_one_line,
)
from kubesched.scheduler import (
    PermitRequest,
    Request,
    WaitingPod,
    WaitRequest,
    drive,
    perform,
    run_binding_cycle,
    wait,
)
from kubesched.state import ClusterState, PodInfo

__all__ = ["Binder"]

UNCONFIRMED_SECONDS: Final = 10 * 60.0
"""After this long, a pod that was bound but never seen as such is no longer counted on its node."""

_LOOK_SECONDS: Final = 0.02  # how often a wait looks at its condition
_FINISH_SECONDS: Final = 10.0  # for bindings that are written
_GOODBYE_SECONDS: Final = 1.0  # for a binding that is broken off to give back what it took


class _Binding(msgspec.Struct):
    """One pod on its way.

    Attributes:
        is_written: whether the Binding may have reached the API server.
        n_calls: how many calls wait for its outcome.
    """

    node_name: str
    task: asyncio.Task[Status] | None = None
    is_written: bool = False
    n_calls: int = 0


class Binder:
    """Binds pods on behalf of a kube-scheduler.

    Attributes:
        waiting_pods: pods held back in Permit, by uid.
    """

    def __init__(
        self,
        frameworks: Mapping[str, Framework],
        framework_of: Callable[[str], Framework],
        state: ClusterState,
        *,
        find_pod: Callable[[str, str], Awaitable[Pod | None]],
        create_binding: Callable[[Bind], Awaitable[str]],
        on_assumed: Callable[[str], None] | None = None,
    ) -> None:
        """Bind for these profiles.

        Args:
            find_pod: namespace, name -> the pod as the API server has it now; asked when the watch has not shown it. A
                ClusterError is the call's answer.
            create_binding: writes the Binding; gives what went wrong, empty for success; idempotent.
            on_assumed: called with the uid of each pod that is counted on its node from now on.
        """
        self.waiting_pods: dict[str, WaitingPod] = {}
        self._framework_of = framework_of
        self._state = state
        self._find_pod = find_pod
        self._create_binding = create_binding
        self._on_assumed = on_assumed
        self._under_way: dict[str, _Binding] = {}
        self._assumed_at: dict[str, tuple[float, Pod]] = {}
        for framework in frameworks.values():
            framework.handle.perform = perform
            framework.handle.wait = wait
            framework.handle.waiting_pods = lambda: self.waiting_pods
        self._clock = next(iter(frameworks.values())).handle.clock

    async def bind(self, body: bytes, seconds: float) -> Answer:
        """Answer a bind request within some seconds; a failure is an answer whose Error says it."""
        answer = Answer(n_offered=1)
        end = self._clock.monotonic() + seconds
        try:
            args = parse_binding_args(body)
            answer.pod = f"{args.pod_namespace}/{args.pod_name}"
            async with asyncio.timeout(seconds):
                status = await self._bind(args)
            if self._clock.monotonic() > end:
                raise TimeoutError
            answer.error, answer.plugin = _error_of(status), status.plugin
        except TimeoutError:
            answer.is_late = True
            answer.error = (
                f"binding {answer.pod}: no outcome after {seconds:.2g}s; if the API server has taken the Binding, the "
                "pod is bound all the same"
            )
        except (ClusterError, ExtenderError) as error:
            answer.error = utf8_text(str(error))
        answer.n_kept = int(not answer.error)
        answer.pieces = [binding_answer(answer.error)]
        return answer

    async def _bind(self, args: BindingArgs) -> Status:
        """Bind, or join the binding that is under way."""
        pod = await self._current(args)
        if pod.node_name:
            if pod.node_name == args.node:
                return Status.SUCCESS
            return Status.error(f"pod {pod.key} is bound to node {pod.node_name} already, not to {args.node}")
        binding = self._under_way.get(pod.uid)
        if binding is None:
            binding = self._under_way[pod.uid] = _Binding(args.node)
            binding.task = asyncio.create_task(self._carry_out(pod, binding), name=f"bind {pod.key}")
            binding.task.add_done_callback(lambda _: self._under_way.pop(pod.uid))
        elif binding.node_name != args.node:
            return Status.error(f"pod {pod.key} is being bound to node {binding.node_name}, not to {args.node}")
        return await self._outcome(binding, pod)

    @staticmethod
    async def _outcome(binding: _Binding, pod: Pod) -> Status:
        """Wait for a binding; the last call that gives up waiting ends it, unless it may be written."""
        task = binding.task
        assert task is not None
        binding.n_calls += 1
        try:
            await asyncio.wait((task,))
        finally:
            binding.n_calls -= 1
            if not binding.n_calls and not binding.is_written:
                task.cancel()
        if task.cancelled():
            return Status.error(f"binding pod {pod.key} was broken off: an earlier call ran out of time")
        return task.result()

    async def _current(self, args: BindingArgs) -> Pod:
        """The pod that the call means.

        Raises:
            ExtenderError: it is not there any more.
        """
        name = f"{args.pod_namespace}/{args.pod_name}"
        known = self._state.objects.get("Pod", name)
        if not isinstance(known, Pod) or known.uid != args.pod_uid:
            known = await self._find_pod(args.pod_namespace, args.pod_name)
        if known is None:
            raise ExtenderError(f"pod {name} does not exist any more")
        if known.uid != args.pod_uid:
            raise ExtenderError(
                f"pod {name} was deleted and created again: asked for {args.pod_uid}, found {known.uid}"
            )
        placed = self._state.placed(known.uid)
        return known if placed is None or known.uid in self._under_way else placed.pod

    # --- one binding ---

    async def _carry_out(self, pod: Pod, binding: _Binding) -> Status:
        try:
            framework = self._framework_of(pod.spec.scheduler_name)
            state = CycleState(self._state.pod_info(pod))
            status = self._pre_filter(framework, state, binding.node_name)
            if not status.is_success:
                return status
            placed = self._state.assume(state.pod, binding.node_name)
            if self._on_assumed is not None:
                self._on_assumed(pod.uid)
            return await self._reserve_and_bind(framework, state, placed, binding)
        except StateError as error:  # the watch has shown it on a node in this very moment
            return Status.error(str(error))
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin's: Ctrl-C does not come as an exception here
            return Status.error(f"a plugin raised {in_one_line(error)}")

    def _pre_filter(self, framework: Framework, state: CycleState, node_name: str) -> Status:
        row = self._state.columns.row_of.get(node_name)
        if row is None:
            return Status.error(f"node {node_name} is not in the extender's cache")
        nodes = self._state.snapshot().nodes
        position = nodes.position_of(node_name)
        assert position is not None
        table = nodes.select(np.array([position], dtype=np.intp))
        before = framework.run_pre_filter(state, state.pod.pod, table)
        if before.status.is_success and before.node_names is not None and node_name not in before.node_names:
            by = before.narrowed_by
            return Status.unresolvable(f"node {node_name} is none of those that {' and '.join(by)} chose").by(by[-1])
        return before.status

    async def _reserve_and_bind(
        self, framework: Framework, state: CycleState, placed: PodInfo, binding: _Binding
    ) -> Status:
        """Give back what was taken, unless the pod is bound, or may be: then the watch will tell."""
        pod, is_bound = placed.pod, False
        try:
            status = await self._run_cycle(framework, state, pod, binding)
            is_bound = status.is_success
            return status
        except BaseException:
            is_bound = binding.is_written
            raise
        finally:
            self.waiting_pods.pop(pod.uid, None)
            if is_bound:
                self._assumed_at[pod.uid] = (self._clock.monotonic(), pod)
            else:
                self._undo(framework, state, pod, binding.node_name)

    async def _run_cycle(self, framework: Framework, state: CycleState, pod: Pod, binding: _Binding) -> Status:
        node_name = binding.node_name
        status = framework.run_reserve(state, pod, node_name)
        if not status.is_success:
            return status
        pod = self._state.assume_annotations(pod.uid, state.binding.annotations).pod
        status, waits = framework.run_permit(state, pod, node_name)
        if not status.is_success:
            return status
        if waits:
            self.waiting_pods[pod.uid] = WaitingPod(pod, waits, self._clock.monotonic())
        cycle = run_binding_cycle(framework, state, pod, node_name, is_waiting=bool(waits), on_permitted=lambda: None)
        return await drive(cycle, lambda request: self._answer(request, binding))

    async def _answer(self, request: Request, binding: _Binding) -> Any:
        if isinstance(request, Action):
            return await self._perform(request, binding)
        if isinstance(request, WaitRequest):
            return await self._until(request.condition, request.seconds)
        return await self._permitted(request)

    async def _perform(self, action: Action, binding: _Binding) -> ActionDone:
        if isinstance(action, Bind):
            binding.is_written = True
            return ActionDone(action, await self._create_binding(action))
        if isinstance(action, PatchPodStatus):  # what a pod's status says is kube-scheduler's business here
            return ActionDone(action)
        return ActionDone(action, f"an extender binds pods and writes nothing else; asked for {type(action).__name__}")

    async def _until(self, condition: Callable[[], object], seconds: float) -> bool:
        end = self._clock.monotonic() + seconds
        while not condition():
            if self._clock.monotonic() >= end:
                return False
            await asyncio.sleep(_LOOK_SECONDS)
        return True

    async def _permitted(self, request: PermitRequest) -> Status:
        waiting = self.waiting_pods[request.uid]
        while waiting.status is None:
            await asyncio.sleep(_LOOK_SECONDS)
            waiting.advance(self._clock.monotonic())
        return waiting.status

    def _undo(self, framework: Framework, state: CycleState, pod: Pod, node_name: str) -> None:
        framework.run_unreserve(state, pod, node_name)
        if self._state.is_assumed(pod):  # else the watch has shown it on a node, whatever our write came to
            self._state.forget(pod)

    # --- what becomes of bound pods ---

    def forget_unconfirmed(self) -> list[str]:
        """Stop counting pods that were bound long ago and have not been seen since. Returns: their keys."""
        now = self._clock.monotonic()
        forgotten = []
        for uid, (since, pod) in list(self._assumed_at.items()):
            if not self._state.is_assumed(pod):
                del self._assumed_at[uid]
            elif now - since > UNCONFIRMED_SECONDS:
                del self._assumed_at[uid]
                self._state.forget(pod)
                forgotten.append(pod.key)
        return forgotten

    def assumed(self) -> list[tuple[str, str]]:
        """Pods that are bound but not yet seen as such: key, node. May be called on any thread."""
        bound = list(self._assumed_at.values())
        return [(pod.key, pod.node_name) for _, pod in bound if self._state.is_assumed(pod)]

    async def finish(self, seconds: float = _FINISH_SECONDS) -> None:
        """Wait until every binding under way has ended; what has not after some seconds is broken off."""
        tasks = [binding.task for binding in self._under_way.values() if binding.task is not None]
        if not tasks:
            return
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=_GOODBYE_SECONDS)


def _error_of(status: Status) -> str:
    """What a bind answer says of a failure, which is never nothing: an empty Error stands for success."""
    if status.is_success:
        return ""
    return reason_text(status) or f"plugin {status.plugin} answered {status.code.value} without a reason"
