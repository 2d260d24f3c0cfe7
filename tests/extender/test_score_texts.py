"""The kept entries of the prioritize answer are those of the nodes that have the rows now."""

import json

import numpy as np

from kubesched.api import EventType, WatchEvent
from kubesched.extender.score_texts import ScoreTexts
from kubesched.state import ClusterState
from kubesched.testing import make_node


def entries(texts: ScoreTexts, rows: list[int], scores: list[int], epoch: object) -> list[dict[str, object]]:
    found = texts.entries(np.array(rows, dtype=np.intp), np.array(scores), epoch)
    return [json.loads(entry) for entry in found]


def test_each_row_gets_its_node_and_score():
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node(name)) for name in ("n1", "n2", "n3")])
    texts = ScoreTexts(cluster_state.columns)
    rows = [cluster_state.columns.row_of[name] for name in ("n3", "n1")]
    assert entries(texts, rows, [10, 0], "first") == [{"Host": "n3", "Score": 10}, {"Host": "n1", "Score": 0}]


def test_a_row_that_changed_hands_names_its_new_node():
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node(name)) for name in ("n1", "n2")])
    texts = ScoreTexts(cluster_state.columns)
    row = cluster_state.columns.row_of["n1"]
    entries(texts, [row], [1], "first")
    cluster_state.apply(WatchEvent(EventType.DELETED, "Node", make_node("n1")))
    for name in ("n3", "n4"):
        cluster_state.apply(WatchEvent(EventType.ADDED, "Node", make_node(name)))
    assert cluster_state.columns.row_of["n3"] == row
    last = cluster_state.columns.row_of["n4"]
    assert entries(texts, [row, last], [1, 2], "second") == [{"Host": "n3", "Score": 1}, {"Host": "n4", "Score": 2}]
