import re
from pathlib import Path
from typing import get_args

import pytest

from kubesched.explanation.effort import Effort, FixKind, usual_effort

OUTPUT_PAGE = Path(__file__).parents[2] / "docs/reference/output.md"
KINDS = [kind for alike in get_args(FixKind) for kind in get_args(alike)]


def test_the_reference_lists_each_kind_of_fix():
    (row,) = re.findall(r"^\| `fixes\[\]\.kind` \|(.*)$", OUTPUT_PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(re.findall("`([a-zA-Z]+)`", row)) == sorted(KINDS)


def test_a_kind_costs_one_thing():
    assert len(set(KINDS)) == len(KINDS)


@pytest.mark.parametrize(
    ("kind", "cost"),
    [
        ("toleration", Effort.ADAPT),
        ("hostPort", Effort.MOVE),
        ("nodeCondition", Effort.REPAIR),
        ("addNode", Effort.ADD),
        ("recreateClaim", Effort.DATA),
    ],
)
def test_a_kind_costs_what_its_work_costs(kind, cost):
    assert usual_effort(kind, keeps_intent=True) is cost


def test_a_small_change_that_drops_the_intent_drops_a_rule():
    assert usual_effort("nodeSelector", keeps_intent=False) is Effort.DROP


def test_a_kind_whose_cost_is_not_known_is_not_taken_as_free():
    with pytest.raises(KeyError, match="newKind"):
        usual_effort("newKind", keeps_intent=True)
