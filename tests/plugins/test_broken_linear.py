"""A broken line through points, at every whole utilization."""

import pytest

from kubesched.plugins.broken_linear import broken_linear


def test_the_line_is_level_outside_its_points() -> None:
    line = broken_linear([(20, 30), (80, 90)])
    assert (line[0], line[20], line[50], line[80], line[100], len(line)) == (30, 30, 60, 90, 90, 101)


def test_one_point_makes_a_level_line() -> None:
    assert set(broken_linear([(40, 7)]).tolist()) == {7}


@pytest.mark.parametrize(
    ("points", "x", "y"), [([(0, 0), (3, 10)], 1, 3), ([(0, 10), (3, 0)], 1, 7), ([(0, 10), (3, 0)], 2, 4)]
)
def test_divisions_go_toward_zero(points: list[tuple[int, int]], x: int, y: int) -> None:
    assert broken_linear(points)[x] == y
