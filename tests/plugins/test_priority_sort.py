from types import SimpleNamespace

from kubesched.plugins.priority_sort import PrioritySort
from tests.plugins.one_plugin import pod, read_pod


def key(timestamp: float, **spec: object) -> tuple[int, float]:
    return PrioritySort().sort_key(SimpleNamespace(pod=read_pod(pod(**spec)), timestamp=timestamp))


def test_the_higher_priority_goes_first():
    assert key(9.0, priority=5) < key(1.0, priority=4)


def test_among_equals_the_one_that_waited_longer_goes_first():
    assert key(1.0, priority=5) < key(2.0, priority=5)


def test_no_priority_is_priority_0():
    assert key(1.0) == key(1.0, priority=0) < key(1.0, priority=-1)
