import pytest

from kubesched.cluster.rate_limit import RateLimit
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
