"""Answers bind: assumes and reserves the pod at once, binds it with one API write, and undoes this if the write fails.

A call names the pod and nothing else, so PreFilter runs again, then Reserve, Permit, PreBind, Bind and PostBind. Up to
Permit nothing waits: two calls cannot take the same device. From then on calls run concurrently. A binding outlives
its call: once the Binding is on its way to the API server it cannot be taken back, so a call that runs out of time
answers with an error, and the binding ends by itself. A second call for the same pod joins the binding that is under
way. A bound pod stays assumed until the watch shows it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Pod, WatchEvent
from kubesched.errors import ClusterError, ExtenderError
from kubesched.extender.answer import Answer, reason_text
from kubesched.framework import (
    Action,
    ActionDone,
    Bind,
    Code,
    CycleState,
    Framework,
    NodeSearch,
    PatchPodStatus,
    Status,
    WaitingPod,
    located_line,
)
from kubesched.scheduler import PlacedPod, Unconfirmed, Waits, drive, run_binding_cycle
from kubesched.setup import AwaitedRequests
from kubesched.state import ClusterState
from kubesched.wire import BindingArgs, binding_answer, parse_binding_args, utf8_text

UNANSWERED_SECONDS: Final = 30.0
"""How long an API server may take to answer a Binding. The pod is given back then."""

_FINISH_SECONDS: Final = 10.0  # for bindings that are written
_GOODBYE_SECONDS: Final = 1.0  # for a binding that is broken off to give back what it took


class _Binding(msgspec.Struct):
    """One pod on its way.

    Attributes:
        placed: the pod on its node, once it is taken there.
        n_calls: how many calls wait for its outcome.
    """

    node_name: str
    task: asyncio.Task[Status] | None = None
    placed: PlacedPod | None = None
    n_calls: int = 0

    @property
    def is_written(self) -> bool:
        """Whether the Binding may have reached the API server."""
        return self.placed is not None and self.placed.is_written


class Binder:
    """Binds pods on behalf of a kube-scheduler.

    Attributes:
        waiting_pods: pods held back in Permit, by uid.
    """

    def __init__(
        self,
        frameworks: Mapping[str, Framework],
        framework_of: Callable[[str], Framework],
        cluster_state: ClusterState,
        waiting_pods: dict[str, WaitingPod],
        *,
        find_pod: Callable[[str, str], Awaitable[Pod | None]],
        create_binding: Callable[[Bind], Awaitable[str]],
        on_assumed: Callable[[str], None] | None = None,
    ) -> None:
        """Bind for these profiles.

        Args:
            frameworks: their handles offer `perform` and `wait`, and show these waiting pods.
            waiting_pods: filled here.
            find_pod: namespace, name -> the pod as the API server has it now; asked when the watch has not shown it. A
                ClusterError is the call's answer.
            create_binding: writes the Binding; gives what went wrong, empty for success; idempotent.
            on_assumed: called with the uid of each pod once it is counted on its node, or was rejected by Reserve or
                Permit.
        """
        self.waiting_pods = waiting_pods
        self._framework_of = framework_of
        self._cluster_state = cluster_state
        self._find_pod = find_pod
        self._create_binding = create_binding
        self._on_assumed = on_assumed
        self._under_way: dict[str, _Binding] = {}
        self._unconfirmed = Unconfirmed()
        self._waits = Waits()
        self._clock = next(iter(frameworks.values())).handle.clock
        self._requests = AwaitedRequests(self._waits, waiting_pods, self._clock)

    async def bind(self, body: bytes, seconds: float) -> Answer:
        """Answer a bind request within some seconds; a failure is an answer with an Error."""
        answer = Answer(n_offered=1)
        end = self._clock.monotonic() + seconds
        try:
            args = parse_binding_args(body)
            answer.pod = f"{args.pod_namespace}/{args.pod_name}"
            async with asyncio.timeout(seconds):
                status = await self._bind(args)
            if self._clock.monotonic() > end:
                raise TimeoutError
            answer.error = _error_of(status)
            answer.plugin = status.plugin if status.code is Code.ERROR else ""
        except TimeoutError:
            answer.is_late = True
            answer.error = (
                f"binding {answer.pod}: no outcome after {seconds:.2g}s; if the API server has accepted the "
                "Binding, the "
                "pod is bound nevertheless"
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
            return Status.error(f"pod {pod.key} is already bound to node {pod.node_name}, not to {args.node}")
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
            return Status.error(f"binding pod {pod.key} was cancelled: an earlier call timed out")
        return task.result()

    async def _current(self, args: BindingArgs) -> Pod:
        """The pod that the call means.

        Raises:
            ExtenderError: it is not there any more.
        """
        name = f"{args.pod_namespace}/{args.pod_name}"
        known = self._cluster_state.objects.get("Pod", name)
        if not isinstance(known, Pod) or known.uid != args.pod_uid:
            known = await self._find_pod(args.pod_namespace, args.pod_name)
        if known is None:
            raise ExtenderError(f"pod {name} does not exist any more")
        if known.uid != args.pod_uid:
            raise ExtenderError(f"pod {name} was deleted and re-created: asked for {args.pod_uid}, found {known.uid}")
        placed = self._cluster_state.placed(known.uid)
        return known if placed is None or known.uid in self._under_way else placed.pod

    # --- one binding ---

    async def _carry_out(self, pod: Pod, binding: _Binding) -> Status:
        try:
            framework = self._framework_of(pod.spec.scheduler_name)
            state = CycleState(self._cluster_state.pod_info(pod))
            status = self._pre_filter(framework, state, binding.node_name)
            if not status.is_success:
                return status
            binding.placed = PlacedPod(framework, self._cluster_state, state, binding.node_name, self.waiting_pods)
            return await self._take_and_bind(binding.placed)
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin's: Ctrl-C does not come as an exception here
            return Status.error(f"a plugin raised {located_line(error)}")

    def _pre_filter(self, framework: Framework, state: CycleState, node_name: str) -> Status:
        nodes = self._cluster_state.snapshot().nodes
        position = nodes.position_of(node_name)
        if position is None:
            return Status.error(f"node {node_name} is not in the extender's cache")
        search = NodeSearch(framework, state, nodes.select(np.array([position], dtype=np.intp)), is_whole=False)
        return Status.SUCCESS if len(search.table) else search.diagnosis.absent

    async def _take_and_bind(self, placed: PlacedPod) -> Status:
        """Bind the pod, and hold it until the watch shows it."""
        status = placed.take(self._clock.monotonic())
        if self._on_assumed is not None:
            self._on_assumed(placed.pod.uid)
        if not status.is_success:
            return status
        try:
            cycle = run_binding_cycle(placed, lambda uid: None)
            return await drive(cycle, self._requests.answering(lambda action: self._perform(action, placed)))
        finally:
            if placed.is_awaited:
                self._unconfirmed.add(placed, self._clock.monotonic())

    async def _perform(self, action: Action, placed: PlacedPod) -> ActionDone:
        if isinstance(action, Bind):
            placed.is_written = True
            return ActionDone(action, await self._written(action))
        if isinstance(action, PatchPodStatus):  # kube-scheduler sets the status of the pod
            return ActionDone(action)
        return ActionDone(action, f"an extender can only bind pods; found {type(action).__name__}")

    async def _written(self, action: Bind) -> str:
        """Write a Binding; what went wrong, empty for success. It may be made although no answer came in time: then
        the watch shows the pod on its node.
        """
        try:
            async with asyncio.timeout(UNANSWERED_SECONDS):
                return await self._create_binding(action)
        except TimeoutError:
            return f"the API server has not answered within {UNANSWERED_SECONDS:g}s"

    # --- what happens ---

    def observe(self, event: WatchEvent) -> None:
        """Take in what the watch shows, after the state has: some binding may wait for it."""
        if isinstance(event.object, Pod):
            self._unconfirmed.settle(event.object)
        self._waits.note(event)
        self._waits.look()

    # --- what becomes of bound pods ---

    def forget_unconfirmed(self) -> list[str]:
        """Give back what pods hold that were bound long ago and have not been seen since. Returns: their keys."""
        return [placed.pod.key for placed in self._unconfirmed.expire(self._clock.monotonic())]

    def assumed(self) -> list[tuple[str, str]]:
        """Pods that are bound but not yet seen as such: key, node. May be called on any thread."""
        return [(placed.pod.key, placed.node_name) for placed in self._unconfirmed.pods()]

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
    """The Error of a bind answer for a failure. It is never empty: an empty Error means success."""
    if status.is_success:
        return ""
    return reason_text(status) or f"plugin {status.plugin} answered {status.code.value} without a reason"
