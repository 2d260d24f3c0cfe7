"""The campaign `cel` finds answers that differ, and its seeds stay the same."""

from campaigns.cel.campaign import compare
from campaigns.cel.random_expressions import expressions_of
from campaigns.cel.record import DEVICES, read_expressions
from tests.cel.recorded import recorded


def test_an_answer_that_differs_is_found():
    cases = [
        {"expression": "true", "results": [True, True, True]},
        {"expression": "false", "results": [True, False, False]},
        {"expression": "x", "results": [True, True, True]},
        {"expression": "1 / 0 == 1", "error": "division by zero"},
    ]
    assert [difference.expression for difference in compare(cases, DEVICES)] == ["false", "x", "1 / 0 == 1"]


def test_a_seed_always_gives_the_same_expressions():
    assert expressions_of(7, 20) == expressions_of(7, 20) != expressions_of(8, 20)


def test_all_expressions_of_the_file_are_recorded():
    assert [case["expression"] for case in recorded()["expressions"]] == read_expressions()
    assert recorded()["devices"] == DEVICES
