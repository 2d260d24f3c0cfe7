"""bind: once per pod, side by side between pods, and everything given back where it does not come to be."""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kubesched.api import EventType, KubeObject, Pod, WatchEvent
from kubesched.errors import ClusterError
from kubesched.extender import Answer, Binder
from kubesched.extender.binder import UNANSWERED_SECONDS
from kubesched.framework import Bind, Plugin, PreFilterResult, Profile, Services, Status, Wait, WaitingPod, WriteObject
from kubesched.scheduler import build_frameworks, perform, wait
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod, minimal_profile
from tests.extender.asking import encode
from tests.extender.virtual_time import LoopClock, now, run, settle

BUDGET = 4.0
LATE = f"binding default/p: no outcome after {BUDGET:g}s; if the API server has accepted the Binding, the pod is bound "


class Api:
    """What the API server knows and takes.

    Attributes:
        pods: by namespace/name, beyond those that the watch has shown.
        bindings: what it was asked to create.
        error: its answer to every Binding.
        open: holds back its answers while it is cleared.
    """

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.bindings: list[Bind] = []
        self.error = ""
        self.open = asyncio.Event()
        self.open.set()

    async def find_pod(self, namespace: str, name: str) -> Pod | None:
        await asyncio.sleep(0)
        return self.pods.get(f"{namespace}/{name}")

    async def create_binding(self, action: Bind) -> str:
        self.bindings.append(action)
        await self.open.wait()
        return self.error


class Bound:
    """A binder over two nodes and the pod `p`, with what stands around it."""

    def __init__(self, *plugins: Plugin | Profile, pods: tuple[Pod, ...] | None = None) -> None:
        self.api = Api()
        self.cluster_state = ClusterState()
        profiles = [one for one in plugins if isinstance(one, Profile)]
        profiles = profiles or [minimal_profile(*(one for one in plugins if isinstance(one, Plugin)))]
        waiting: dict[str, WaitingPod] = {}
        services = Services(clock=LoopClock(), perform=perform, wait=wait, waiting_pods=lambda: waiting)
        frameworks = build_frameworks(profiles, self.cluster_state, services)
        first = next(iter(frameworks.values()))
        self.binder = Binder(
            frameworks,
            lambda name: frameworks.get(name, first),
            self.cluster_state,
            waiting,
            find_pod=self.api.find_pod,
            create_binding=self.api.create_binding,
        )
        for obj in (make_node("n1"), make_node("n2"), *((make_pod("p"),) if pods is None else pods)):
            self.show(obj)

    def show(self, obj: KubeObject, type_: EventType = EventType.ADDED) -> None:
        """The watch shows an object."""
        event = WatchEvent(type_, type(obj).__name__, obj)
        self.cluster_state.apply(event)
        self.binder.observe(event)

    def call(self, name: str = "p", node: str = "n1", *, uid: str | None = None, seconds: float = BUDGET) -> Any:
        uid = make_pod(name).uid if uid is None else uid
        body = {"PodName": name, "PodNamespace": "default", "PodUID": uid, "Node": node}
        return self.binder.bind(encode(body), seconds)

    def task(self, *given: Any, **more: Any) -> asyncio.Task[Answer]:
        return asyncio.create_task(self.call(*given, **more))

    def n_pods(self, node: str = "n1") -> int:
        self.cluster_state.check_invariants()
        return len(self.cluster_state.columns.pods[self.cluster_state.columns.row_of[node]])


def error_of(answer: Answer) -> str:
    """The Error of a bind answer; the same in the notes on it."""
    error = msgspec.json.decode(b"".join(answer.pieces), type=dict[str, str])["Error"]
    assert (answer.status, answer.error, answer.n_kept) == (200, error, int(not error))
    return error


def outcome(*plugins: Plugin, meanwhile: Callable[[Bound], None] = lambda bound: None, **how: Any) -> tuple[str, Bound]:
    """The Error of one call, and what stands around it afterwards."""

    async def story() -> tuple[str, Bound]:
        bound = Bound(*plugins)
        meanwhile(bound)
        return error_of(await bound.call(**how)), bound

    return run(story())


