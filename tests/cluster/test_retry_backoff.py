from kubesched.cluster.pacing import Backoff
from tests.cluster.fake_timing import FakeTiming


def test_delays_double_up_to_the_longest() -> None:
    backoff = Backoff(FakeTiming())
    assert [backoff.next() for _ in range(7)] == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0]


def test_chance_adds_up_to_as_much_again() -> None:
    timing = FakeTiming()
    timing.rng.random = lambda: 0.5  # type: ignore[method-assign]
    assert Backoff(timing).next() == 0.8 * 1.5


def test_after_two_quiet_minutes_the_delays_begin_again() -> None:
    timing = FakeTiming()
    backoff = Backoff(timing)
    assert [backoff.next(), backoff.next()] == [0.8, 1.6]
    timing.seconds += 119
    assert backoff.next() == 3.2
    timing.seconds += 121
    assert backoff.next() == 0.8
