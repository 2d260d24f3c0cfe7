"""What a pod costs grows at most as the lists that its author writes do: work is counted in function calls.

A pod with twice as many entries may take twice as many calls. Where the work for an entry grew with the number of
entries, it would be four times as many.
"""

import cProfile
from functools import cache

import pytest
from benchmarks.lists.cluster import base
from benchmarks.lists.lists import LISTS
from benchmarks.lists.measure import Question, decoded, explain, schedule

from kubesched.api import KubeObject
from tests.trials import one_in

N_NODES, N_BESIDE, N = 12, 3, 70
AT_MOST = 2.6
ASKED = [(name, question) for name in LISTS for question in ("cycle", "preempt", "beside", "beside-preempt", "explain")]


@cache
def known() -> list[KubeObject]:
    return [decoded(one) for one in base(N_NODES, n_namespaces=5)]


def n_calls(name: str, question: str, sizes: tuple[int, ...]) -> list[int]:
    """The calls for a pod with so many entries, for each size."""
    asked = [Question(name, question, n, N_BESIDE, n_asked=1, profile=cProfile.Profile()) for n in sizes]
    (explain if question == "explain" else schedule)(asked, known(), lambda question: None)
    assert all(len(one.seconds) == 1 for one in asked)
    return [sum(entry.callcount for entry in one.profile.getstats()) for one in asked if one.profile]


@pytest.mark.parametrize(("name", "question"), one_in(2, ASKED))
def test_twice_the_entries_take_at_most_twice_the_calls(name: str, question: str) -> None:
    few, many = n_calls(name, question, (N, 2 * N))
    assert many <= AT_MOST * few
