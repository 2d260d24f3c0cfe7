"""What `kubectl drain` does with each kind of pod, and what disruption budgets allow in which step."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kubesched import InputError, Plugin, Simulator, Status, drain
from kubesched.api import KubeObject, Pod, decode_object, rewritten
from kubesched.pages.formats import as_text
from kubesched.pages.plans import drain_page, each_page
from kubesched.planning import BudgetUse, Drain, Drainer, Fate
from kubesched.setup import set_up
from kubesched.snapshot import ClusterObjects
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.claiming import CLASS, decoded, gpu
from tests.planning.drain_clusters import budget, owned_by
from tests.plugins.dynamic_resources.device_objects import ask, resource_slice

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
WEB = {"app": "web"}
ON_N1 = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}
HERE = {"nodeSelectorTerms": [{"matchExpressions": [ON_N1]}]}


def web(name: str, node: str = "n1", **fields: Any) -> Pod:
    given = {"labels": WEB, "requests": {"cpu": "1"}, "metadata": owned_by("ReplicaSet", "web-5d8"), **fields}
    return make_pod(name, node=node, **given)


def nodes(n: int) -> list[KubeObject]:
    return [make_node(f"n{i}", allocatable=ROOM) for i in range(1, n + 1)]


def fates(result: Drain) -> dict[str, Fate]:
    return {pod.pod.partition("/")[2]: pod.fate for pod in result.pods}


def fate_of(pod: Pod) -> Fate:
    (drained,) = drain([*nodes(2), pod], ["n1"]).pods
    return drained.fate


def test_a_pod_of_a_controller_runs_elsewhere():
    result = drain([*nodes(2), web("web-1")], ["n1"])
    (pod,) = result.pods
    assert (pod.pod, pod.owner, pod.node, pod.fate, pod.to, pod.step) == (
        "default/web-1",
        "ReplicaSet/web-5d8",
        "n1",
        Fate.MOVES,
        "n2",
        1,
    )
    assert result.can_go


def test_the_drained_nodes_take_no_pods():
    result = drain([*nodes(3), web("web-1"), web("web-2", "n2")], ["n1", "n2"])
    assert {pod.to for pod in result.pods} == {"n3"}


@pytest.mark.parametrize(
    ("pod", "fate"),
    [
        (web("p", metadata=owned_by("DaemonSet", "agent")), Fate.STAYS),
        (web("p", metadata=owned_by("Node", "n1")), Fate.STAYS),
        (web("p", metadata={}, annotations={"kubernetes.io/config.mirror": "x"}), Fate.STAYS),
        (web("p", status={"phase": "Succeeded"}), Fate.GONE),
        (web("p", metadata=owned_by("DaemonSet", "agent"), status={"phase": "Failed"}), Fate.GONE),
        (web("p", metadata={**owned_by("Job", "j"), "deletionTimestamp": "2026-01-01T00:00:00Z"}), Fate.GONE),
        (web("p", metadata={}), Fate.LOST),
        (web("p", requests={"cpu": "5"}), Fate.PENDING),
        (web("p", spec={"schedulerName": "volcano"}), Fate.FOREIGN),
    ],
)
def test_what_becomes_of_a_pod(pod: Pod, fate: Fate):
    assert fate_of(pod) is fate


def test_a_pod_of_a_stateful_set_that_is_being_deleted_comes_back_with_its_name():
    about = {**owned_by("StatefulSet", "db"), "deletionTimestamp": "2026-01-01T00:00:00Z"}
    result = drain([*nodes(2), web("db-0", metadata=about), web("web-1")], ["n1"])
    (again,) = (one for one in result.objects if one.key == "default/db-0")
    assert not again.is_terminating


def test_a_pod_with_an_empty_dir_loses_its_data():
    spec = {"volumes": [{"name": "cache", "emptyDir": {}}]}
    result = drain([*nodes(2), web("web-1", spec=spec), web("web-2")], ["n1"])
    assert [pod.has_local_data for pod in result.pods] == [True, False]
    assert result.can_go


def test_a_pending_pod_without_a_spec_is_placed_and_drained():
    bare = decode_object(
        "Pod", msgspec.json.encode({"metadata": {"name": "bare", **owned_by("ReplicaSet", "web-5d8")}})
    )
    (pod,) = drain([*nodes(2), bare], ["n1"]).pods
    assert (pod.pod, pod.fate, pod.to) == ("default/bare", Fate.MOVES, "n2")


def test_a_budget_lets_pods_go_in_steps():
    pods = [web(f"web-{i}") for i in range(3)]
    result = drain([*nodes(2), *pods, budget("web", "web", 1)], ["n1"])
    assert [pod.step for pod in result.pods] == [1, 2, 3]
    assert result.budgets == (BudgetUse("default/web", 1, 3, 0, 3),)
    assert result.can_go


def test_a_budget_that_allows_nothing_blocks():
    result = drain([*nodes(2), web("web-1"), make_pod("free", node="n1"), budget("web", "web", 0)], ["n1"])
    assert fates(result) == {"web-1": Fate.BLOCKED, "free": Fate.LOST}
    assert result.budgets == (BudgetUse("default/web", 0, 1, 1, 0),)


def test_a_budget_blocks_when_what_it_let_go_stays_pending():
    pods = [web("big", requests={"cpu": "5"}), web("web-2")]
    result = drain([*nodes(2), *pods, budget("web", "web", 1)], ["n1"])
    assert fates(result) == {"big": Fate.PENDING, "web-2": Fate.BLOCKED}


def test_a_pod_that_two_budgets_select_is_never_evicted():
    result = drain([*nodes(2), web("web-1"), budget("one", "web", 5), budget("two", "web", 5)], ["n1"])
    assert fates(result) == {"web-1": Fate.BLOCKED}


@pytest.mark.parametrize(
    ("status", "policy", "healthy", "fate"),
    [
        ({"phase": "Pending"}, "", 0, Fate.MOVES),
        ({"conditions": [{"type": "Ready", "status": "False"}]}, "AlwaysAllow", 0, Fate.MOVES),
        ({"conditions": [{"type": "Ready", "status": "False"}]}, "", 2, Fate.MOVES),
        ({"conditions": [{"type": "Ready", "status": "False"}]}, "", 1, Fate.BLOCKED),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, "AlwaysAllow", 2, Fate.BLOCKED),
    ],
)
def test_a_pod_that_is_not_ready_may_go_without_the_budget(
    status: dict[str, Any], policy: str, healthy: int, fate: Fate
):
    spec = {"selector": {"matchLabels": WEB}, **({"unhealthyPodEvictionPolicy": policy} if policy else {})}
    counts = {"disruptionsAllowed": 0, "currentHealthy": healthy, "desiredHealthy": 2}
    protects = make_object("PodDisruptionBudget", "web", spec=spec, status=counts)
    assert fates(drain([*nodes(2), web("web-1", status=status), protects], ["n1"])) == {"web-1": fate}


def test_a_budget_that_lacks_healthy_pods_allows_nothing_until_it_has_them():
    not_ready = {"conditions": [{"type": "Ready", "status": "False"}]}
    spec = {"selector": {"matchLabels": WEB}, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    pods = [web("web-1", status=not_ready), web("web-2")]
    for healthy, fate in ((1, Fate.BLOCKED), (3, Fate.MOVES)):
        counts = {"disruptionsAllowed": 0, "currentHealthy": healthy, "desiredHealthy": 3}
        protects = make_object("PodDisruptionBudget", "web", spec=spec, status=counts)
        result = drain([*nodes(2), *pods, protects], ["n1"])
        assert fates(result) == {"web-1": Fate.MOVES, "web-2": fate}


def test_pods_that_preemption_evicts_are_named_with_the_budget_that_this_breaks():
    low = web("low", "n2", requests={"cpu": "4"}, labels={"app": "low"}, priority=1)
    high = web("high", requests={"cpu": "4"}, priority=100)
    result = drain([*nodes(2), low, high, budget("low", "low", 0)], ["n1"])
    (victim,) = result.pushed_out
    assert (victim.pod, victim.node, victim.preemptor) == ("default/low", "n2", "default/high")
    assert victim.broken == ("default/low",)
    assert not result.can_go


def test_pending_pods_are_placed_before_the_drain():
    result = drain([*nodes(2), web("waiting", ""), web("huge", "", requests={"cpu": "9"}), web("web-1")], ["n2"])
    assert (result.n_placed_before, result.n_pending_before) == (1, 1)


def test_the_claim_of_an_ephemeral_volume_is_made_again():
    spec = {"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}
    pod = web("web-1", spec=spec)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "web-1", "uid": pod.uid, "controller": True}
    claim = make_object(
        "PersistentVolumeClaim",
        "web-1-scratch",
        metadata={"ownerReferences": [owner]},
        spec={"volumeName": "pv-1", "storageClassName": "local"},
        status={"phase": "Bound"},
        annotations={"pv.kubernetes.io/bind-completed": "yes"},
    )
    volume = make_object(
        "PersistentVolume",
        "pv-1",
        spec={
            "claimRef": {"namespace": "default", "name": "web-1-scratch", "uid": claim.uid},
            "nodeAffinity": {"required": HERE},
            "storageClassName": "local",
        },
        status={"phase": "Bound"},
    )
    waits = make_object(
        "StorageClass", "local", provisioner="example.com/local", volumeBindingMode="WaitForFirstConsumer"
    )
    result = drain([*nodes(2), pod, claim, volume, waits], ["n1"])
    assert fates(result) == {"web-1": Fate.MOVES}


def test_a_bound_volume_keeps_its_pod_on_its_nodes():
    spec = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    claim = make_object(
        "PersistentVolumeClaim",
        "data",
        spec={"volumeName": "pv-1"},
        status={"phase": "Bound"},
        annotations={"pv.kubernetes.io/bind-completed": "yes"},
    )
    about = {"claimRef": {"namespace": "default", "name": "data", "uid": claim.uid}, "nodeAffinity": {"required": HERE}}
    volume = make_object("PersistentVolume", "pv-1", spec=about, status={"phase": "Bound"})
    result = drain([*nodes(2), web("web-1", spec=spec), claim, volume], ["n1"])
    (pod,) = result.pods
    assert pod.fate is Fate.PENDING
    assert "didn't match PersistentVolume's node affinity" in pod.message


def test_the_objects_of_the_result_have_the_nodes_cordoned_and_the_moved_pods_on_their_nodes():
    result = drain([*nodes(2), web("web-1")], ["n1"])
    (node,) = (one for one in result.objects if one.key == "n1")
    assert node.document["spec"]["unschedulable"] is True
    (pod,) = (one for one in result.objects if isinstance(one, Pod))
    assert (pod.key, pod.node_name, pod.status.phase) == ("default/web-1", "n2", "Running")
    assert Simulator(result.objects).run().placements == ()


def test_a_node_that_does_not_exist_is_an_error():
    with pytest.raises(InputError, match="no node has the name n9"):
        drain(nodes(2), ["n9"])


def test_a_plugin_takes_part():
    class NotThere(Plugin):
        def filter(self, state, pod, node):
            return Status.unschedulable("not there") if node.name == "n2" else Status.SUCCESS

    result = drain([*nodes(3), web("web-1")], ["n1"], plugins=[NotThere])
    assert [pod.to for pod in result.pods] == ["n3"]


def test_each_and_most_take_the_nodes_that_they_are_given():
    with Drainer([*nodes(3), web("web-1"), web("web-2", "n2")], set_up()) as drainer:
        assert [one.nodes for one in drainer.each(["n2", "n1"])] == [("n2",), ("n1",)]
        assert drainer.most(["n1"]).nodes == ("n1",)
        assert len(drainer.most().nodes) == 2


def test_the_successor_of_a_pod_that_is_being_deleted_needs_a_place():
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    db = make_pod("db-0", node="n1", requests={"cpu": "2"}, metadata=owned_by("StatefulSet", "db") | leaving)
    stuck = drain([*nodes(1), db], ["n1"])
    assert (stuck.can_go, fates(stuck)) == (False, {"db-0": Fate.PENDING})
    (moved,) = drain([*nodes(2), db], ["n1"]).pods
    assert (moved.fate, moved.to, moved.step) == (Fate.MOVES, "n2", 0)


def test_a_pod_that_was_placed_elsewhere_before_the_drain_counts_for_its_budget():
    result = drain([*nodes(2), only_on("placed", "n2"), web("web-1"), budget("b", "web", 0)], ["n1"])
    assert result.n_placed_before == 1
    assert result.budgets == (BudgetUse("default/b", 1, 1, 0, 1),)
    assert fates(result) == {"web-1": Fate.MOVES}


def test_a_pod_that_does_not_run_needs_no_step_and_no_allowance_of_its_budget():
    pods = [only_on("waiting", "n1"), web("web-1"), web("web-2")]
    result = drain([*nodes(2), *pods, budget("b", "web", 1)], ["n1"])
    assert result.budgets == (BudgetUse("default/b", 1, 2, 0, 2),)
    assert result.steps == 2
    assert {pod.pod: pod.step for pod in result.pods} == {"default/waiting": 0, "default/web-1": 1, "default/web-2": 2}


def test_a_pod_that_does_not_run_is_placed_elsewhere_whatever_its_budget_allows():
    result = drain([*nodes(2), web("waiting", ""), budget("b", "web", 0)], ["n1"])
    assert (fates(result), result.budgets, result.can_go) == ({"waiting": Fate.MOVES}, (), True)
    page = drain_page(result)
    (table,) = (part for part in page.parts if getattr(part, "name", "") == "moves")
    assert table.rows[0][3] == "-"


def test_a_pod_that_does_not_run_has_no_data_to_lose():
    waiting = web("waiting", "", spec={"volumes": [{"name": "scratch", "emptyDir": {}}]})
    page = drain_page(drain([*nodes(1), waiting], ["n1"]))
    assert page.next_command == "kubectl drain n1"
    (table,) = (part for part in page.parts if getattr(part, "name", "") == "losses")
    assert table.rows == []


def test_data_of_a_pod_that_is_being_deleted_needs_the_flag_of_kubectl():
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}
    scratch = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    pod = make_pod("web", node="n1", spec=scratch, metadata=owned_by("ReplicaSet", "web") | leaving)
    assert drain_page(drain([*nodes(1), pod], ["n1"])).next_command == "kubectl drain n1 --delete-emptydir-data"


def test_a_pod_that_tolerates_the_cordon_comes_back():
    result = drain([*nodes(1), web("web-1", tolerations=[{"operator": "Exists"}])], ["n1"])
    (pod,) = result.pods
    assert (pod.fate, pod.to, result.can_go) == (Fate.RETURNS, "n1", False)
    page = drain_page(result)
    assert "its only pod, which would come back" in page.verdict.text
    assert "kubectl drain" not in page.next_command
    (table,) = (part for part in page.parts if getattr(part, "name", "") == "returns")
    assert len(table.rows) == 1


def test_pods_that_leave_before_the_drain_are_told():
    low = web("low", requests={"cpu": "3"}, priority=1)
    result = drain([*nodes(1), low, web("high", node="", requests={"cpu": "3"}, priority=9)], ["n1"])
    (evicted,) = result.evicted_before
    assert (evicted.pod, evicted.preemptor) == ("default/low", "default/high")
    (table,) = (part for part in drain_page(result).parts if getattr(part, "name", "") == "evictedBefore")
    assert len(table.rows) == 1


def test_the_controller_of_a_pod_that_leaves_before_the_drain_creates_a_new_one():
    """One fills n1, and its new pod has only n2, which the other one fills, or does not."""
    low = web("low", requests={"cpu": "3"}, priority=1)
    high = only_on("high", "n1", requests={"cpu": "3"}, priority=9)
    known = [*nodes(2), low, high]
    assert fates(drain(known, ["n1"])) == {"high": Fate.STILL_PENDING, "low": Fate.MOVES}
    assert drain(known, ["n1"]).can_go
    full = [*known, web("other", "n2", requests={"cpu": "3"}, priority=1)]
    result = drain(full, ["n1"])
    assert fates(result)["low"] is Fate.PENDING
    assert not result.can_go
    assert "Insufficient cpu" in next(pod.message for pod in result.pods if pod.pod == "default/low")


@pytest.mark.parametrize(("kind", "fate"), [("", Fate.LOST), ("Thing", Fate.MAY_BE_LOST)])
def test_a_pod_that_leaves_before_the_drain_is_lost_where_nobody_creates_it_again(kind: str, fate: Fate):
    low = web("low", requests={"cpu": "3"}, priority=1, metadata=owned_by(kind, "x") if kind else {})
    result = drain([*nodes(2), low, only_on("high", "n1", requests={"cpu": "3"}, priority=9)], ["n1"])
    assert fates(result)["low"] is fate
    assert not result.can_go


def test_a_pod_of_another_node_that_leaves_before_the_drain_is_named_and_not_held_against_it():
    low = web("low", requests={"cpu": "3"}, priority=1)
    other = web("other", "n2", requests={"cpu": "3"}, priority=1)
    known = [*nodes(3), low, other, only_on("high", "n1", requests={"cpu": "3"}, priority=9)]
    result = drain([*known, web("third", "n3", requests={"cpu": "4"}, priority=1)], ["n3"])
    assert result.unplaced_before == ("default/low",)
    assert "default/low" not in {pod.pod for pod in result.pods}
    (text,) = (part.text for part in drain_page(result).parts if "Whatever is drained" in getattr(part, "text", ""))
    assert "1 pod that runs now would be evicted for pending pods, and not run again: default/low" in text


def test_the_new_pod_of_one_that_leaves_before_the_drain_runs_when_the_drain_begins():
    """It is evicted as a running one, in the order that its budget allows, and harmed where it finds no node."""
    low = web("low", requests={"cpu": "3"}, priority=1)
    high = only_on("high", "n1", requests={"cpu": "3"}, priority=9, labels={})
    (pod,) = drain([*nodes(2), budget("web", "web", 0), low, high], ["n2"]).pods
    assert (pod.pod, pod.node, pod.fate, pod.was_pending) == ("default/low", "n2", Fate.BLOCKED, False)


def test_victims_of_new_pods_get_new_pods_too():
    pods = [
        web("mid", requests={"cpu": "3"}, priority=5),
        web("low", "n2", requests={"cpu": "3"}, priority=1),
        only_on("high", "n1", requests={"cpu": "3"}, priority=9),
    ]
    result = drain([*nodes(3), *pods, web("x", "n3", requests={"cpu": "4"}, priority=9)], ["n2"])
    assert [one.pod for one in result.evicted_before] == ["default/mid", "default/low"]
    assert fates(result)["low"] is Fate.PENDING


UNREACHABLE = "node.kubernetes.io/unreachable:NoExecute"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"


def unreachable(*taints: str) -> list[KubeObject]:
    return [make_node("n1", allocatable=ROOM, taints=[UNREACHABLE, *taints]), make_node("n2", allocatable=ROOM)]


@pytest.mark.parametrize(
    ("kind", "fate"),
    [("StatefulSet", Fate.HANGS), ("ReplicaSet", Fate.MOVES), ("Job", Fate.MOVES), ("DaemonSet", Fate.STAYS)],
)
def test_a_pod_of_an_unreachable_node_hangs_if_its_controller_waits_for_its_end(kind: str, fate: Fate):
    job = make_object("Job", "db", spec={"backoffLimit": 3})
    result = drain([*unreachable(), job, make_pod("db-0", node="n1", metadata=owned_by(kind, "db"))], ["n1"])
    assert fates(result) == {"db-0": fate}
    assert result.can_go is (fate is not Fate.HANGS)
    assert ("--skip-wait-for-delete-timeout" in drain_page(result).next_command) is (fate is Fate.MOVES)


@pytest.mark.parametrize(
    ("spec", "fate"),
    [
        ({"podReplacementPolicy": "Failed"}, Fate.HANGS),
        ({"podReplacementPolicy": "TerminatingOrFailed"}, Fate.MOVES),
        ({"podFailurePolicy": {"rules": []}}, Fate.HANGS),
    ],
)
def test_a_job_waits_for_a_pod_of_an_unreachable_node_by_its_pod_replacement_policy(spec: dict[str, Any], fate: Fate):
    job = make_object("Job", "db", spec={"backoffLimit": 3, **spec})
    known = [*unreachable(), job, make_pod("p", node="n1", metadata=owned_by("Job", "db"))]
    assert fates(drain(known, ["n1"])) == {"p": fate}


def test_a_node_whose_condition_ready_is_unknown_is_unreachable_until_it_is_out_of_service():
    pod = make_pod("db-0", node="n1", metadata=owned_by("StatefulSet", "db"))
    silent = make_node("n1", allocatable=ROOM, status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    assert fates(drain([silent, *nodes(2)[1:], pod], ["n1"])) == {"db-0": Fate.HANGS}
    given_up = drain([*unreachable(OUT_OF_SERVICE), pod], ["n1"])
    assert (fates(given_up), given_up.unreachable) == ({"db-0": Fate.MOVES}, ())


def test_a_pod_that_terminates_already_on_an_unreachable_node_hangs_too():
    leaving = owned_by("StatefulSet", "db") | {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    result = drain([*unreachable(), make_pod("db-0", node="n1", metadata=leaving)], ["n1"])
    assert fates(result) == {"db-0": Fate.HANGS}
    (hanging,) = result.pods
    assert hanging.fix == f"make sure that n1 is off, then kubectl taint node n1 {OUT_OF_SERVICE}"


def test_each_and_most_do_not_offer_an_unreachable_node_whose_pods_hang():
    known = [*unreachable(), make_pod("db-0", node="n1", metadata=owned_by("StatefulSet", "db"))]
    with Drainer(known) as drainer:
        assert {one.nodes[0]: one.can_go for one in drainer.each()} == {"n1": False, "n2": True}
        assert drainer.most().nodes == ("n2",)


@pytest.mark.parametrize(
    ("replicas", "other", "fate"), [(0, "", Fate.LOST), (1, "", Fate.MOVES), (None, "other", Fate.MAY_BE_LOST)]
)
def test_a_pod_whose_replica_set_would_not_create_another_one_does_not_move(
    replicas: int | None, other: str, fate: Fate
):
    known = make_object("ReplicaSet", other or "web-5d8", spec={} if replicas is None else {"replicas": replicas})
    assert fates(drain([*nodes(2), known, web("web-1")], ["n1"])) == {"web-1": fate}


def test_the_deadline_of_a_job_is_compared_with_the_time_of_the_snapshot():
    job = make_object("Job", "etl", spec={"activeDeadlineSeconds": 60}, status={"startTime": "2026-01-01T11:59:50Z"})
    known = (*nodes(2), job, make_pod("etl-1", node="n1", metadata=owned_by("Job", "etl")))
    taken_at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert fates(drain(ClusterObjects(known, taken_at=taken_at), ["n1"])) == {"etl-1": Fate.MOVES}
    late = ClusterObjects(known, taken_at=taken_at.replace(hour=13))
    assert fates(drain(late, ["n1"])) == {"etl-1": Fate.LOST}
    assert fates(drain(known, ["n1"])) == {"etl-1": Fate.MAY_BE_LOST}


def only_on(name: str, node: str, **fields: Any) -> Pod:
    """A pending pod that fits on one node alone."""
    return web(name, "", spec={"nodeSelector": {"kubernetes.io/hostname": node}}, **fields)


def test_a_pod_that_is_pending_before_and_after_a_drain_is_not_harmed():
    result = drain([*nodes(2), only_on("waiting", "n1"), web("web-1")], ["n1"])
    waiting, runs = sorted(result.pods, key=lambda pod: pod.pod)
    assert (waiting.pod, waiting.fate, waiting.was_pending) == ("default/waiting", Fate.STILL_PENDING, True)
    assert "node affinity/selector" in waiting.message
    assert (runs.fate, runs.was_pending) == (Fate.MOVES, False)
    assert (result.can_go, result.n_evicted) == (True, 1)
    assert result.of(Fate.PENDING) == []


def test_a_pod_that_runs_and_would_be_pending_is_harmed_beside_one_that_was_pending():
    runs = web("runs", spec={"nodeSelector": {"kubernetes.io/hostname": "n1"}})
    result = drain([*nodes(2), only_on("waiting", "n1"), runs], ["n1"])
    assert fates(result) == {"waiting": Fate.STILL_PENDING, "runs": Fate.PENDING}
    assert not result.can_go


@pytest.mark.parametrize(("node", "fate"), [("n1", Fate.STILL_PENDING), ("", Fate.MOVES)])
def test_a_pending_pod_without_a_controller_is_not_lost(node: str, fate: Fate):
    pod = only_on("alone", node, metadata={}) if node else web("alone", "", metadata={})
    result = drain([*nodes(2), pod], ["n1"])
    assert fates(result) == {"alone": fate}
    assert (result.can_go, result.pods[0].was_pending) == (True, True)
    with Drainer([*nodes(2), pod, web("web-1", "n2")], set_up()) as drainer:
        assert [one.can_go for one in drainer.each()] == [True, True]


def test_a_pending_pod_that_the_drain_leaves_without_a_node_gets_a_new_claim():
    pod = only_on("waits", "n1", metadata={"uid": "u"})
    spec = {**pod.document["spec"], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "waits-gpu-x"}]}
    pod = rewritten(pod, lambda document: document.update(spec=spec, status=status))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "waits", "uid": "u", "controller": True}
    asked = {"devices": {"requests": [{"name": "r", "exactly": ask(class_name="gpu")}]}}
    metadata = {"ownerReferences": [owner]}
    made = make_object("ResourceClaim", "waits-gpu-x", namespace="default", metadata=metadata, spec=asked)
    (left,) = drain([*decoded(CLASS, resource_slice("n1", [gpu("a")])), *nodes(2), made, pod], ["n1"]).pods
    assert (left.fate, left.was_pending) == (Fate.STILL_PENDING, True)
    assert "ResourceClaim" not in left.message
    assert "node affinity/selector" in left.message


def test_a_pending_pod_that_makes_room_again_is_not_pushed_out():
    high = web("high", requests={"cpu": "4"}, priority=100)
    result = drain([*nodes(2), only_on("waiting", "n2", requests={"cpu": "1"}, priority=1), high], ["n1"])
    assert result.pushed_out == ()
    assert [(one.pod, one.preemptor) for one in result.evicted_again] == [("default/waiting", "default/high")]
    assert result.can_go


def test_most_takes_nodes_whose_pods_were_pending_anyway():
    with Drainer([*nodes(2), only_on("waiting", "n1"), web("web-1", "n2")], set_up()) as drainer:
        assert [one.can_go for one in drainer.each()] == [True, True]
        assert drainer.most(["n1"]).nodes == ("n1",)


def test_most_tries_each_order_of_a_few_nodes_once():
    class Counting(Plugin):
        n_asked = 0

        def filter(self, state, pod, node):
            Counting.n_asked += 1
            return Status.SUCCESS

    objects = [*nodes(2), web("web-1", "n1"), web("web-2", "n2")]
    with Drainer(objects, set_up(None, [Counting])) as drainer:
        assert len(drainer.most().nodes) == 1
    assert 0 < Counting.n_asked < 50


def test_most_finds_as_many_as_a_loop_over_drain_where_one_budget_covers_all_nodes():
    objects = [*nodes(6), *(web(f"web-{i}", f"n{i}") for i in range(1, 6)), budget("web", "web", 1)]
    with Drainer(objects, set_up()) as drainer:
        going: list[str] = []
        for i in range(1, 7):
            if drainer.drain([*going, f"n{i}"]).can_go:
                going.append(f"n{i}")
        assert len(drainer.most().nodes) == len(going) == 4


def of_job(name: str, node: str = "n1", **fields: Any) -> Pod:
    return web(name, node, metadata=owned_by("Job", "migrate"), **fields)


def job(**spec: Any) -> KubeObject:
    return make_object("Job", "migrate", spec={"completions": 5, **spec})


def test_a_pod_whose_eviction_ends_its_job_is_lost():
    result = drain([*nodes(2), of_job("a"), job(backoffLimit=0)], ["n1"])
    (pod,) = result.pods
    assert (pod.fate, pod.to, pod.message) == (Fate.LOST, "", "Job migrate would fail: its backoffLimit is 0")
    assert not result.can_go
    assert fate_of(of_job("a")) is Fate.MAY_BE_LOST


def test_a_job_can_lose_as_many_pods_as_its_backoff_limit():
    objects = [*nodes(3), of_job("a"), of_job("b", "n2"), job(backoffLimit=1)]
    with Drainer(objects, set_up()) as drainer:
        assert [one.can_go for one in drainer.each(["n1", "n2"])] == [True, True]
        assert set(fates(drainer.drain(["n1", "n2"])).values()) == {Fate.LOST}
        assert len(drainer.most(["n1", "n2"]).nodes) == 1


def test_a_job_that_fails_in_a_later_step_takes_the_pods_of_earlier_steps_with_it():
    objects = [*nodes(2), of_job("a"), of_job("b"), budget("web", "web", 1), job(backoffLimit=1)]
    result = drain(objects, ["n1"])
    assert [(pod.fate, pod.step) for pod in result.pods] == [(Fate.LOST, 1), (Fate.LOST, 2)]
    assert result.after.held("n2")["pods"] == 0


def test_a_job_that_fails_ends_its_pods_on_other_nodes_and_its_pending_ones():
    waits, other = of_job("c", "", requests={"cpu": "9"}), web("web-1", "n3")
    objects = [*nodes(3), of_job("a"), of_job("b", "n2"), waits, other, job(backoffLimit=0)]
    with Drainer(objects, set_up()) as drainer:
        result = drainer.drain(["n1"])
        assert [(pod.pod, pod.node, pod.fate, pod.was_pending) for pod in result.pods] == [
            ("default/a", "n1", Fate.LOST, False),
            ("default/b", "n2", Fate.LOST, False),
            ("default/c", "", Fate.LOST, True),
        ]
        assert {pod.message for pod in result.pods} == {"Job migrate would fail: its backoffLimit is 0"}
        assert [result.after.held(name)["pods"] for name in ("n1", "n2", "n3")] == [0, 0, 1]
        assert {one.key for one in result.objects if isinstance(one, Pod)} == {"default/web-1"}
        assert [set(fates(one)) for one in drainer.each()] == [{"a", "b", "c"}, {"a", "b", "c"}, {"web-1"}]
        assert drainer.most().nodes == ("n3",)


def test_a_job_that_fails_gives_its_room_to_the_pods_of_the_drained_nodes():
    big = web("web-1", "n1", requests={"cpu": "4"})
    result = drain([*nodes(2), of_job("a"), of_job("b", "n2"), big, job(backoffLimit=0)], ["n1"])
    assert fates(result) == {"a": Fate.LOST, "b": Fate.LOST, "web-1": Fate.MOVES}


def test_a_pod_that_a_budget_holds_up_is_lost_with_its_job():
    held = of_job("b", labels={"app": "held"})
    objects = [*nodes(2), of_job("a"), held, budget("held", "held", 0), job(backoffLimit=0)]
    result = drain(objects, ["n1"])
    assert fates(result) == {"a": Fate.LOST, "b": Fate.LOST}
    assert [pod.step for pod in result.pods] == [1, 0]
    assert [(one.budget, one.n_blocked) for one in result.budgets] == [("default/held", 0)]


def test_the_pods_of_a_job_that_fails_are_missing_from_their_budget():
    mixed = [of_job("a"), of_job("b", "n2", labels={"app": "web"}), web("web-1"), web("web-2")]
    objects = [*nodes(3), *mixed, budget("web", "web", 2, currentHealthy=4, desiredHealthy=2), job(backoffLimit=0)]
    assert fates(drain(objects, ["n1"])) == {
        "a": Fate.LOST,
        "web-1": Fate.MOVES,
        "web-2": Fate.BLOCKED,
        "b": Fate.LOST,
    }


def test_a_job_that_ignores_disruptions_has_no_limit():
    rule = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}
    result = drain(
        [*nodes(2), of_job("a"), of_job("b"), job(backoffLimit=0, podFailurePolicy={"rules": [rule]})], ["n1"]
    )
    assert result.can_go


def test_a_pod_of_an_unknown_controller_may_be_lost_and_its_room_is_kept():
    step = web("step", metadata=owned_by("Workflow", "etl"))
    result = drain([*nodes(2), step], ["n1"])
    (pod,) = result.pods
    assert (pod.fate, pod.to) == (Fate.MAY_BE_LOST, "n2")
    assert not result.can_go
    with Drainer([*nodes(2), step], set_up()) as drainer:
        assert drainer.most().nodes == ("n2",)


def test_the_written_cluster_has_the_failures_of_its_jobs():
    result = drain([*nodes(2), of_job("a"), job(backoffLimit=1)], ["n1"])
    (known,) = (one for one in result.objects if one.name == "migrate")
    assert known.document["status"] == {"failed": 1}


def test_each_says_which_drains_are_not_explained(monkeypatch):
    monkeypatch.setattr("kubesched.planning.single_drains._EXPLAINED_NODES", 1)
    nodes = [make_node(name, allocatable={"cpu": "1", "pods": "9"}) for name in ("n1", "n2")]
    pods = [
        make_pod(f"{name}-1", node=at, requests={"cpu": "1"}, metadata=owned_by("ReplicaSet", name))
        for name, at in (("a", "n1"), ("b", "n2"))
    ]
    with Drainer([*nodes, *pods]) as drainer:
        results = list(drainer.each())
    assert [result.is_explained for result in results] == [True, False]
    page = each_page(results)
    assert page.document["unexplained"] == ["n2"]
    assert "pods of 1 node that stay pending have kube-scheduler's message as the cause" in as_text(page, width=300)
