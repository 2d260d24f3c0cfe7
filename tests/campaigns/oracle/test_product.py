"""What answers for kubesched runs the queue too, where that tries pods as they were recorded."""

from unittest.mock import patch

from campaigns.oracle import product
from campaigns.oracle.generate import copies, is_pending, snapshot
from kubesched.framework import Framework


def case(seed: int = 3) -> dict:
    items = snapshot(seed, 6, 10, 2, ["resources"], [])
    made = [one for item in items for one in (copies(item, 8) if is_pending(item) else [item])]
    return {"snapshot": {"apiVersion": "v1", "kind": "List", "items": made}, "config": None, "place": []}


def test_pods_that_are_placed_at_once_get_the_same_nodes_from_the_queue_where_equal_ones_share_decisions() -> None:
    recorded = product.answer(case())[1]
    assert len(recorded) == 16
    assert all(line["node"] for line in recorded)
    shared = []

    def noted(self: Framework, *arguments: object) -> object:
        shared.append(found := decide(self, *arguments))  # type: ignore[arg-type]
        return found

    decide = Framework.scores_as_before
    with patch.object(Framework, "scores_as_before", noted):
        assert product.answer({**case(), "place": recorded})[1] == recorded
    assert len([one for one in shared if one is not None]) > 8


def test_a_pod_that_was_not_placed_leaves_the_queue_out() -> None:
    recorded = product.answer(case())[1]
    assert product.is_placed_at_once({**case(), "place": recorded})
    assert not product.is_placed_at_once({**case(), "place": [*recorded[1:], {**recorded[0], "node": ""}]})
