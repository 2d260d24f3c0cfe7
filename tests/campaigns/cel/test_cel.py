"""The campaign `cel` finds answers that differ, and its seeds stay the same."""

from campaigns.cel.campaign import compare
from campaigns.cel.random_expressions import expressions_of
from campaigns.cel.record import DEVICES, read_expressions
from campaigns.cel.second_judge import judged, plain
from tests.cel.recorded import recorded


def test_an_answer_that_differs_is_found():
    cases = [
        {"expression": "true", "results": [True, True, True]},
        {"expression": "false", "results": [True, False, False]},
        {"expression": "x", "results": [True, True, True]},
        {"expression": "1 / 0 == 1", "error": "division by zero"},
        {"expression": "1 == 1", "results": ["internal error: interface conversion: *types.Err"] * 3},
    ]
    assert [difference.expression for difference in compare(cases, DEVICES)] == ["false", "x", "1 / 0 == 1"]


def test_a_seed_always_gives_the_same_expressions():
    assert expressions_of(7, 20) == expressions_of(7, 20) != expressions_of(8, 20)


def test_all_expressions_of_the_file_are_recorded():
    assert [case["expression"] for case in recorded()["expressions"]] == read_expressions()
    assert recorded()["devices"] == DEVICES


class Judge:
    """Knows three expressions."""

    ANSWERS = {"true": [True] * 3, "false": [True, False, None], "1 / 0 == 1": [None] * 3}

    def answers(self, expression: str, devices: list[dict]) -> list[object] | None:
        return self.ANSWERS.get(expression)


def test_what_a_second_judge_answers_is_beside_our_answers():
    found = list(judged(Judge(), ["true", "false", "1 / 0 == 1", "1 == 1"], DEVICES))
    assert [expression for expression, expected, mine in found if expected != mine] == ["false"]
    assert len(found) == 3


def test_devices_are_maps_for_the_second_judge():
    device = plain(DEVICES[0])
    assert device["attributes"]["gpu.example.com"]["model"] == "A100"
    assert device["attributes"]["other.com"] == {"x": -5}
    assert plain(DEVICES[2])["attributes"]["gpu.example.com"] == {}
