"""What is wrong with the API server in a storm, as a proxy makes it."""

from campaigns.faults.fault import Fault
from campaigns.faults.fault_proxy import FaultProxy

SLOW_RATE, SLOW_SECONDS = 0.2, 0.3
BIND_RATE = 0.003  # low, because a refused pod waits a second or more, which would be the p99
BUSY_RATE = 0.02


def slow_down(proxy: FaultProxy) -> None:
    """Begin to be slow, until `proxy.calm()`."""
    proxy.slow_rate, proxy.slow_seconds, proxy.bind_rate = SLOW_RATE, SLOW_SECONDS, BIND_RATE
    proxy.make(Fault(verb="patch", share=BUSY_RATE, status=429, headers={"Retry-After": "1"}))