class Device(Plugin):
    """One device per node, noted with the binding."""

    def __init__(self, args: Any = None) -> None:
        super().__init__(args)
        self.taken: dict[str, str] = {}
        self.calls: list[str] = []

    def pre_filter(self, state, pod, nodes):
        self.calls.append(f"pre_filter {' '.join(nodes.names)}")
        return Status.SUCCESS

    def reserve(self, state, pod, node_name):
        self.calls.append("reserve")
        if self.taken.setdefault(node_name, pod.uid) != pod.uid:
            return Status.unschedulable("the device is taken")
        state.binding.annotations["device"] = f"{node_name}/0"
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        self.calls.append("unreserve")
        if self.taken.get(node_name) == pod.uid:
            del self.taken[node_name]

    def permit(self, state, pod, node_name):
        self.calls.append("permit")
        return Status.SUCCESS

    async def pre_bind(self, state, pod, node_name):
        await asyncio.sleep(0)
        self.calls.append("pre_bind")
        state.binding.annotations["ready"] = "yes"
        return Status.SUCCESS

    def post_bind(self, state, pod, node_name):
        self.calls.append("post_bind")


def plugin(**hooks: Any) -> Plugin:
    return type(
        "Own", (Plugin,), {name: lambda self, *given, hook=hook: hook(*given) for name, hook in hooks.items()}
    )()


def answers(value: Any) -> Callable[..., Any]:
    return lambda *given: value


# --- one call ---


def test_the_hooks_run_in_the_order_of_a_cycle_over_the_one_node():
    device = Device()
    assert outcome(device, node="n2")[0] == ""
    assert device.calls == ["pre_filter n2", "reserve", "permit", "pre_bind", "post_bind"]


def test_annotations_of_reserve_and_pre_bind_go_into_the_binding():
    error, bound = outcome(Device())
    (binding,) = bound.api.bindings
    assert (error, binding.node_name, binding.pod.uid) == ("", "n1", make_pod("p").uid)
    assert binding.annotations == {"device": "n1/0", "ready": "yes"}


def test_a_bound_pod_carries_what_reserve_noted_before_the_watch_shows_it():
    _, bound = outcome(Device())
    (info,) = bound.cluster_state.snapshot().node_info("n1").pods
    assert info.pod.annotations == {"device": "n1/0"}


def test_a_bound_pod_is_counted_at_once_and_stays_so_when_the_watch_shows_it():
    _, bound = outcome(Device())
    assert bound.n_pods() == 1
    assert bound.binder.assumed() == [("default/p", "n1")]
    bound.show(make_pod("p", node="n1"), EventType.MODIFIED)
    assert bound.n_pods() == 1
    assert bound.binder.assumed() == []


@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        ({"pre_filter": answers(Status.unresolvable("not here"))}, "not here"),
        ({"reserve": answers(Status.unschedulable("taken"))}, "taken"),
        ({"reserve": answers(Status.unschedulable())}, "plugin Own answered Unschedulable without a reason"),
        ({"reserve": answers(Status.unschedulable(" "))}, "plugin Own answered Unschedulable without a reason"),
        ({"reserve": answers(Status.unschedulable("\ud800"))}, "\\ud800"),
        ({"reserve": answers(None)}, 'running Reserve plugin "Own": must return a Status, such as Status.SUCCESS; '),
        ({"permit": answers(Status.unschedulable("not yet"))}, "not yet"),
        ({"pre_bind": answers(Status.unschedulable("no"))}, "no"),
        ({"bind": answers(Status.error("boom"))}, 'running Bind plugin "Own": boom'),
        ({"reserve": lambda *given: sys.exit(0)}, 'running Reserve plugin "Own": SystemExit: 0'),
    ],
)
def test_a_failure_is_said_and_everything_is_given_back(hooks: dict[str, Callable[..., Any]], said: str):
    error, bound = outcome(plugin(**hooks), device := Device())
    assert error.startswith(said)
    assert (bound.n_pods(), device.taken, bound.binder.assumed(), bound.api.bindings) == (0, {}, [], [])


