"""Moved pods, against a count by hand: replicas that swap nodes have not moved."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.comparison.replicas import NOWHERE, find_moved


def moved(replicas: str, a: str, b: str) -> list[tuple[int, int]]:
    """Of pods whose groups of replicas and nodes are a letter each; a dot is no node."""
    numbers = [np.array([NOWHERE if one == "." else ord(one) for one in text], np.int32) for text in (replicas, a, b)]
    return [(int(one), int(other)) for one, other in zip(*find_moved(*numbers), strict=True)]


@pytest.mark.parametrize(
    ("replicas", "a", "b", "pairs"),
    [
        ("", "", "", []),
        ("ww", "ab", "ba", []),
        ("www", "aab", "abb", [(1, 1)]),
        ("www", "abc", "bcd", [(0, 2)]),
        ("www", "ab.", "a.b", []),
        ("www", "abc", "ad.", [(1, 1)]),
        ("ww", "a.", ".b", [(0, 1)]),
        ("ww", "..", "ab", []),
        ("wx", "ab", "ba", [(0, 0), (1, 1)]),
        ("wxwx", "aabb", "bbaa", []),
        ("wwww", "abcd", "bxyd", [(2, 2), (0, 1)]),
    ],
)
def test_replicas_are_interchangeable(replicas: str, a: str, b: str, pairs: list[tuple[int, int]]):
    assert moved(replicas, a, b) == pairs


@given(st.lists(st.tuples(*[st.sampled_from(letters) for letters in ("wxy", ".abc", ".abc")]), max_size=12))
def test_as_many_move_as_the_nodes_of_a_workload_differ(pods: list[tuple[str, str, str]]):
    workloads, a, b = ("".join(letters) for letters in zip(*pods, strict=True)) if pods else ("", "", "")
    pairs = moved(workloads, a, b)
    for workload in "wxy":
        nodes = [Counter(pod[side] for pod in pods if pod[0] == workload and pod[side] != ".") for side in (1, 2)]
        gone, new = nodes[0] - nodes[1], nodes[1] - nodes[0]
        of_workload = [pair for pair in pairs if workloads[pair[0]] == workload]
        assert len(of_workload) == min(gone.total(), new.total())
        assert not Counter(a[one] for one, _ in of_workload) - gone
        assert not Counter(b[other] for _, other in of_workload) - new
    assert all(workloads[one] == workloads[other] for one, other in pairs)
    for side in (0, 1):
        assert len({pair[side] for pair in pairs}) == len(pairs)
