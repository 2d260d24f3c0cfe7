"""A change of a spread constraint is tried for all pods of the workload that wait, and not for the first one alone."""

import pytest

from kubesched.explanation import Explainer, explain
from kubesched.pages.explanations import explanation_page
from kubesched.pages.formats import as_text
from kubesched.planning import simulate
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import ZONE

ROOM = {"cpu": "10", "pods": "20"}


def web(i: int, node: str = "", skew: int = 1, owner: str = "web"):
    """A replica of a workload that is spread over zones."""
    rule = {
        "maxSkew": skew,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    of = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
    spec = {"topologySpreadConstraints": [rule]}
    about = {"ownerReferences": [of]}
    return make_pod(f"web-{i}", labels={"app": "web"}, requests={"cpu": "1"}, node=node, metadata=about, spec=spec)


def cluster(n: int) -> list:
    """Zone b is full of other pods; zone a has room; each has one replica, n wait."""
    nodes = [make_node("a1", zone="a", allocatable=ROOM), make_node("b1", zone="b", allocatable=ROOM)]
    full = make_pod("full", node="b1", requests={"cpu": "9"})
    return [*nodes, full, web(0, "a1"), web(1, "b1"), *(web(i) for i in range(2, 3 + n))]


def test_the_skew_is_as_large_as_all_pods_need():
    """The first of six fits, so that five are left; with a skew of 2 only one of them would fit."""
    (first, *others) = [one for one in simulate(cluster(5)).placements if one.is_left_pending]
    assert len(others) == 4
    assert first.fix == "set whenUnsatisfiable: ScheduleAnyway for the spread over zone -> 1 node"
    with Explainer(cluster(5)) as explainer:
        fixes = explainer.fixes(explainer.evaluate("default/web-2"))
    assert not fixes, "it fits alone"


def left(n: int, **more) -> dict[str, tuple[int, int]]:
    """Text -> how many of some pods get a node with the fix, where one pod more is in zone a."""
    objects = [*cluster(n)[:-1], web(99, "a1")]
    fixes = explain(objects, "default/web-2", **more).fixes
    return {fix.text: (fix.n_pods, fix.n_equal) for fix in fixes}


def test_of_a_ladder_the_first_step_for_all_pods_is_offered():
    assert left(1)["set maxSkew: 2 for the spread over zone"] == (1, 1)
    every = left(4)
    assert every["set maxSkew: 5 for the spread over zone"] == (4, 4)
    assert not [text for text in every if text.startswith("set maxSkew: 2")]
    assert every["set whenUnsatisfiable: ScheduleAnyway for the spread over zone"] == (4, 4)


def test_a_fix_for_a_part_says_for_how_many_and_comes_after_those_for_all():
    """Zone a has room for three pods more."""
    objects = [*cluster(5)[:-1], web(99, "a1"), make_pod("other", node="a1", requests={"cpu": "5"})]
    explanation = explain(objects, "default/web-2")
    skew = next(fix for fix in explanation.fixes if fix.text.startswith("set maxSkew"))
    assert (skew.text, str(skew)) == (
        "set maxSkew: 4 for the spread over zone",
        "set maxSkew: 4 for the spread over zone -> 3 of 5 pods",
    )
    assert f"{skew.text} (3 of 5 pods)" in as_text(explanation_page(explanation), width=200)


def test_of_many_pods_some_are_tried():
    """Zone a has room for eight or for eighteen pods more."""
    for room, placed in (("10", 8), ("20", 30)):
        objects = [one for one in cluster(30)[:-1] if one.name != "a1"]
        objects += [make_node("a1", zone="a", allocatable={"cpu": room, "pods": "40"}), web(99, "a1")]
        fixes = explain(objects, "default/web-2").fixes
        assert {(fix.n_pods, fix.n_equal) for fix in fixes if fix.kind == "scheduleAnyway"} == {(placed, 30)}


@pytest.mark.parametrize("owner", ["web", "other"])
def test_only_pods_of_the_workload_count(owner: str):
    objects = [*cluster(1)[:-1], web(99, "a1"), *(web(i, owner=owner) for i in range(3, 6))]
    fixes = explain(objects, "default/web-2").fixes
    assert {fix.n_equal for fix in fixes if fix.kind == "maxSkew"} == {4 if owner == "web" else 1}
