"""The leader election as its replicas see it, on a clock that passes only while everybody waits."""

import asyncio
import logging
from collections.abc import Coroutine
from itertools import pairwise
from random import Random
from typing import Any

import pytest

from kubesched.config import Duration, LeaderElectionConfiguration
from kubesched.errors import LeaseLostError
from tests.extender.virtual_time import VirtualLoop, now, run
from tests.live.leases import LOST_ANSWER, NO_ANSWER, NO_FAULT, REFUSED, Candidate, Fault, LeaseServer, LoopTiming
from tests.trials import seeds


def times(lease: float, renew: float, retry: float) -> LeaderElectionConfiguration:
    return LeaderElectionConfiguration(
        lease_duration=Duration(lease), renew_deadline=Duration(renew), retry_period=Duration(retry)
    )


async def lost_after(renewing: Coroutine[Any, Any, None]) -> float:
    """The seconds until a lease is lost."""
    began = now()
    with pytest.raises(LeaseLostError):
        await renewing
    return now() - began


def until_cancelled(candidate: Candidate) -> asyncio.Task[None]:
    return asyncio.create_task(candidate.elector.renew())


# --- what is written ---


def test_the_first_candidate_creates_the_lease() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.acquire()
        assert candidate.elector.is_leader
        assert server.asked == ["GET", "POST"]
        assert server.lease is not None
        assert server.lease["metadata"] | {"uid": "", "resourceVersion": ""} == {
            "namespace": "kube-system",
            "name": "kubesched",
            "uid": "",
            "resourceVersion": "",
        }
        assert (server.lease["apiVersion"], server.lease["kind"]) == ("coordination.k8s.io/v1", "Lease")
        stamp = "2023-11-14T22:13:20.010000Z"
        assert server.spec == {
            "holderIdentity": "a",
            "leaseDurationSeconds": 15,
            "acquireTime": stamp,
            "renewTime": stamp,
            "leaseTransitions": 0,
        }

    run(story())


def test_a_renewal_is_one_request_and_changes_the_renew_time_alone() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.acquire()
        assert server.lease is not None
        server.lease["metadata"]["labels"] = {"team": "infra"}
        candidate.elector.lease = await candidate.lock.get()
        before, n_asked = dict(server.spec), len(server.asked)
        renewing = until_cancelled(candidate)
        await asyncio.sleep(7)
        assert server.asked[n_asked:] == ["PUT", "PUT", "PUT"]
        assert server.spec.pop("renewTime") > before.pop("renewTime")
        assert server.spec == before
        assert server.lease["metadata"]["labels"] == {"team": "infra"}
        renewing.cancel()

    run(story())


def test_seconds_are_rounded_up_so_that_others_wait_long_enough() -> None:
    async def story() -> None:
        server = LeaseServer()
        await Candidate(server, election=times(2.5, 2, 0.5)).elector.acquire()
        assert server.spec["leaseDurationSeconds"] == 3

    run(story())


