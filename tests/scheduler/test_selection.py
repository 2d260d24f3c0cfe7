"""How many nodes are looked at, and which of equally good ones is taken."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.scheduler import TieBreak, default_sample, nodes_to_find, select_best


def heap_root(totals: list[int]) -> int:
    """What kube-scheduler v1.36 does: a max-heap built bottom-up; only strictly better children move up."""
    heap = list(range(len(totals)))

    def sift_down(parent: int) -> None:
        while (left := 2 * parent + 1) < len(heap):
            right = left + 1
            child = right if right < len(heap) and totals[heap[right]] > totals[heap[left]] else left
            if totals[heap[child]] <= totals[heap[parent]]:
                return
            heap[parent], heap[child] = heap[child], heap[parent]
            parent = child

    for parent in range(len(heap) // 2 - 1, -1, -1):
        sift_down(parent)
    return heap[0]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_upstream_takes_the_root_of_its_heap(totals: list[int]) -> None:
    assert select_best(np.array(totals), TieBreak.UPSTREAM, None, Random(0)) == heap_root(totals)


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=20).flatmap(
        lambda t: st.tuples(st.just(t), st.permutations(range(len(t))))
    )
)
def test_upstream_lists_nodes_in_the_order_of_its_search(case: tuple[list[int], list[int]]) -> None:
    totals, order = case
    best = select_best(np.array(totals), TieBreak.UPSTREAM, np.argsort(order).take, Random(0))
    assert best == order[heap_root([totals[position] for position in order])]


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=20))
def test_first_takes_the_first_of_the_best(totals: list[int]) -> None:
    assert select_best(np.array(totals), TieBreak.FIRST, None, Random(0)) == totals.index(max(totals))


def test_random_takes_any_of_the_best_as_the_seed_says() -> None:
    totals = np.array([1, 7, 7, 0, 7])
    taken = [select_best(totals, TieBreak.RANDOM, None, Random(seed)) for seed in range(40)]
    assert set(taken) == {1, 2, 4}
    assert taken == [select_best(totals, TieBreak.RANDOM, None, Random(seed)) for seed in range(40)]


@pytest.mark.parametrize(
    ("n_nodes", "percentage", "found"),
    [
        (99, 5, 99),
        (100, 5, 100),
        (1000, 5, 100),
        (5000, 30, 1500),
        (5000, 99, 4950),
        (333, 50, 166),
        (5000, 100, 5000),
        (5000, 0, 5000),
        (5000, -1, 5000),
    ],
)
def test_a_share_of_the_nodes_is_looked_for_but_at_least_100(n_nodes: int, percentage: int, found: int) -> None:
    assert nodes_to_find(n_nodes, percentage) == found


@pytest.mark.parametrize(
    ("n_nodes", "found"), [(50, 50), (100, 100), (200, 100), (1000, 420), (5000, 500), (6000, 300), (50000, 2500)]
)
def test_the_default_sample_shrinks_with_the_cluster(n_nodes: int, found: int) -> None:
    assert default_sample(n_nodes) == found
