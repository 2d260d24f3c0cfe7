import re
from pathlib import Path
from typing import get_args

import pytest

from kubesched.explanation.fix import Fix, FixKind, cost_of

OUTPUT_PAGE = Path(__file__).parents[2] / "docs/reference/output.md"
KINDS = [kind for alike in get_args(FixKind) for kind in get_args(alike)]


def fix(kind: str) -> Fix:
    return Fix("", 1, ("n1",), True, kind)


def test_the_reference_lists_each_kind_of_fix():
    (row,) = re.findall(r"^\| `fixes\[\]\.kind` \|(.*)$", OUTPUT_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(re.findall("`([a-zA-Z]+)`", row)) == sorted(KINDS)


def test_a_kind_costs_one_thing():
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.parametrize(
    ("kind", "cost"),
    [("toleration", 0), ("hostPort", 1), ("nodeCondition", 2), ("recreateClaim", 3), ("addNode+requests", 2)],
)
def test_a_fix_costs_what_its_dearest_part_costs(kind, cost):
    assert cost_of(fix(kind)) == cost


def test_a_kind_whose_cost_is_not_known_is_not_taken_as_free():
    with pytest.raises(KeyError, match="newKind"):
        cost_of(fix("newKind"))
