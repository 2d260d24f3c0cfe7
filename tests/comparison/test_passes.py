"""A comparison finds the pods that no side places with as few runs as decide it."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubesched.comparison.passes import Pass
from tests.trials import examples

PODS = ("a", "b", "c", "new")
RUNNING = {"a", "b", "c"}
Pending = list[set[str]]


class RecordedRuns:
    """Gives runs whose pending pods are written down, and counts them."""

    def __init__(self, *sides: Pending) -> None:
        self.sides = sides
        self.seeds: list[int] = []

    def random(self, seeds: Sequence[int]) -> tuple[list[Any], ...]:
        self.seeds += seeds
        return tuple([SimpleNamespace(pending=sorted(side[seed - 1])) for seed in seeds] for side in self.sides)


def a_pass(*sides: Pending) -> tuple[Pass, RecordedRuns]:
    runs: Any = RecordedRuns(*sides)
    return Pass([], runs, RUNNING), runs


def pending_in(n_runs: int) -> st.SearchStrategy[Pending]:
    return st.lists(st.sets(st.sampled_from(PODS)), min_size=n_runs, max_size=n_runs)


@given(st.integers(1, 9).flatmap(lambda n: st.tuples(pending_in(n), pending_in(n))))
@examples(100)
def test_fewer_runs_find_the_pods_that_all_runs_find(sides: tuple[Pending, Pending]):
    n_runs = len(sides[0])
    both, runs = a_pass(*sides)
    often = [{pod for pod in RUNNING if 2 * sum(pod in run for run in side) > n_runs} for side in sides]
    assert {*both.neither(n_runs)} == often[0] & often[1]
    both.carry_out(n_runs)
    assert runs.seeds == [*range(1, n_runs + 1)]
    assert [{*pods} for pods in both.not_placed()] == often


def test_runs_that_agree_are_enough_when_they_are_most():
    both, runs = a_pass([{"a"}] * 5, [{"a", "b"}] * 5)
    assert both.neither(5) == ["a"]
    assert runs.seeds == [1, 2, 3]


def test_all_runs_decide_where_the_first_do_not_agree():
    both, runs = a_pass([{"a"}] * 5, [{"a"}, set(), {"a"}, {"a"}, set()])
    assert both.neither(5) == ["a"]
    assert runs.seeds == [1, 2, 3, 4, 5]
