"""A session that becomes another cluster in a fork decides as one that has loaded it, and goes back."""

import pytest
from msgspec import json

from kubesched.api import KubeObject
from kubesched.controllers import cordon
from kubesched.planning import WhatIf, new_pods
from kubesched.scheduler import TieBreak
from kubesched.session import Report, Session
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import shop
from tests.session.test_creation import added, of_manifest

SMALL = {"cpu": "2", "memory": "4Gi", "pods": "10"}
SET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "s", "controller": True}


def cluster() -> list[KubeObject]:
    """The shop, a StatefulSet that is spread over the nodes, and a quota that is used up."""
    db = [
        make_pod(f"db-{i}", node=f"n{i % 3 + 1}", requests={"cpu": "200m"}, metadata={"ownerReferences": [SET]})
        for i in range(4)
    ]
    quota = make_object(
        "ResourceQuota",
        "q",
        namespace="default",
        spec={"hard": {"pods": "9"}},
        status={"hard": {"pods": "9"}, "used": {"pods": "9"}},
    )
    return [*shop(), make_node("n3", allocatable=SMALL, zone="a"), *db, quota]


CHANGES = {
    "cordon": WhatIf(cordon=("n2",)),
    "remove": WhatIf(remove=("n1",)),
    "remove several": WhatIf(remove=("n1", "n3")),
    "add": WhatIf(add_nodes=2, like="n1"),
    "scale up": WhatIf(scale={"statefulset/db": 9}),
    "scale down": WhatIf(scale={"statefulset/db": 1}),
    "all": WhatIf(cordon=("n2",), add_nodes=1, like="n3", remove=("n1",), scale={"statefulset/db": 6}),
}


def shown(report: Report) -> bytes:
    return json.encode([report.placements, report.victims, report.nodes, report.stuck, report.devices])


@pytest.mark.parametrize("tie_break", TieBreak)
@pytest.mark.parametrize("change", CHANGES)
def test_a_session_decides_as_one_that_has_loaded_the_changed_cluster(change: str, tie_break: TieBreak) -> None:
    known = cluster()
    changed = CHANGES[change].applied(known).objects
    new = new_pods(changed, known)
    with Session(changed, new=new, tie_break=tie_break) as loaded:
        expected = shown(loaded.schedule())
    with Session(known, tie_break=tie_break) as as_it_is:
        before = shown(as_it_is.schedule())
    with Session(known, tie_break=tie_break) as session:
        for _ in range(2):
            with session.fork():
                session.become(changed, new=new)
                assert [one.key for one in session.objects_now()] == [one.key for one in changed]
                assert shown(session.schedule()) == expected
            with session.fork():
                assert shown(session.schedule()) == before


def test_a_pod_that_leaves_its_node_waits_in_its_place() -> None:
    nodes = [make_node("n1"), make_node("n2")]
    first, last = (make_pod(name, node="n1") for name in ("first", "last"))
    waits = make_pod("first")
    with Session([*nodes, first, make_pod("other"), last]) as session, session.fork():
        session.become([*nodes, waits, make_pod("other"), last], new=frozenset())
        assert [pod.key for pod in session.pods_on("n1")] == ["default/last"]
        assert [placement.pod for placement in session.schedule().placements] == ["default/first", "default/other"]


def test_a_new_pod_that_names_a_node_goes_with_it() -> None:
    nodes = [make_node("n1"), make_node("n2")]
    with Session(added(of_manifest("bound", nodeName="n1"), to=nodes)) as session:
        with session.fork():
            session.become(nodes, new=frozenset())
            assert session.schedule().placements == ()
            assert session.pods_on("n1") == []
        assert [one.pod for one in session.schedule().placements] == ["default/bound"]


def test_new_pods_that_name_their_nodes_can_run_without_kubelets() -> None:
    objects = added(of_manifest("bound", nodeName="n1"), to=[make_node("n1", allocatable=SMALL)])
    with Session(objects) as session:
        session.start_bound()
        assert [pod.key for pod in session.pods_on("n1")] == ["default/bound"]
        assert session.schedule().placements == ()


def test_a_node_that_changes_keeps_its_place() -> None:
    nodes = [make_node(name) for name in ("n1", "n2", "n3")]
    with Session([*nodes, make_pod("web")]) as session, session.fork():
        session.become([cordon(nodes[0]), *nodes[1:], make_pod("web")], new=frozenset())
        assert [placement.node for placement in session.schedule().placements] == ["n2"]
        assert session.fill().node_names == ["n1", "n2", "n3"]
