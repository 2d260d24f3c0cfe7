import asyncio

import pytest

from kubesched.cluster.pacing import RateLimit
from tests.cluster.fake_timing import FakeTiming, run


async def acquire(limit: RateLimit, times: int) -> None:
    for _ in range(times):
        await limit.acquire()


def test_a_burst_goes_out_at_once_and_the_rest_at_the_rate() -> None:
    timing = FakeTiming()
    run(acquire(RateLimit(10, 3, timing), 5))
    assert timing.naps == pytest.approx([0.1, 0.1])


def test_a_quiet_time_fills_the_bucket_and_no_more() -> None:
    timing = FakeTiming()
    limit = RateLimit(10, 2, timing)
    run(acquire(limit, 2))
    timing.seconds += 100
    run(acquire(limit, 3))
    assert timing.naps == pytest.approx([0.1])


def test_without_a_rate_nobody_waits() -> None:
    timing = FakeTiming()
    run(acquire(RateLimit(0, 1, timing), 100))
    assert timing.naps == []


def test_a_request_has_one_patient_request_before_it_at_most() -> None:
    timing = FakeTiming()
    limit = RateLimit(10, 1, timing)
    order: list[str] = []

    async def acquire(name: str, *, is_patient: bool) -> None:
        await limit.acquire(is_patient=is_patient)
        order.append(name)

    async def scenario() -> None:
        async with asyncio.TaskGroup() as group:
            for i in range(20):
                group.create_task(acquire(f"patch {i}", is_patient=True))
            await asyncio.sleep(0)
            group.create_task(acquire("binding", is_patient=False))

    run(scenario())
    assert order.index("binding") <= 2, order
    assert [name for name in order if name != "binding"] == [f"patch {i}" for i in range(20)]
    assert sum(timing.naps) >= 1.9
