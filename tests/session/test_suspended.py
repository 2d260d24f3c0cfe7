"""Binding cycles that still wait when a simulation ends are broken off."""

import pytest

from kubesched.framework import Plugin, Status, Wait
from kubesched.session import PodState, Simulator
from kubesched.testing import make_node, make_pod, minimal_profile


class Interrupted(Plugin):
    """The pod `a` waits, in PreBind or in Permit; Ctrl-C comes while `b` is tried."""

    def __init__(self, *, in_permit: bool) -> None:
        super().__init__()
        self.in_permit = in_permit
        self.calls: list[str] = []

    def filter(self, state, pod, node):
        if pod.name == "b":
            raise KeyboardInterrupt
        return Status.SUCCESS

    def reserve(self, state, pod, node_name):
        self.calls.append("reserve")
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        self.calls.append("unreserve")

    def permit(self, state, pod, node_name):
        return Wait(60) if self.in_permit else Status.SUCCESS

    async def pre_bind(self, state, pod, node_name):
        await self.handle.wait(lambda: False, 60.0)
        return Status.SUCCESS

    def stop(self):
        self.calls.append("stop")


@pytest.mark.parametrize("in_permit", [True, False])
def test_ctrl_c_gives_back_what_waits_and_stops_the_plugins(in_permit: bool) -> None:
    plugin = Interrupted(in_permit=in_permit)
    simulator = Simulator([make_node("n"), make_pod("a"), make_pod("b")], [minimal_profile(plugin)])
    with pytest.raises(KeyboardInterrupt):
        simulator.run()
    assert plugin.calls == ["reserve", "unreserve", "stop"]
    assert simulator.cluster_state.assumed_uids == []
    assert simulator.scheduler.queue.counts()["active"] == 2
    assert len(simulator.scheduler.waits) == 0
    simulator.cluster_state.check_invariants()
    simulator.scheduler.queue.check_invariants()


def test_a_wait_that_has_ended_does_not_stay_in_the_calendar() -> None:
    class Waits(Plugin):
        def pre_bind_pre_flight(self, state, pod, node_name):
            return Status.SUCCESS

        async def pre_bind(self, state, pod, node_name):
            asked = iter(range(3))
            seconds = 10.0 if pod.name == "first" else 10_000.0
            await self.handle.wait(lambda: pod.name != "first" and next(asked) > 0, seconds)
            return Status.SUCCESS

    pods = [make_pod("first", priority=9), *(make_pod(f"p{i}") for i in range(300))]
    simulator = Simulator([make_node("n"), *pods], [minimal_profile(Waits())])
    most = 0

    def note(decision) -> None:
        nonlocal most
        most = max(most, len(simulator._suspended._calendar))

    simulator.decisions = note
    report = simulator.run()
    assert report.count(PodState.SCHEDULED) == 301
    assert most < 100
