"""Each attribute and method of Handle does under each driver what its docstring says."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.errors import PluginError
from kubesched.explanation import Explainer
from kubesched.extender import ClusterWrites, Extender
from kubesched.framework import Action, ActionDone, Bind, CycleState, Handle, PatchPodStatus, Plugin, Status, Wait
from kubesched.session import Simulator
from kubesched.setup import set_up
from kubesched.testing import FakeCluster, make_node, make_pod, minimal_profile
from tests.extender.asking import encode, in_time, with_names
from tests.extender.virtual_time import LoopClock, run

NODE, THERE = make_node("n", allocatable={"cpu": "4"}), make_pod("there", node="n")
POD = make_pod("p", requests={"cpu": "1"})
NOMINATED = make_pod("nominated", priority=-1, status={"nominatedNodeName": "n"})


Look = Callable[[Handle, CycleState], Any]


class Probe(Plugin):
    """Looks at the handle in `filter`, is held back in Permit, and awaits what the handle offers in `pre_bind`."""

    def __init__(self, look: Look, awaits: Callable[[Handle], Any] | None = None) -> None:
        super().__init__()
        self.look = look
        self.awaits = awaits
        self.has_looked = awaits is not None
        self.seen: list[Any] = []
        self.held: list[str] = []

    def filter(self, state, pod, node):
        if not self.has_looked:
            self.has_looked = True
            self.seen.append(self.look(self.handle, state))
        return Status.SUCCESS

    def permit(self, state, pod, node_name):
        return Wait(1.0)

    def pre_bind_pre_flight(self, state, pod, node_name):
        for waiting in self.handle.waiting_pods().values():
            self.held.append(waiting.pod.name)
            waiting.allow(self.name)
        return Status.SUCCESS if self.awaits is not None else Status.SKIP

    async def pre_bind(self, state, pod, node_name):
        assert self.awaits is not None
        self.seen.append(await self.awaits(self.handle))
        return Status.SUCCESS

    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


class Writes(ClusterWrites):
    async def create_binding(self, action: Bind) -> str:
        return ""


def simulator(probe: Probe) -> None:
    Simulator([NODE, THERE, POD, NOMINATED], [minimal_profile(probe)]).run()


def explainer(probe: Probe) -> None:
    with Explainer([NODE, THERE, POD, NOMINATED], set_up([minimal_profile(probe)])) as explaining:
        explaining.explain(POD)


def extender(probe: Probe) -> None:
    async def story() -> None:
        setup = set_up([minimal_profile(probe)], default_plugins=False)
        served = Extender(setup, clock=LoopClock(), is_watched=True, writes=Writes())
        served.apply(WatchEvent(EventType.ADDED, type(obj).__name__, obj) for obj in (NODE, THERE, POD))
        served.verbs.filter(with_names("n", pod=msgspec.to_builtins(POD)), in_time)
        assert served.binder is not None
        body = {"PodName": "p", "PodNamespace": "default", "PodUID": POD.uid, "Node": "n"}
        await served.binder.bind(encode(body), 4.0)

    run(story())


def fake_cluster(probe: Probe) -> None:
    cluster = FakeCluster(probe, nodes=[NODE], pods=[THERE])
    cluster.filter(POD)
    cluster.stop()


ALL = (simulator, explainer, extender, fake_cluster)
BINDS = (simulator, extender)


def looked(driver: Callable[[Probe], None], look: Callable[[Handle, CycleState], Any]) -> Any:
    """What a plugin sees of the handle in `filter`."""
    driver(probe := Probe(look))
    return probe.seen[0]


def awaited(driver: Callable[[Probe], None], awaits: Callable[[Handle], Any]) -> Any:
    """What a plugin gets for what it awaits in `pre_bind`."""
    driver(probe := Probe(lambda handle, state: None, awaits))
    return probe.seen[0]


LOOKS: dict[str, tuple[Callable[[Handle, CycleState], Any], Any]] = {
    "cluster_state": (lambda handle, state: handle.cluster_state.objects.get("Node", "n"), NODE),
    "clock": (lambda handle, state: handle.clock.monotonic() >= 0 and handle.clock.now() >= 0, True),
    "rng": (lambda handle, state: 0 <= handle.rng.random() < 1, True),
    "preempt_plugins": (lambda handle, state: [plugin.name for plugin in handle.preempt_plugins], ["Probe"]),
    "plugin": (lambda handle, state: handle.plugin, "Probe"),
    "profile": (lambda handle, state: handle.profile, "default-scheduler"),
    "preempting": (lambda handle, state: "p" in handle.preempting, False),
    "what_if": (
        lambda handle, state: handle.what_if(state, POD, handle.snapshot().nodes).fits().tolist(),
        [True],
    ),
    "snapshot": (lambda handle, state: handle.snapshot().nodes.names[0], "n"),
    "get": (lambda handle, state: handle.get("Pod", "default", "there"), THERE),
    "list": (lambda handle, state: [node.name for node in handle.list("Node")], ["n"]),
    "reads": (lambda handle, state: dict(handle.reads), {"Node": "Node", "Pod": "Pod"}),
}
OTHERS = {"extenders", "nominated", "waiting_pods", "perform", "emit", "wait", "activate", "logger"}
OF_CLAIMS = {"avoids_known_faults"}  # tests/live/test_claims.py
TOLD = {"metrics", "metrics_of", "event", "record_event", "client"}  # tests/framework/test_plugin_events.py


def test_nothing_of_the_handle_is_left_out_here() -> None:
    public = {*Handle.__struct_fields__, *(name for name in vars(Handle) if not name.startswith("_"))}
    assert public == LOOKS.keys() | OTHERS | OF_CLAIMS | TOLD


@pytest.mark.parametrize("driver", ALL)
@pytest.mark.parametrize("name", LOOKS)
def test_what_a_plugin_reads(driver: Callable[[Probe], None], name: str) -> None:
    look, expected = LOOKS[name]
    assert looked(driver, look) == expected


@pytest.mark.parametrize("driver", ALL)
@pytest.mark.parametrize("call", ["get", "list"])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("Servce", '"Servce" is not a kind that kubesched reads; did you mean "Service"?'),
        ("Service", 'the plugin does not declare this kind; add reads = ("Service",) to the class'),
        ("v1/ConfigMap", 'the plugin does not declare this kind; add reads = ("v1/ConfigMap",) to the class'),
    ],
)
def test_a_kind_that_is_not_declared_is_refused(
    driver: Callable[[Probe], None], call: str, kind: str, message: str
) -> None:
    def ask(handle: Handle, state: CycleState) -> str:
        with pytest.raises(PluginError) as refused:
            handle.get(kind, "", "x") if call == "get" else handle.list(kind)
        return str(refused.value)

    assert looked(driver, ask).startswith(f'handle.{call}("{kind}"): {message}')


@pytest.mark.parametrize("driver", ALL)
def test_no_attribute_can_be_replaced(driver: Callable[[Probe], None]) -> None:
    def replace(handle: Handle, state: CycleState) -> str:
        try:
            handle.logger = logging.getLogger("other")  # type: ignore[misc]
        except AttributeError as error:
            return str(error)
        return ""

    assert looked(driver, replace)


@pytest.mark.parametrize(("driver", "n"), [(simulator, 1), (explainer, 1), (extender, 0), (fake_cluster, 0)])
def test_nominated_pods_are_those_that_wait_for_a_node(driver: Callable[[Probe], None], n: int) -> None:
    assert looked(driver, lambda handle, state: len(handle.nominated)) == n


@pytest.mark.parametrize("driver", ALL)
def test_messages_go_to_logging(driver: Callable[[Probe], None], caplog: pytest.LogCaptureFixture) -> None:
    looked(driver, lambda handle, state: handle.logger.warning("seen by %s", driver.__name__))
    assert ("kubesched.plugin", logging.WARNING, f"seen by {driver.__name__}") in caplog.record_tuples


@pytest.mark.parametrize("driver", BINDS)
def test_waiting_pods_shows_the_pod_in_permit(driver: Callable[[Probe], None]) -> None:
    driver(probe := Probe(lambda handle, state: None))
    assert probe.held[0] == "p"


@pytest.mark.parametrize("driver", BINDS)
def test_perform_gives_the_outcome_of_an_action(driver: Callable[[Probe], None]) -> None:
    action = PatchPodStatus(POD, nominated_node_name="n")
    assert awaited(driver, lambda handle: handle.perform(action)) == ActionDone(action)


def test_an_extender_performs_nothing_but_bindings() -> None:
    class Other(Action, frozen=True):
        pass

    done = awaited(extender, lambda handle: handle.perform(Other()))
    assert done.error == "an extender can only bind pods; found Other"


@pytest.mark.parametrize("driver", BINDS)
def test_wait_says_whether_the_condition_holds(driver: Callable[[Probe], None]) -> None:
    async def both(handle: Handle) -> list[bool]:
        return [await handle.wait(lambda: True, 2.0), await handle.wait(lambda: False, 2.0, reads=["Node"])]

    assert awaited(driver, both) == [True, False]


@pytest.mark.parametrize("driver", [explainer, extender, fake_cluster])
def test_activate_says_that_there_is_no_queue(
    driver: Callable[[Probe], None], caplog: pytest.LogCaptureFixture
) -> None:
    looked(driver, lambda handle, state: [handle.activate([POD]) for _ in range(2)])
    assert caplog.messages.count("this run has no queue, so activate does nothing for default/p") == 1


class Late(Plugin):
    """Rejects the pod `late` until it is activated, when `p` is bound; no event helps it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = False

    def filter(self, state, pod, node):
        return Status.SUCCESS if self.is_open or pod.name != "late" else Status.unschedulable("not yet")

    def events_to_register(self):
        return []

    def post_bind(self, state, pod, node_name):
        self.is_open = True
        self.handle.activate([found for found in self.handle.list("Pod") if isinstance(found, Pod)])


