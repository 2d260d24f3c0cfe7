"""A call that is late at its first look at the clock, at one in the middle and at the last one."""

import pytest

from campaigns.deadlines.late import CALLS, Call, faults
from tests.extender.asking import Looks


@pytest.mark.parametrize(("verb", "allow"), CALLS)
def test_a_late_call_is_answered_as_one(verb: str, allow: bool):
    call = Call(verb, allow)
    n_looks = call.looks()
    assert [what for look in {1, n_looks // 2, n_looks} - {0} for what in faults(call, look)] == []


def test_the_clock_is_looked_at_between_hooks_and_within_long_ones():
    assert Call("filter").looks() >= 5
    assert Call("prioritize").looks() >= 6
    assert Call("preempt").looks() >= 1


def test_an_answer_in_time_is_no_answer_of_a_late_call():
    assert list(faults(Call("filter"), 10_000)) == ["the answer does not say that it is late"]


def test_nodes_that_pass_without_permission_are_found(monkeypatch: pytest.MonkeyPatch):
    late = Call("filter", allow=True).answer(Looks(1))
    monkeypatch.setattr(Call, "answer", lambda call, looks: late)
    assert len(list(faults(Call("filter"), 1))) == 1
    assert list(faults(Call("filter", allow=True), 1)) == []
