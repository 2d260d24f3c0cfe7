import time

from kubesched.cluster import Timing
from tests.cluster.fake_timing import run


def test_time_and_sleep_are_the_machines() -> None:
    timing = Timing()
    before = timing.monotonic()
    run(timing.sleep(0))
    assert before <= timing.monotonic()
    assert abs(timing.now() - time.time()) < 60
