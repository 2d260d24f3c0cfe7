"""A filter that counts pods, over the wire: a call waits until it is known where the pods of earlier calls went."""

import asyncio

import pytest

from kubesched.api import EventType, Pod
from kubesched.extender.pods_in_flight import DECISION_SECONDS
from kubesched.framework import Plugin, Status
from kubesched.testing import make_node, make_pod
from tests.extender.asking import encode, with_names
from tests.extender.test_binds_on_the_wire import Writes
from tests.extender.wired import First, Reply, Wired, ask, filtered, wired

NODES = [make_node("n1"), make_node("n2")]


class OnePod(Plugin):
    """One pod on a node."""

    def filter(self, state, pod, node):
        return Status.unschedulable("full") if node.pods else Status.SUCCESS


def about(pod: Pod) -> bytes:
    return with_names("n1", "n2", pod=pod.document)


def pending(name: str) -> Pod:
    return make_pod(name, metadata={"resourceVersion": "1"})


async def begun(call: asyncio.Task[Reply]) -> None:
    """The call has come, and waits."""
    await asyncio.sleep(DECISION_SECONDS / 5)
    assert not call.done()


def test_a_call_counts_the_pod_of_the_last_one_where_the_watch_shows_it():
    async def story() -> None:
        async with wired(OnePod, watched=NODES) as running:
            assert filtered(await ask(running, "/filter", about(pending("a")))).survivors == ["n1", "n2"]
            call = asyncio.create_task(ask(running, "/filter", about(pending("b"))))
            await begun(call)
            running.show(make_pod("a", node="n2", metadata={"resourceVersion": "2"}), type=EventType.MODIFIED)
            assert filtered(await call).survivors == ["n1"]

    asyncio.run(story())


def test_a_call_counts_the_pod_of_the_last_one_where_its_bind_call_puts_it():
    async def story() -> None:
        writes = Writes()
        writes.hold()
        pods = [pending("a"), pending("b")]
        async with wired(OnePod, watched=[*NODES, *pods], writes=writes, offers_bind=True) as running:
            await ask(running, "/filter", about(pods[0]))
            call = asyncio.create_task(ask(running, "/filter", about(pods[1])))
            await begun(call)
            named = {"PodName": "a", "PodNamespace": "default", "PodUID": pods[0].uid, "Node": "n1"}
            binding = asyncio.create_task(ask(running, "/bind", encode(named)))
            assert filtered(await call).survivors == ["n2"]
            writes.let_go()
            assert (await binding).json == {"Error": ""}

    asyncio.run(story())


def test_a_pod_that_nobody_hears_of_delays_the_next_call_and_does_not_stop_it():
    async def story() -> tuple[int, int]:
        async with wired(OnePod, watched=NODES) as running:
            await ask(running, "/filter", about(pending("a")))
            assert filtered(await ask(running, "/filter", about(pending("b")))).survivors == ["n1", "n2"]
            undecided = running.extender.pods_in_flight
            assert undecided is not None
            await asyncio.sleep(DECISION_SECONDS * 1.5)
            return len(undecided), undecided.n_given_up

    assert asyncio.run(story()) == (0, 2)


def test_a_pod_that_no_node_is_left_for_is_not_waited_for():
    async def story() -> int:
        full = [make_pod(f"on-{name}", node=name) for name in ("n1", "n2")]
        async with wired(OnePod, watched=[*NODES, *full]) as running:
            assert filtered(await ask(running, "/filter", about(pending("a")))).survivors == []
            assert running.extender.pods_in_flight is not None
            return len(running.extender.pods_in_flight)

    assert asyncio.run(story()) == 0


@pytest.mark.parametrize(("plugin", "may_wait"), [(OnePod, True), (First, False)])
def test_a_filter_is_answered_in_one_step_unless_it_may_have_to_wait(plugin: type[Plugin], may_wait: bool):
    async def story() -> tuple[bool, bool, bool]:
        async with wired(plugin, watched=NODES) as running:
            paths = running.service.quick_handlers()
            return b"/filter" in paths, f"/predicates/{plugin.__name__}".encode() in paths, b"/prioritize" in paths

    assert asyncio.run(story()) == (not may_wait, not may_wait, True)


def test_paths_of_single_plugins_do_not_wait_for_the_pod_that_they_are_asked_about():
    async def story() -> float:
        async with wired(OnePod, watched=NODES) as running:
            start = asyncio.get_running_loop().time()
            for path in ("/filter", "/predicates/OnePod", "/filter"):
                assert filtered(await ask(running, path, about(pending("a")))).survivors == ["n1", "n2"]
            return asyncio.get_running_loop().time() - start

    assert asyncio.run(story()) < DECISION_SECONDS


def test_a_body_that_cannot_be_read_is_refused_as_ever():
    async def story(running: Wired) -> str:
        return filtered(await ask(running, "/filter", b"{}")).Error

    async def telling() -> str:
        async with wired(OnePod, watched=NODES) as running:
            return await story(running)

    assert "Pod" in asyncio.run(telling())
