"""Time that passes when the simulator says so."""

from kubesched.framework import VirtualClock


def test_time_stands_still_until_it_is_moved_and_never_goes_back() -> None:
    clock = VirtualClock()
    assert (clock.now(), clock.monotonic()) == (0.0, 0.0)
    clock.advance_to(7.5)
    clock.advance_to(3.0)
    assert (clock.now(), clock.monotonic()) == (7.5, 7.5)
