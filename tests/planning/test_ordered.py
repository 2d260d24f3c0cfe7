"""What a StatefulSet creates while one of its pods stays pending."""

import pytest

from kubesched.planning import WhatIf, compared, new_pods
from kubesched.session import PodState, Session
from kubesched.snapshot import ClusterObjects, only_read_fields
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import owned_by

SMALL = {"cpu": "1", "pods": "9"}


def db(i, node="", **fields):
    own = {"labels": {"app": "db"}, "metadata": owned_by("StatefulSet", "db")} | fields
    return make_pod(f"db-{i}", node=node, **own)


def stateful_set(policy):
    spec = {"podManagementPolicy": policy} if policy else {}
    return make_object("StatefulSet", "db", namespace="default", spec=spec)


def outcome(objects, what_if):
    with Session(objects, new=new_pods(objects)) as session:
        answer = compared(session, what_if.applied(objects))
    report, found = answer.report, answer.difference
    return {one.pod.partition("/")[2]: one.node or one.state for one in report.placements}, report, found


NOT_CREATED = "its StatefulSet would not create it before default/db-2 is ready (podManagementPolicy OrderedReady"


@pytest.mark.parametrize("objects", [[], [stateful_set("")], [stateful_set("OrderedReady")]])
def test_an_ordered_set_creates_no_pod_after_the_first_that_stays_pending(objects):
    running = [db(i, f"n{i}", requests={"cpu": "1"}) for i in range(2)]
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(2)]
    placed, report, found = outcome([*nodes, *objects, *running], WhatIf(scale={"statefulset/db": 5}))
    left, never = PodState.UNSCHEDULABLE, PodState.NOT_TRIED
    assert placed == {"db-2": left, "db-3": never, "db-4": never}
    assert all(one.message.startswith(NOT_CREATED) for one in report.placements[1:])
    assert [one.owner for one in report.placements] == ["StatefulSet/db"] * 3
    assert (found.pending, found.new_placed, len(found.new)) == (1, 0, 3)


def test_pods_that_are_not_created_take_no_room():
    newest = {**owned_by("StatefulSet", "db"), "creationTimestamp": "2026-01-01T00:00:00Z"}
    small, large = db(0, "n0", requests={"cpu": "1"}, metadata=newest), db(1, requests={"cpu": "9"})
    low = make_pod("low", requests={"cpu": "1"}, priority=-1)
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(2)]
    placed, _, _ = outcome([*nodes, small, large, low], WhatIf(scale={"statefulset/db": 3}))
    assert placed == {"db-1": PodState.UNSCHEDULABLE, "low": "n1", "db-2": PodState.NOT_TRIED}


def test_a_parallel_set_creates_all_pods():
    nodes = [make_node("n0", allocatable=SMALL)]
    running = db(0, "n0", requests={"cpu": "1"})
    placed, _, _ = outcome([*nodes, stateful_set("Parallel"), running], WhatIf(scale={"statefulset/db": 3}))
    assert placed == {"db-1": PodState.UNSCHEDULABLE, "db-2": PodState.UNSCHEDULABLE}


def test_re_created_pods_come_in_their_order():
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(2)]
    running = [db(i, "n0", requests={"cpu": cpu}) for i, cpu in enumerate(("2", "100m"))]
    placed, _, _ = outcome([*nodes, *running], WhatIf(remove=("n0",)))
    assert placed == {"db-0": PodState.UNSCHEDULABLE, "db-1": PodState.NOT_TRIED}


def test_pods_that_exist_are_not_left_out():
    pending = [db(i, requests={"cpu": "9"}) for i in range(2)]
    placed, _, _ = outcome([make_node("n0", allocatable=SMALL), *pending], WhatIf(cordon=("n0",)))
    assert set(placed.values()) == {PodState.UNSCHEDULABLE}


def test_a_reduced_snapshot_has_what_a_scaled_set_needs():
    spec = {"podManagementPolicy": "Parallel", "ordinals": {"start": 5}, "serviceName": "db"}
    cluster = [make_node("n0", allocatable=SMALL), make_object("StatefulSet", "db", namespace="default", spec=spec)]
    cluster.append(db(5, "n0", requests={"cpu": "1"}))
    reduced = only_read_fields(ClusterObjects(tuple(cluster))).objects
    assert b"serviceName" not in reduced[1].raw
    placed, _, _ = outcome(reduced, WhatIf(scale={"statefulset/db": 3}))
    assert placed == {"db-6": PodState.UNSCHEDULABLE, "db-7": PodState.UNSCHEDULABLE}


def test_a_pod_follows_the_one_before_it_wherever_the_room_comes_from():
    """b-0 stays pending forever: the pods after it take no room from a, whose pods all fit."""
    nodes = [
        make_node("n1", allocatable={"cpu": "4", "pods": "9"}),
        make_node("n2", allocatable={"cpu": "8", "pods": "9"}),
    ]
    stuck = {"labels": {"app": "b"}, "metadata": owned_by("StatefulSet", "b"), "requests": {"cpu": "1"}}
    b = [make_pod("b-0", node="n2", node_selector={"gone": "yes"}, **stuck)]
    b += [make_pod(f"b-{i}", node="n2", **stuck) for i in (1, 2)]
    a = [db(i, "n2", requests={"cpu": "1"}) for i in range(4)]
    placed, _, _ = outcome([*nodes, *b, *a], WhatIf(remove=("n2",)))
    left = {"b-0": PodState.UNSCHEDULABLE, "b-1": PodState.NOT_TRIED, "b-2": PodState.NOT_TRIED}
    assert placed == left | {f"db-{i}": "n1" for i in range(4)}


def test_an_assumed_policy_is_reported_as_assumed():
    cluster = [make_node("n0", allocatable=SMALL), db(0, "n0", requests={"cpu": "1"})]
    _, report, _ = outcome(cluster, WhatIf(scale={"statefulset/db": 3}))
    assert "OrderedReady is assumed: the snapshot does not have the StatefulSet" in report.placements[1].message
    _, report, _ = outcome([*cluster, stateful_set("")], WhatIf(scale={"statefulset/db": 3}))
    assert report.placements[1].message.endswith("(podManagementPolicy OrderedReady)")
