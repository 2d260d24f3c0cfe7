import sys
import time

import pytest

from kubesched.cluster import Timing
from tests.cluster.fake_timing import run


def test_time_and_sleep_are_the_machines() -> None:
    timing = Timing()
    before = timing.monotonic()
    run(timing.sleep(0))
    assert before <= timing.monotonic()
    assert abs(timing.now() - time.time()) < 60


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such clock")
def test_seconds_in_which_the_machine_was_suspended_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {time.CLOCK_MONOTONIC: 100.0, time.CLOCK_BOOTTIME: 3700.0}
    monkeypatch.setattr(time, "clock_gettime", clocks.__getitem__)
    monkeypatch.setattr(time, "monotonic", lambda: clocks[time.CLOCK_MONOTONIC])
    assert Timing().monotonic() == 3700.0