@pytest.mark.parametrize("raised", [KeyboardInterrupt, GeneratorExit])
@pytest.mark.parametrize("hook", ["pre_filter", "reserve", "permit", "pre_bind", "post_bind"])
def test_nothing_that_a_hook_raises_ends_more_than_its_call(hook: str, raised: type[BaseException]):
    def raises(*given: Any) -> Any:
        raise raised

    error, bound = outcome(plugin(**{hook: raises}), device := Device())
    assert error.startswith(f"a plugin raised {raised.__name__} (test_binder.py:")
    is_bound = hook == "post_bind"
    assert (bound.n_pods(), bool(device.taken)) == (int(is_bound), is_bound)


def test_what_the_api_server_refuses_is_given_back():
    error, bound = outcome(device := Device(), meanwhile=lambda bound: setattr(bound.api, "error", "409 Conflict"))
    assert error == 'running Bind plugin "DefaultBinder": 409 Conflict'
    assert (bound.n_pods(), device.taken) == (0, {})


def test_a_binding_that_the_watch_has_shown_is_a_success_whatever_the_answer_was():
    def lost(bound: Bound) -> None:
        bound.api.error = "no answer in time"
        bound.api.open.clear()

    async def story() -> tuple[int, dict[str, str], str]:
        bound = Bound(device := Device())
        lost(bound)
        call = bound.task()
        await settle()
        bound.show(make_pod("p", node="n1"), EventType.MODIFIED)
        bound.api.open.set()
        assert error_of(await call) == error_of(await bound.call()) == ""
        return bound.n_pods(), device.taken, device.calls[-1]

    assert run(story()) == (1, {"n1": make_pod("p").uid}, "post_bind")


def test_an_api_server_that_says_nothing_holds_a_reservation_for_half_a_minute_at_most():
    async def story() -> Bound:
        bound = Bound(device := Device())
        bound.api.open.clear()
        assert error_of(await bound.call()).startswith(LATE)
        await asyncio.sleep(UNANSWERED_SECONDS - now() - 1)
        assert (bound.n_pods(), device.taken) == (1, {"n1": make_pod("p").uid})
        await asyncio.sleep(1.5)
        assert (bound.n_pods(), device.taken) == (0, {})
        return bound

    bound = run(story())
    bound.show(make_pod("p", node="n1"), EventType.MODIFIED)  # it was made after all
    assert bound.n_pods() == 1


def test_a_node_that_is_not_known_is_said():
    assert outcome(Device(), node="n9")[0] == "node n9 is not in the extender's cache"


def test_a_node_that_pre_filter_no_longer_chooses_is_refused():
    error, bound = outcome(plugin(pre_filter=answers(PreFilterResult(frozenset(["n2"])))))
    assert error == "node(s) didn't satisfy plugin(s) [Own]"
    assert bound.n_pods() == 0


@pytest.mark.parametrize(
    ("kind", "error"),
    [(WriteObject, "an extender can only bind pods; found WriteObject")],
)
def test_a_plugin_that_wants_more_written_than_a_binding_is_told(kind: type, error: str):
    class Writer(Plugin):
        async def pre_bind(self, state, pod, node_name):
            done = await self.handle.perform(kind("PersistentVolume", pod))
            return Status.error(done.error)

    assert outcome(Writer())[0] == f'running PreBind plugin "Writer": {error}'


def test_what_is_no_bind_request_is_said():
    async def story() -> str:
        return error_of(await Bound(Device()).binder.bind(b"[]", BUDGET))

    assert run(story())


# --- which pod is meant ---


def test_a_pod_of_another_profile_is_bound_by_its_plugins():
    def profile(name: str, *plugins: Plugin) -> Profile:
        made = minimal_profile(*plugins)
        return Profile(name, 0, made.points, made.weights, made.plugins)

    async def story() -> list[bool]:
        first, second = Device(), Device()
        pods = [make_pod(name, spec={"schedulerName": name}) for name in ("a", "b", "c")]
        bound = Bound(profile("a", first), profile("b", second), pods=tuple(pods))
        for name, node in (("a", "n1"), ("b", "n1"), ("c", "n2")):
            assert error_of(await bound.call(name, node)) == ""
        return [sorted(first.taken) == ["n1", "n2"], sorted(second.taken) == ["n1"]]

    assert run(story()) == [True, True]


