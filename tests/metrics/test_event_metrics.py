"""What the page says about events that were not written."""

from collections import Counter

from prometheus_client import CollectorRegistry

from kubesched.cluster import Discard
from kubesched.metrics import EventMetrics


def test_every_reason_is_on_the_page_from_the_start_and_counts() -> None:
    registry, discarded = CollectorRegistry(), Counter(dict.fromkeys(Discard, 0))
    registry.register(EventMetrics(discarded))

    def value(reason: str) -> float | None:
        return registry.get_sample_value("kubesched_events_discarded_total", {"reason": reason})

    assert {value(reason.value) for reason in Discard} == {0}
    discarded[Discard.QUEUE_FULL] += 3
    assert (value("queue_full"), value("refused")) == (3, 0)
