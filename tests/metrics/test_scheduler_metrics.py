"""What the page of a scheduler has, whatever happens."""

import pytest

from kubesched.metrics import SchedulerMetrics
from kubesched.metrics.families import Counters, Family, Histograms, Levels


@pytest.mark.parametrize("family", [Counters("x", "X"), Histograms("x", "X", (1.0,)), Levels("x", "X")])
def test_the_page_has_each_kind_of_family(family: Family) -> None:
    class WithOneMore(SchedulerMetrics):
        def __init__(self) -> None:
            self._more = family
            super().__init__()

    names = [metric.name for metric in WithOneMore().collect()]
    assert "x" in names
    assert len(names) == len(set(names))