def test_a_pod_that_the_watch_has_not_shown_is_asked_for():
    async def story() -> tuple[str, int]:
        bound = Bound(Device(), pods=())
        bound.api.pods["default/p"] = make_pod("p")
        return error_of(await bound.call()), bound.n_pods()

    assert run(story()) == ("", 1)


def test_a_pod_that_is_gone_is_not_bound():
    async def story() -> str:
        return error_of(await Bound(Device(), pods=()).call())

    assert run(story()) == "pod default/p does not exist any more"


def test_a_pod_that_was_made_again_is_not_taken_for_the_old_one():
    def remade(bound: Bound) -> None:
        bound.api.pods["default/p"] = make_pod("p", metadata={"uid": "new"})

    error, bound = outcome(Device(), meanwhile=remade, uid="old")
    assert error == "pod default/p was deleted and re-created: asked for old, found new"
    assert bound.api.bindings == []


def test_a_call_without_a_uid_binds_nothing():
    error, bound = outcome(Device(), uid="")
    assert error == "ExtenderBindingArgs: PodUID is missing or empty"
    assert not bound.api.bindings


def test_an_api_server_that_cannot_be_asked_is_the_answer():
    async def silent(namespace: str, name: str) -> Pod | None:
        raise ClusterError("GET https://api/pods/p: no answer in time")

    async def story() -> str:
        bound = Bound(Device(), pods=())
        bound.binder._find_pod = silent
        return error_of(await bound.call())

    assert run(story()) == "GET https://api/pods/p: no answer in time"


# --- once, however often it is asked for ---


@pytest.mark.parametrize("is_shown", [False, True])
def test_a_pod_that_is_bound_there_already_is_a_success_without_a_hook(is_shown: bool):
    async def story() -> tuple[list[str], int]:
        bound = Bound(device := Device())
        await bound.call()
        if is_shown:
            bound.show(make_pod("p", node="n1"), EventType.MODIFIED)
        device.calls.clear()
        assert error_of(await bound.call()) == ""
        assert error_of(await bound.call(node="n2")) == "pod default/p is already bound to node n1, not to n2"
        return device.calls, len(bound.api.bindings)

    assert run(story()) == ([], 1)


def test_a_second_call_joins_the_binding_that_is_under_way():
    async def story() -> tuple[list[str], int, str]:
        bound = Bound(Device())
        bound.api.open.clear()
        calls = [bound.task() for _ in range(3)]
        await settle()
        elsewhere = error_of(await bound.call(node="n2"))
        bound.api.open.set()
        return [error_of(await call) for call in calls], len(bound.api.bindings), elsewhere

    assert run(story()) == (["", "", ""], 1, "pod default/p is being bound to node n1, not to n2")


def test_bindings_run_side_by_side():
    async def story() -> int:
        bound = Bound(plugin(permit=answers(Status.SUCCESS)), pods=tuple(make_pod(f"p{i}") for i in range(40)))
        bound.api.open.clear()
        calls = [bound.task(f"p{i}", f"n{i % 2 + 1}") for i in range(40)]
        await settle()
        n_under_way = len(bound.api.bindings)
        bound.api.open.set()
        assert {error_of(await call) for call in calls} == {""}
        assert now() == 0
        return n_under_way

    assert run(story()) == 40


def test_two_pods_cannot_have_one_device():
    async def story() -> list[str]:
        bound = Bound(Device(), pods=(make_pod("a"), make_pod("b")))
        return sorted([error_of(answer) for answer in await asyncio.gather(bound.call("a"), bound.call("b"))])

    assert run(story()) == ["", "the device is taken"]


# --- time ---


def test_a_binding_that_is_written_ends_after_its_call_gave_up():
    async def story() -> Bound:
        bound = Bound(device := Device())
        bound.api.open.clear()
        answer = await bound.call()
        assert error_of(answer).startswith(LATE)
        assert (answer.is_late, now(), bound.n_pods(), device.taken) == (True, BUDGET, 1, {"n1": make_pod("p").uid})
        again = bound.task()
        await settle()
        bound.api.open.set()
        assert error_of(await again) == ""
        assert len(bound.api.bindings) == 1
        return bound

    assert run(story()).binder.assumed() == [("default/p", "n1")]


