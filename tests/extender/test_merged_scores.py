"""Weighted totals of 0..100 become one score of 0..10, exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.extender.merged_scores import extender_scores, extender_weight
from kubesched.framework import Plugin
from kubesched.testing import minimal_profile


class First(Plugin):
    def score(self, state, pod, node):
        return 0


class Second(First):
    pass


class Filter(Plugin):
    def filter(self, state, pod, node):
        raise NotImplementedError


weights = st.one_of(st.integers(1, 100), st.integers(2**55 - 100, 2**55 + 100), st.integers(1, (2**63 - 1) // 100))


@given(data=st.data(), weight=weights)
def test_scores_are_rounded_to_the_nearest_tenth_halves_up(data: st.DataObject, weight: int):
    totals = data.draw(st.lists(st.integers(0, 100 * weight), max_size=5))
    expected = [(2 * total + 10 * weight) // (20 * weight) for total in totals]
    scores = extender_scores(np.array(totals, dtype=np.int64), weight)
    assert scores.tolist() == expected
    assert scores.dtype == np.int64
    assert all(0 <= score <= 10 for score in scores)


@given(
    parts=st.lists(st.tuples(st.integers(0, 100), st.integers(1, 2**40)), min_size=1, max_size=4),
    spare=st.integers(0, 10),
)
def test_what_kube_scheduler_adds_is_the_weighted_total_to_a_tenth_of_its_range(
    parts: list[tuple[int, int]], spare: int
):
    """kube-scheduler adds score * weight * 10."""
    weight = sum(one for _, one in parts) + spare
    total = sum(score * one for score, one in parts)
    (score,) = extender_scores(np.array([total]), weight)
    assert abs(10 * weight * score - total) <= 5 * weight


@pytest.mark.parametrize(("total", "score"), [(0, 0), (4, 0), (5, 1), (14, 1), (15, 2), (94, 9), (95, 10), (100, 10)])
def test_halves_go_up(total: int, score: int):
    assert extender_scores(np.array([total]), 1).tolist() == [score]
    assert extender_scores(np.array([total * 2**56]), 2**56).tolist() == [score]


def test_without_a_weight_every_score_is_0():
    assert extender_scores(np.zeros(3, dtype=np.int64), 0).tolist() == [0, 0, 0]


def test_the_weight_of_the_extender_is_the_largest_sum_of_a_profile():
    both = minimal_profile(First(), Second(), weights={"First": 3, "Second": 4})
    one = minimal_profile(First(), Filter(), weights={"First": 6, "Filter": 90})
    assert extender_weight([one, both]) == 7
    assert extender_weight([one]) == 6
    assert extender_weight([minimal_profile(Filter())]) == 0
    assert extender_weight([]) == 0
