import json

import pytest

from kubesched.legacy.plugins.node_prefer_avoid_pods import NodePreferAvoidPods
from tests.plugins.one_plugin import Asked, node, pod


def named(kind: str, uid: str) -> str:
    return json.dumps({"preferAvoidPods": [{"podSignature": {"podController": {"kind": kind, "uid": uid}}}]})


def score(annotation: str, kind: str = "ReplicaSet", *, controller: bool = True) -> int:
    avoiding, new = node("n"), pod()
    avoiding["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/preferAvoidPods": annotation}
    new["metadata"]["ownerReferences"] = [{"kind": kind, "name": "web", "uid": "u1", "controller": controller}]
    return Asked(NodePreferAvoidPods(), [avoiding], new).score()["n"]


@pytest.mark.parametrize("kind", ["ReplicaSet", "ReplicationController"])
def test_a_node_that_avoids_the_pod_s_controller_scores_0(kind: str):
    assert score(named(kind, "u1"), kind) == 0


def test_kind_and_uid_have_to_be_the_same():
    assert score(named("ReplicaSet", "u2")) == 100
    assert score(named("ReplicationController", "u1")) == 100


def test_other_owners_are_not_avoided():
    assert score(named("Job", "u1"), "Job") == 100
    assert score(named("ReplicaSet", "u1"), controller=False) == 100


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"preferAvoidPods": 1}', '{"preferAvoidPods": [{}]}', "null"])
def test_an_annotation_that_names_nothing_avoids_nothing(broken: str):
    assert score(broken) == 100