def test_a_success_that_comes_after_the_time_of_the_call_is_not_answered_as_one():
    def blocks(*given: Any) -> Status:
        asyncio.get_running_loop().seconds += BUDGET + 1  # the loop does not get to its timers
        return Status.SUCCESS

    async def story() -> tuple[bool, str, int]:
        bound = Bound(plugin(pre_bind=blocks))
        answer = await bound.call()
        return answer.is_late, error_of(answer)[: len(LATE)], bound.n_pods()

    assert run(story()) == (True, LATE, 1)


class Slow(Plugin):
    """Prepares something for ten seconds, and tidies up for one when it may not go on."""

    async def pre_bind(self, state, pod, node_name):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
            raise
        return Status.SUCCESS


def test_a_binding_that_is_not_written_is_given_back_when_its_call_gives_up():
    async def story() -> tuple[int, dict[str, str], int]:
        bound = Bound(device := Device(), Slow())
        assert error_of(await bound.call()).startswith(LATE)
        await bound.binder.finish(5)
        return bound.n_pods(), device.taken, len(bound.api.bindings)

    assert run(story()) == (0, {}, 0)


def test_a_call_that_gives_up_does_not_end_the_binding_for_another_that_waits():
    async def story() -> tuple[bool, str]:
        bound = Bound(Slow())
        hasty, patient = bound.task(seconds=1), bound.task(seconds=20)
        return (await hasty).is_late, error_of(await patient)

    assert run(story()) == (True, "")


def test_a_call_that_joins_a_binding_on_its_way_out_is_told():
    async def story() -> tuple[str, str]:
        bound = Bound(Slow())
        await bound.call(seconds=1)
        joined = error_of(await bound.call())
        return joined, error_of(await bound.call(seconds=20))

    assert run(story()) == ("binding pod default/p was cancelled: an earlier call timed out", "")


def test_a_pre_bind_may_await_things_of_its_own():
    class Own(Plugin):
        async def pre_bind(self, state, pod, node_name):
            async with asyncio.timeout(2), asyncio.TaskGroup() as group:
                told = asyncio.get_running_loop().create_future()
                group.create_task(self.tell(told))
                state.binding.annotations["told"] = await told
            try:
                async with asyncio.timeout(1):
                    await asyncio.Event().wait()
            except TimeoutError:
                return Status.SUCCESS

        async def tell(self, told):
            await asyncio.sleep(1)
            told.set_result("yes")

    error, bound = outcome(Own())
    assert (error, bound.api.bindings[0].annotations) == ("", {"told": "yes"})


def test_a_pre_bind_that_waits_for_the_cluster_goes_on_when_it_has_come_so_far():
    class Waiting(Plugin):
        async def pre_bind(self, state, pod, node_name):
            return Status.SUCCESS if await self.handle.wait(self.is_there, 2.0) else Status.unschedulable("no claim")

        def is_there(self):
            return self.handle.get("Node", "", "claim") is not None

    async def story() -> list[str]:
        bound = Bound(Waiting())
        call = bound.task()
        await asyncio.sleep(1)
        bound.show(make_node("claim"))
        first = error_of(await call)
        assert 1 <= now() < 1.1
        return [first, error_of(await Bound(Waiting()).call())]

    assert run(story()) == ["", "no claim"]


def test_many_pods_that_wait_cost_nothing_while_nothing_happens():
    class Waiting(Plugin):
        n_asked = 0

        async def pre_bind(self, state, pod, node_name):
            await self.handle.wait(self.is_there, 600.0, reads=[("Node", "claim")])
            return Status.SUCCESS

        def is_there(self):
            self.n_asked += 1
            return self.handle.get("Node", "", "claim") is not None

    async def story() -> tuple[list[int], list[str], float]:
        bound = Bound(waiting := Waiting(), pods=tuple(make_pod(f"p{i}") for i in range(500)))
        calls = [bound.task(f"p{i}", seconds=700) for i in range(500)]
        await settle()
        n_asked = [waiting.n_asked]
        await asyncio.sleep(300)
        for i in range(10):
            bound.show(make_node(f"other-{i}"))
        n_asked.append(waiting.n_asked)
        bound.show(make_node("claim"))
        return n_asked, [error_of(await call) for call in calls], now()

    n_asked, errors, seconds = run(story())
    assert (n_asked, set(errors)) == ([500, 500], {""})
    assert 300 <= seconds < 301