def test_activate_tries_pods_again_at_once() -> None:
    late = make_pod("late", priority=9)
    report = Simulator([NODE, late, POD], [minimal_profile(Late())]).run()
    assert {placement.pod: placement.node for placement in report.placements} == {"default/late": "n", "default/p": "n"}
    assert report.seconds == 0.0


# --- the event loop that the handle's plugins live on ---


class Living(Plugin):
    """Notes on which loop each part of its life runs; a task made in `start` counts its turns."""

    def __init__(self) -> None:
        super().__init__()
        self.loops: list[Any] = []
        self.n_turns = 0
        self.n_turns_at_first_score = 0
        self.is_cancelled = False

    async def start(self, handle):
        self.note()
        self.task = asyncio.create_task(self.refresh())

    async def refresh(self):
        try:
            while True:
                self.n_turns += 1
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise

    def note(self) -> None:
        self.loops.append(asyncio.get_running_loop())

    def score(self, state, pod, node):
        self.n_turns_at_first_score = self.n_turns_at_first_score or self.n_turns
        assert not self.task.done()
        return 0

    async def pre_bind(self, state, pod, node_name):
        self.note()
        return Status.SUCCESS

    async def post_bind(self, state, pod, node_name):
        self.note()

    async def stop(self):
        self.note()
        assert not self.task.done()


