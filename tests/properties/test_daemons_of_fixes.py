"""A node that a fix adds or repairs has the pods of its DaemonSets before the fix counts on its room."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import KubeObject, Node, Pod
from kubesched.controllers import may_run_daemon, unpinned
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_pod
from tests.clusters import MIN_NODES, SHAPES, realistic
from tests.explanation.asking import fixes_of
from tests.properties.test_fixes import offered
from tests.trials import examples

KINDS = ("addNode", "nodeCondition")
BROKEN = "node.kubernetes.io/not-ready:NoSchedule"


def daemons(objects: list[KubeObject]) -> dict[str, Pod]:
    """The uid of each DaemonSet -> one of its pods."""
    pods = (one for one in objects if isinstance(one, Pod) and one.node_name)
    owners = ((pod.metadata.controller, pod) for pod in pods)
    return {owner.uid: pod for owner, pod in owners if owner is not None and owner.kind == "DaemonSet"}


def without_daemons(before: list[KubeObject], after: list[KubeObject]) -> list[tuple[str, str]]:
    """The nodes that are new or other than before, with the DaemonSets that would run there and have no pod."""
    nodes = {one.name: one for one in before if isinstance(one, Node)}
    changed = [one for one in after if isinstance(one, Node) and nodes.get(one.name) != one]
    there = {(one.node_name, owner.uid) for one in after if isinstance(one, Pod) and (owner := one.metadata.controller)}
    wanted = daemons(before).items()
    runs = [(node.name, uid) for node in changed for uid, pod in wanted if may_run_daemon(unpinned(pod), node)]
    return [one for one in runs if one not in there]


@pytest.mark.parametrize("shape", SHAPES)
def test_on_generated_clusters(shape: str) -> None:
    cluster = list(load_snapshot(io.BytesIO(realistic(shape, MIN_NODES, seed=3))))
    fixes = [(pod, fix) for pod, fix in offered(cluster, None) if set(fix.kind.split("+")) & set(KINDS)]
    assert fixes
    for pod, fix in fixes:
        objects, _ = fix.change.apply([one for one in cluster if one is not pod], pod)
        assert without_daemons(cluster, objects) == [], fix.text


@examples(20)
@given(agent=st.integers(0, 2000), wanted=st.integers(100, 2000), is_broken=st.booleans())
def test_the_room_of_daemons_is_taken(agent: int, wanted: int, is_broken: bool) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "agent", "controller": True}
    room = {"cpu": "2", "pods": "9"}
    broken = [make_node("broken", allocatable=room, taints=[BROKEN])] if is_broken else []
    there = make_pod("agent-1", node="n1", requests={"cpu": f"{agent}m"}, metadata={"ownerReferences": [owner]})
    full = make_pod("full", node="n1", requests={"cpu": f"{2000 - agent}m"})
    pod = make_pod("p", requests={"cpu": f"{wanted}m"})
    fixes = fixes_of(pod, make_node("n1", allocatable=room), *broken, there, full)
    fits = wanted + agent <= 2000
    assert ("make broken ready" in fixes) is (is_broken and fits)
    assert ("add a node like n1" in fixes) is fits