def test_release_clears_the_holder_for_others_to_take() -> None:
    async def story() -> None:
        server = LeaseServer()
        first, second = Candidate(server), Candidate(server, "b")
        await first.elector.acquire()
        await first.elector.release()
        assert not first.elector.is_leader
        assert server.spec.pop("acquireTime") == server.spec.pop("renewTime")
        assert server.spec == {"holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 0}
        began = now()
        await second.elector.acquire()
        assert now() - began < 1
        assert (server.spec["holderIdentity"], server.spec["leaseTransitions"]) == ("b", 1)

    run(story())


def test_release_gives_back_an_acquisition_whose_answer_was_lost() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        candidate.client.fault = lambda method: LOST_ANSWER if method == "POST" else NO_FAULT
        acquiring = asyncio.create_task(candidate.elector.acquire())
        await asyncio.sleep(1)
        acquiring.cancel()
        assert server.spec["holderIdentity"] == "a"
        await candidate.elector.release()
        assert server.spec["holderIdentity"] == ""

    run(story())


def test_release_leaves_the_lease_of_others_alone() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.release()
        assert server.asked == []
        await candidate.elector.acquire()
        server.held_by("somebody")
        await candidate.elector.release()
        assert server.spec["holderIdentity"] == "somebody"

    run(story())


def test_release_ends_in_time_though_nobody_answers(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        candidate = Candidate(LeaseServer())
        await candidate.elector.acquire()
        candidate.client.fault = lambda method: NO_ANSWER
        await candidate.elector.release()
        assert now() <= 10.1
        assert "failed to release lease kube-system/kubesched" in caplog.text

    run(story())


# --- the lease of another holder ---


def test_a_lease_counts_from_the_moment_it_was_seen_whatever_its_stamps_say() -> None:
    async def story() -> None:
        server = LeaseServer()
        server.held_by("dead", renewTime="2001-01-01T00:00:00.000000Z", leaseDurationSeconds=20)
        candidate = Candidate(server)
        await candidate.elector.acquire()
        assert 20 <= now() < 20.1
        assert server.spec["leaseTransitions"] == 4

    run(story())


@pytest.mark.parametrize("hours", [-30_000, -1, 1, 30_000])
def test_a_wall_clock_that_jumps_costs_no_leader_its_lease_and_gives_none_away(hours: int) -> None:
    """Of the leader, or of the candidate that waits; by an hour, or by more than three years."""

    async def story() -> None:
        for jumps in ("leader", "candidate"):
            server = LeaseServer()
            clocks = {"leader": LoopTiming(), "candidate": LoopTiming()}
            leader, candidate = (Candidate(server, name, timing=clock) for name, clock in clocks.items())
            await leader.elector.acquire()
            renewing, waiting = until_cancelled(leader), asyncio.create_task(candidate.elector.acquire())
            await asyncio.sleep(20)
            clocks[jumps].jump(hours * 3600)
            await asyncio.sleep(60)
            assert leader.elector.may_write
            assert not waiting.done()
            renewing.cancel()
            stopped = now()
            await waiting
            assert 15 - 2.1 <= now() - stopped < 15 + 4.5

    run(story())


@pytest.mark.parametrize("seconds", [0, None, -5, 2**31 - 1])
@pytest.mark.parametrize("stamp", ["9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00.000000Z", None])
def test_a_leader_whose_lease_is_rewritten_goes_on_with_its_own_seconds(seconds: int | None, stamp: str | None) -> None:
    """Only its name counts; an API server refuses some of these, and a restored one may have them."""

    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.acquire()
        renewing = until_cancelled(candidate)
        await asyncio.sleep(3)
        server.held_by("a", leaseDurationSeconds=seconds, renewTime=stamp, acquireTime=stamp)
        await asyncio.sleep(30)
        assert candidate.elector.may_write
        assert server.spec["leaseDurationSeconds"] == 15
        assert candidate.elector.expires_at <= now() + 15
        renewing.cancel()

    run(story())


def test_a_count_of_transitions_that_is_full_keeps_nobody_from_the_lease() -> None:
    async def story() -> None:
        server = LeaseServer()
        server.held_by("", leaseTransitions=2**31 - 1)
        await Candidate(server).elector.acquire()
        assert server.spec["leaseTransitions"] == 2**31 - 1

    run(story())


def test_every_change_restarts_the_wait() -> None:
    async def story() -> None:
        server = LeaseServer()
        server.held_by("other")
        acquiring = asyncio.create_task(Candidate(server).elector.acquire())
        await asyncio.sleep(14)
        server.held_by("other", renewTime="2026-01-01T00:00:00.000000Z")
        await asyncio.sleep(14)
        assert not acquiring.done()
        await acquiring
        assert 14 + 15 <= now() < 14 + 4.5 + 15.1

    run(story())


def test_a_candidate_that_waits_names_the_holder_once_and_says_what_to_set(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")

    async def story() -> None:
        server = LeaseServer()
        server.held_by("gpu_kubesched_1")
        acquiring = asyncio.create_task(Candidate(server).elector.acquire())
        for holder in ("gpu_kubesched_1", "cp-1_2", "cp-1_2"):
            await asyncio.sleep(10)
            server.held_by(holder, renewTime=f"2026-01-01T00:00:{int(now())}.000000Z")
        await acquiring

    run(story())
    told = [message for message in caplog.messages if "holds" in message]
    assert told == [
        f"waiting: {holder} holds the Lease kube-system/kubesched, and only its holder schedules. If that is not a "
        "replica of this scheduler, give this one another Lease: set leaderElection.resourceName, or "
        "--leader-elect-resource-name"
        for holder in ("gpu_kubesched_1", "cp-1_2")
    ]


def test_a_candidate_looks_again_after_one_to_two_point_two_periods() -> None:
    async def story() -> None:
        server = LeaseServer()
        server.held_by("other", leaseDurationSeconds=100_000)
        acquiring = asyncio.create_task(Candidate(server).elector.acquire())
        looks: list[float] = []
        for _ in range(200):
            n_asked = len(server.asked)
            while len(server.asked) == n_asked:  # noqa: ASYNC110 - the server is a list
                await asyncio.sleep(0.05)
            looks.append(now())
        pauses = [after - before for before, after in pairwise(looks)]
        assert 1.9 < min(pauses) < 2.3
        assert 4.1 < max(pauses) < 4.5
        acquiring.cancel()

    run(story())


def test_of_two_candidates_for_a_free_lease_one_leads() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidates = [Candidate(server, name) for name in "ab"]
        tasks = [asyncio.create_task(candidate.elector.acquire()) for candidate in candidates]
        await asyncio.sleep(10)
        assert sorted(candidate.elector.is_leader for candidate in candidates) == [False, True]
        assert [candidate.elector.is_leader for candidate in candidates] == [task.done() for task in tasks]
        for task in tasks:
            task.cancel()

    run(story())


def test_an_answer_that_comes_after_the_lease_is_over_makes_no_leader() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server, election=times(2, 1.5, 0.5))
        late = [Fault(after=3)]
        candidate.client.fault = lambda method: late.pop() if method == "POST" and late else NO_FAULT
        await candidate.elector.acquire()
        assert server.asked == ["GET", "POST", "GET", "PUT"]
        assert candidate.elector.expires_at > now()

    run(story())


# --- renewing through trouble ---


@pytest.mark.parametrize("fault", [REFUSED, NO_ANSWER], ids=["refused", "no answer"])
def test_a_lease_that_cannot_be_renewed_is_given_up_before_it_ends(fault: Fault) -> None:
    async def story() -> None:
        candidate = Candidate(LeaseServer())
        await candidate.elector.acquire()
        candidate.client.fault = lambda method: fault
        assert await lost_after(candidate.elector.renew()) == pytest.approx(12, abs=0.1)  # retryPeriod + renewDeadline
        assert not candidate.elector.is_leader

    run(story())


def test_a_long_renew_deadline_does_not_outlast_the_lease() -> None:
    async def story() -> None:
        candidate = Candidate(LeaseServer(), election=times(15, 14, 5))
        await candidate.elector.acquire()
        candidate.client.fault = lambda method: REFUSED
        assert await lost_after(candidate.elector.renew()) == pytest.approx(13.5, abs=0.1)

    run(story())


def test_troubles_that_end_before_the_deadline_cost_nothing() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.acquire()
        candidate.client.fault = lambda method: REFUSED if now() % 13 > 6 else NO_FAULT
        renewing = until_cancelled(candidate)
        await asyncio.sleep(100)
        assert not renewing.done()
        assert server.spec["leaseTransitions"] == 0
        renewing.cancel()

    run(story())


def test_a_renewal_whose_answer_was_lost_is_found_by_a_look() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.acquire()
        faults = [LOST_ANSWER]
        candidate.client.fault = lambda method: faults.pop() if faults else NO_FAULT
        acquired = server.spec["acquireTime"]
        renewing = until_cancelled(candidate)
        await asyncio.sleep(10)
        assert server.asked[2:6] == ["PUT", "PUT", "GET", "PUT"]
        assert (server.spec["leaseTransitions"], server.spec["acquireTime"]) == (0, acquired)
        renewing.cancel()

    run(story())


def test_a_stolen_lease_is_lost_at_the_next_renewal() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.acquire()
        server.held_by("thief")
        began = now()
        with pytest.raises(LeaseLostError, match="lease kube-system/kubesched is held by thief"):
            await candidate.elector.renew()
        assert now() - began < 2.1
        assert server.spec["holderIdentity"] == "thief"

    run(story())


def test_a_lease_that_somebody_deleted_is_made_again() -> None:
    async def story() -> None:
        server = LeaseServer()
        candidate = Candidate(server)
        await candidate.elector.acquire()
        renewing = until_cancelled(candidate)
        server.lease = None
        await asyncio.sleep(3)
        assert server.spec["holderIdentity"] == "a"
        assert not renewing.done()
        renewing.cancel()

    run(story())


def test_each_renewal_reports_what_is_left_of_the_lease() -> None:
    async def story() -> None:
        candidate = Candidate(LeaseServer())
        candidate.client.fault = lambda method: Fault(before=1, after=2)
        await candidate.elector.acquire()
        renewing = until_cancelled(candidate)
        await asyncio.sleep(11)
        assert candidate.left == pytest.approx([12.0, 12.0, 12.0])
        renewing.cancel()

    run(story())


def test_the_health_check_fails_20_s_after_a_lease_that_nobody_renews() -> None:
    async def story() -> None:
        candidate = Candidate(LeaseServer())
        await candidate.elector.acquire()
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.seconds = candidate.elector.expires_at + 20
        assert candidate.elector.check() == ""
        loop.seconds += 0.1
        assert candidate.elector.check() == "failed election to renew leadership on lease kubesched"

    run(story())


def test_a_leader_may_write_until_its_lease_is_over_though_it_does_not_know_it_yet() -> None:
    async def story() -> None:
        candidate = Candidate(LeaseServer())
        assert not candidate.elector.may_write
        await candidate.elector.acquire()
        assert candidate.elector.may_write
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.seconds = candidate.elector.expires_at  # as after a machine was suspended
        assert candidate.elector.is_leader
        assert not candidate.elector.may_write

    run(story())


def test_the_same_trouble_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        candidate = Candidate(LeaseServer())
        candidate.client.fault = lambda method: REFUSED
        acquiring = asyncio.create_task(candidate.elector.acquire())
        await asyncio.sleep(100)
        troubles = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
        assert troubles == ["leader election: GET: refused"]
        acquiring.cancel()

    run(story())


# --- whatever happens ---


class Rivals:
    """Candidates that come, are killed, stop and lose, while requests go wrong at random."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.server = LeaseServer()
        self.is_calm = False
        self.leading: set[str] = set()
        self.n_led = 0
        self.free_at = 0.0  # since when nobody leads

    async def run(self) -> None:
        replicas = [asyncio.create_task(self.live(f"replica-{i}")) for i in range(3)]
        await asyncio.sleep(1500)
        self.is_calm = True
        calm_at = now()
        while not self.leading:  # noqa: ASYNC110 - a set
            await asyncio.sleep(0.5)
        assert now() - max(calm_at, self.free_at) < 35, "nobody leads"
        assert self.n_led > 5
        for replica in replicas:
            replica.cancel()
        for result in await asyncio.gather(*replicas, return_exceptions=True):
            assert isinstance(result, asyncio.CancelledError), result

    async def live(self, name: str) -> None:
        """One replica, started again whenever it has ended."""
        lives = 0
        while True:
            lives += 1
            await asyncio.sleep(self.random.uniform(0, 10))
            candidate = self.candidate(f"{name}.{lives}")
            life = asyncio.create_task(self.lead(candidate))
            await asyncio.wait((life,), timeout=None if self.is_calm else self.random.expovariate(1 / 60))
            life.cancel()
            await asyncio.wait((life,))
            if not life.cancelled() and (error := life.exception()) is not None:
                assert isinstance(error, LeaseLostError), error
            elif self.random.random() < 0.3:
                await candidate.elector.release()

    async def lead(self, candidate: Candidate) -> None:
        name = candidate.lock.identity
        await candidate.elector.acquire()
        assert not self.leading, f"{name} leads beside {self.leading}"
        self.leading.add(name)
        self.n_led += 1
        try:
            await candidate.elector.renew()
        finally:
            self.leading.discard(name)
            self.free_at = now()

    def candidate(self, name: str) -> Candidate:
        random = self.random
        timing = LoopTiming(rate=random.uniform(0.98, 1.02), wall=random.uniform(0, 2e9), seed=random.randrange(2**32))
        candidate = Candidate(self.server, name, times(15, random.choice((10, 14)), 2), timing)
        phase = random.uniform(0, 60)
        candidate.client.fault = lambda method: self.fault(phase)
        return candidate

    def fault(self, phase: float) -> Fault:
        if self.is_calm:
            return NO_FAULT
        is_cut_off = (now() + phase) % 60 < 20  # every replica at another time
        if self.random.random() > (0.97 if is_cut_off else 0.1):
            return NO_FAULT
        lag = self.random.expovariate(1 / 6)
        return self.random.choice((REFUSED, NO_ANSWER, LOST_ANSWER, Fault(before=lag), Fault(after=lag)))


@pytest.mark.parametrize("seed", seeds(10))
def test_there_are_never_two_leaders_and_soon_one_when_the_trouble_ends(seed: int) -> None:
    run(Rivals(seed).run())