def test_a_condition_that_fails_is_the_plugins_fault():
    class Waiting(Plugin):
        async def pre_bind(self, state, pod, node_name):
            return await self.handle.wait(lambda: 1 / 0, 2.0)

    assert outcome(Waiting())[0].startswith('running PreBind plugin "Waiting": ZeroDivisionError')


# --- Permit ---


class Gate(Plugin):
    """Holds every pod back for some seconds."""

    seconds = 3.0

    def permit(self, state, pod, node_name):
        return Wait(self.seconds)


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_pod_that_waits_in_permit_is_let_go_or_turned_down_through_the_handle(is_allowed: bool):
    async def story() -> tuple[str, int]:
        gate = Gate()
        bound = Bound(gate)
        call = bound.task()
        await asyncio.sleep(1)
        (waiting,) = gate.handle.waiting_pods().values()
        assert (waiting.pod.key, waiting.pending_plugins) == ("default/p", ["Gate"])
        waiting.allow("Gate") if is_allowed else waiting.reject("Gate", "the team is not complete")
        error = error_of(await call)
        assert now() < 1.1
        assert gate.handle.waiting_pods() == {}
        return error, bound.n_pods()

    assert run(story()) == (("", 1) if is_allowed else ("the team is not complete", 0))


def test_the_second_pod_of_a_team_can_let_the_first_one_go():
    class Team(Plugin):
        def permit(self, state, pod, node_name):
            if not self.handle.waiting_pods():
                return Wait(3.0)
            for waiting in self.handle.waiting_pods().values():
                waiting.allow(self.name)
            return Status.SUCCESS

    async def story() -> list[str]:
        bound = Bound(Team(), pods=(make_pod("a"), make_pod("b")))
        return [error_of(answer) for answer in await asyncio.gather(bound.call("a"), bound.call("b", "n2"))]

    assert run(story()) == ["", ""]


def test_a_pod_that_nobody_allows_is_turned_down_when_its_time_is_over():
    error, bound = outcome(Gate())
    assert error == "rejected due to timeout after waiting 3s at plugin Gate"
    assert bound.n_pods() == 0


def test_a_pod_that_would_wait_longer_than_the_call_may_take_is_given_back():
    class LongGate(Gate):
        seconds = 60.0

    async def story() -> int:
        gate = LongGate()
        bound = Bound(gate)
        assert error_of(await bound.call()).startswith(LATE)
        await bound.binder.finish(1)
        assert gate.handle.waiting_pods() == {}
        return bound.n_pods()

    assert run(story()) == 0


# --- afterwards ---


def test_a_pod_that_is_never_seen_as_bound_is_counted_for_ten_minutes():
    async def story() -> list[list[str]]:
        bound = Bound(device := Device(), pods=(make_pod("p"), make_pod("seen")))
        await bound.call()
        await bound.call("seen", "n2")
        bound.show(make_pod("seen", node="n2"), EventType.MODIFIED)
        told = []
        for seconds in (599, 2, 600):
            await asyncio.sleep(seconds)
            told.append(bound.binder.forget_unconfirmed())
        assert (bound.n_pods("n1"), bound.n_pods("n2")) == (0, 1)
        assert (device.calls.count("unreserve"), sorted(device.taken)) == (1, ["n2"])
        return told

    assert run(story()) == [[], ["default/p"], []]


def test_the_end_waits_for_bindings_and_breaks_off_what_takes_too_long():
    async def story() -> tuple[list[bool], float, int]:
        bound = Bound(Slow(), pods=(make_pod("quick"), make_pod("slow")))
        calls = [bound.task("quick", seconds=60)]
        await asyncio.sleep(7)
        calls.append(bound.task("slow", seconds=60))
        await settle()
        await bound.binder.finish(5)
        answered = [bool(error_of(await call)) for call in calls]
        await bound.binder.finish(5)
        return answered, now(), bound.n_pods()

    assert run(story()) == ([False, True], 13.0, 1)
