"""The campaign `devices` finds what differs, and lets pass what kube-scheduler leaves to chance."""

from typing import Any

import pytest

from campaigns.devices.compare import differences
from campaigns.devices.generate import snapshot

USER = {"resource": "pods", "name": "p", "uid": "u"}
FAILED = 'running "DynamicResources" filter plugin: {}'


def fields_that_differ(recorded: dict[str, Any], said: dict[str, Any]) -> list[str]:
    case = {"eval": [], "place": [{"pod": "p", **recorded}]}
    return [field for field, *_ in differences(case, lambda _: ([], [{"pod": "p", **said}]))]


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ({"node": "a"}, {"node": "b"}),
        ({"node": "a"}, {}),
        ({}, {"node": "a"}),
        ({"preemption": [{"node": "a"}]}, {"preemption": [{"node": "b"}]}),
        ({"claims": [{"claim": "c", "reservedFor": [USER]}]}, {"claims": [{"claim": "c"}]}),
        ({"postFilterMessage": f"[{FAILED.format('a')}]"}, {"postFilterMessage": f"[{FAILED.format('b')}]"}),
    ],
)
def test_another_answer_is_a_difference(recorded, said):
    assert fields_that_differ(recorded, said) == [f"place.{next(iter({**recorded, **said}))}"]


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ({"preemption": [{"node": "a"}, {"node": "b"}]}, {"preemption": [{"node": "b"}]}),
        ({"deallocated": ["a", "b"]}, {"deallocated": ["b"]}),
        ({"claims": [{"reservedFor": [USER, USER]}]}, {"claims": [{"reservedFor": [USER]}]}),
        (
            {"postFilterMessage": f"preemption: [{FAILED.format('a')}, {FAILED.format('b')}]"},
            {"postFilterMessage": f"preemption: [{FAILED.format('b')}, {FAILED.format('a')}]"},
        ),
        ({"postFilterMessage": ["on node a", "on node b"]}, {"postFilterMessage": "on node b"}),
        ({"node": "a"}, {"undecided": "too many choices"}),
    ],
)
def test_what_is_left_to_chance_is_not(recorded, said):
    assert fields_that_differ(recorded, said) == []


def test_of_a_version_that_takes_any_device_only_the_nodes_that_fit_are_compared():
    case = {"version": "v1.35.4", "eval": [{"pod": "p", "feasible": ["a"], "message": "m"}], "place": []}
    said = [{"pod": "p", "feasible": ["a"]}]
    assert list(differences(case, lambda _: (said, [{"pod": "p", "node": "a"}]))) == []
    assert list(differences({**case, "version": "v1.36.3"}, lambda _: (said, []))) != []
    assert list(differences(case, lambda _: ([{"pod": "p"}], []))) == [("eval.feasible", "p", ["a"], None)]


def test_a_seed_always_gives_the_same_cluster():
    assert snapshot(7, 3, 2, 4) == snapshot(7, 3, 2, 4) != snapshot(8, 3, 2, 4)
