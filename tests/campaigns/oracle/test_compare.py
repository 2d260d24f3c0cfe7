"""What counts as a difference from a recorded case."""

import pytest

from campaigns.oracle.compare import differences

TEXT = "preemption: found a potential placement for pod on node {}, preempting {} victims"


def case(node: str, text: str) -> dict:
    line = {"pod": "default/p", "postFilterMessage": text, "preemption": [{"node": node, "victims": ["default/v"]}]}
    both = [{"node": name, "victims": ["default/v"]} for name in ("a", "b")]
    return {"eval": [], "place": [line | {"preemption": both}], "answered": [line]}


@pytest.mark.parametrize(
    ("node", "text", "n"),
    [
        ("a", TEXT.format("a", 1), 0),
        ("b", TEXT.format("b", 1), 0),
        ("b", TEXT.format("a", 2), 1),
        ("a", TEXT.format("c", 1), 1),
        ("b", "preemption: something else", 1),
    ],
)
def test_a_text_names_the_node_that_was_chosen_among_equals(node: str, text: str, n: int) -> None:
    answered = case(node, text)["answered"]
    recorded = case("a", TEXT.format("a", 1))
    assert len(list(differences(recorded, lambda _: ([], answered)))) == n


@pytest.mark.parametrize(
    ("recorded", "mine", "n"), [(0, 0, 0), (0, False, 1), (0, None, 1), ("", None, 0), ([], {}, 0)]
)
def test_empty_values_count_as_absent_and_zero_does_not(recorded: object, mine: object, n: int) -> None:
    wanted, got = ({"pod": "default/p", "filter": {"n1": value}} for value in (recorded, mine))
    assert len(list(differences({"eval": [wanted], "place": []}, lambda _: ([got], [])))) == n
