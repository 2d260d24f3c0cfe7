"""Pods that filter let pass: the next call waits until their node is known, and not for long."""

import asyncio
from collections.abc import Coroutine

import pytest

from kubesched.api import EventType, Pod, WatchEvent
from kubesched.extender.pods_in_flight import DECISION_SECONDS, PodsInFlight
from kubesched.testing import make_node, make_pod
from tests.extender.virtual_time import now, run, settle


def version(n: int, **said: object) -> Pod:
    return make_pod("a", metadata={"resourceVersion": str(n)}, **said)


A = version(1)


def seconds_waited(*events: WatchEvent, uid: str = "another", cap: float = 10.0) -> float:
    """How long a call waits for the pod `a`, when events come 0.01 s after it began."""

    async def story() -> float:
        in_flight = PodsInFlight()
        in_flight.add(A)
        call = asyncio.create_task(in_flight.settle(uid, cap))
        await asyncio.sleep(0.01)
        for event in events:
            in_flight.observe(event)
        await call
        return now()

    return run(story())


def pod_event(type_: EventType, pod: Pod) -> WatchEvent:
    return WatchEvent(type_, "Pod", pod)


@pytest.mark.parametrize(
    "event",
    [
        pod_event(EventType.MODIFIED, version(2, node="n")),
        pod_event(EventType.ADDED, version(2, node="n")),
        pod_event(EventType.MODIFIED, version(2)),
        pod_event(EventType.DELETED, A),
    ],
    ids=["bound", "bound, and first seen so", "not placed after all", "deleted"],
)
def test_a_call_waits_until_the_watch_shows_what_became_of_the_pod(event: WatchEvent) -> None:
    assert seconds_waited(event) == pytest.approx(0.01)


@pytest.mark.parametrize(
    "event",
    [
        pod_event(EventType.ADDED, A),
        pod_event(EventType.MODIFIED, A),
        pod_event(EventType.MODIFIED, version(0)),
        pod_event(EventType.MODIFIED, version(2, status={"nominatedNodeName": "n"})),
        pod_event(EventType.MODIFIED, make_pod("b", node="n")),
        WatchEvent(EventType.MODIFIED, "Node", make_node("a")),
    ],
    ids=[
        "it is new",
        "kube-scheduler knew that",
        "the watch lags behind",
        "its binding takes longer",
        "another pod",
        "no pod",
    ],
)
def test_what_decides_nothing_is_waited_through(event: WatchEvent) -> None:
    assert seconds_waited(event) == pytest.approx(DECISION_SECONDS)


def test_a_call_waits_no_longer_than_it_may() -> None:
    assert seconds_waited(cap=0.05) == pytest.approx(0.05)


def test_a_call_about_the_same_pod_does_not_wait() -> None:
    async def story() -> float:
        in_flight = PodsInFlight()
        in_flight.add(A)
        await in_flight.settle(A.uid, 10.0)
        return now()

    assert run(story()) == 0.0


def test_of_two_calls_that_wait_the_second_waits_for_the_pod_of_the_first() -> None:
    async def call(in_flight: PodsInFlight, pod: Pod, done: list[tuple[str, float]]) -> None:
        await in_flight.settle(pod.uid, 10.0)
        done.append((pod.name, now()))
        in_flight.add(pod)

    async def story() -> list[tuple[str, float]]:
        in_flight, done = PodsInFlight(), []
        in_flight.add(A)
        calls: list[Coroutine[object, object, None]] = [call(in_flight, make_pod(name), done) for name in "bc"]
        tasks = [asyncio.create_task(one) for one in calls]
        await asyncio.sleep(0.01)
        in_flight.decided(A.uid)
        await settle()
        assert [name for name, _ in done] == ["b"]
        in_flight.decided(make_pod("b").uid)
        await asyncio.gather(*tasks)
        return done

    assert [name for name, _ in run(story())] == ["b", "c"]


def test_nothing_is_kept_of_pods_that_nobody_hears_of_again() -> None:
    async def story() -> tuple[int, int, int]:
        in_flight = PodsInFlight()
        for i in range(1000):
            in_flight.add(make_pod(f"p{i}"))
            in_flight.add(make_pod(f"p{i}"))
        in_flight.decided(make_pod("p0").uid)
        before = len(in_flight)
        await asyncio.sleep(DECISION_SECONDS)
        return before, len(in_flight), in_flight.n_given_up

    assert run(story()) == (999, 0, 999)