NODES = [NODE, make_node("m")]


def simulated(plugin: Plugin) -> None:
    Simulator([*NODES, POD], [minimal_profile(plugin)]).run()


def explained(plugin: Plugin) -> None:
    with Explainer([*NODES, POD], set_up([minimal_profile(plugin)])) as explaining:
        explaining.explain(POD)


@pytest.fixture(params=[simulated, explained])
def life(request: pytest.FixtureRequest) -> Living:
    living = Living()
    request.param(living)
    return living


def test_a_task_made_in_start_lives_until_stop(life: Living) -> None:
    assert life.n_turns_at_first_score >= 1
    assert life.is_cancelled


def test_the_whole_life_runs_on_one_loop(life: Living) -> None:
    assert len(life.loops) >= 2
    assert len(set(map(id, life.loops))) == 1


def test_explain_stops_what_it_started() -> None:
    from kubesched import explain

    life = Living()
    explain([*NODES, POD], "default/p", [minimal_profile(life)])
    assert life.is_cancelled


def test_a_simulation_in_a_notebook_runs_on_its_loop() -> None:
    class Plain(Living):
        def start(self, handle):
            self.note()

        def score(self, state, pod, node):
            return 0

        def stop(self):
            self.note()

    async def notebook() -> bool:
        simulated(plain := Plain())
        return set(plain.loops) == {asyncio.get_running_loop()}

    assert asyncio.run(notebook())


def test_what_has_to_wait_cannot_be_started_on_a_running_loop() -> None:
    class Waits(Living):
        async def start(self, handle):
            await asyncio.sleep(0)

    async def notebook() -> None:
        simulated(Waits())

    with pytest.raises(RuntimeError, match="an event loop is already running in this thread"):
        asyncio.run(notebook())
