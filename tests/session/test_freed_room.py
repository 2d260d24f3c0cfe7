"""A pod that is nominated to a node where pods are being deleted for it."""

from kubesched.api import KubeObject, Pod
from kubesched.pages.simulations import report_page
from kubesched.session import Placement, Simulator
from kubesched.testing import make_node, make_pod

NODE = make_node("a", allocatable={"cpu": "4", "memory": "16Gi", "pods": "110"})
URGENT = make_pod("urgent", requests={"cpu": "3"}, priority=1000, status={"nominatedNodeName": "a"})


def on_a(name: str, cpu: str, *, leaves: bool, priority: int = 0) -> Pod:
    metadata = {"deletionTimestamp": "2026-01-01T01:00:00Z"} if leaves else {}
    return make_pod(name, node="a", requests={"cpu": cpu}, priority=priority, metadata=metadata)


def placed(*objects: KubeObject) -> Placement:
    report = Simulator([NODE, *objects]).run()
    return next(one for one in report.placements if one.pod == "default/urgent")


def why(*objects: KubeObject) -> str:
    page = report_page(Simulator([NODE, *objects]).run())
    (table,) = [table for table in page.tables if table.name == "pending"]
    return str(table.rows[0][2])


def test_it_waits_until_they_have_ended():
    victim = on_a("victim", "3", leaves=True)
    assert placed(victim, URGENT).leaving == ("default/victim",)
    said = "nominated to a: fits there once default/victim, which is being deleted, has ended"
    assert why(victim, URGENT) == said
    assert why(on_a("v1", "2", leaves=True), on_a("v2", "1", leaves=True), URGENT) == (
        "nominated to a: fits there once default/v1, default/v2, which are being deleted, have ended"
    )


def test_nothing_is_said_if_it_does_not_fit_there_without_them():
    assert (
        placed(on_a("victim", "1", leaves=True), on_a("dear", "3", leaves=False, priority=2000), URGENT).leaving == ()
    )


def test_nothing_is_said_of_pods_that_stay_or_are_more_important():
    assert placed(on_a("dear", "3", leaves=True, priority=2000), URGENT).leaving == ()
    assert placed(on_a("dear", "3", leaves=False, priority=2000), URGENT).leaving == ()


def test_another_pod_that_is_nominated_there_keeps_its_room_from_it():
    first = make_pod("first", requests={"cpu": "3"}, priority=2000, status={"nominatedNodeName": "a"})
    assert placed(on_a("victim", "3", leaves=True), first, URGENT).leaving == ()
