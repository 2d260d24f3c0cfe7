"""New pods of workloads that run already: refused without a choice, added, or rolled out in steps."""

import io
import json

import pytest

from kubesched.errors import InputError
from kubesched.pages.plans import fit_page
from kubesched.planning import fit
from kubesched.testing import make_node, make_pod


def nodes(n, cpu="4"):
    return [make_node(f"n{i}", allocatable={"cpu": cpu, "memory": "8Gi", "pods": "20"}) for i in range(n)]


def workload(kind="Deployment", replicas=4, cpu="1", **spec):
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    body = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template, **spec}
    if kind == "DaemonSet":
        del body["replicas"]
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": body}


def stream(*documents):
    return io.BytesIO("\n---\n".join(map(json.dumps, documents)).encode())


def running(n, kind="ReplicaSet", name="web-old", cpu="1"):
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "o", "controller": True}
    labels = {"app": "web"} | ({"pod-template-hash": "old"} if kind == "ReplicaSet" else {})
    about = {"labels": labels, "requests": {"cpu": cpu}, "metadata": {"ownerReferences": [owner]}}
    ends = range(n) if kind == "StatefulSet" else "abcdefgh"[:n]
    return [make_pod(f"{name}-{end}", node=f"n{i}", **about) for i, end in enumerate(ends)]


def test_a_workload_that_runs_already_is_rolled_out_unless_its_pods_are_added():
    answer = fit([*nodes(2), *running(2)], stream(workload()))
    assert [(one.workload, one.n_old) for one in answer.rollouts] == [("Deployment default/web", 2)]
    assert [(one.workload, one.pods) for one in answer.existing] == [("Deployment default/web", 2)]
    with pytest.raises(
        InputError, match=r"Deployment default/web already has 2 pods in the cluster; a search needs add"
    ):
        fit([*nodes(2), *running(2)], stream(workload()), maximum=True)
    with pytest.raises(InputError, match="add and rollout are mutually exclusive"):
        fit([*nodes(2), *running(2)], stream(workload()), add=True, rollout=True)


@pytest.mark.parametrize("choice", ["add", "rollout"])
def test_a_choice_without_existing_pods_is_noted(choice):
    answer = fit(nodes(2), stream(workload(replicas=2)), **{choice: True})
    assert answer.all_fit
    assert answer.notes == ("None of the workloads has pods in the cluster yet: nothing is replaced or kept.",)


def test_added_pods_leave_the_existing_ones():
    answer = fit([*nodes(2), *running(2)], stream(workload(replicas=7)), add=True)
    assert (answer.n_fit, answer.n_asked, answer.rollouts) == (6, 7, ())


def test_added_pods_of_a_stateful_set_have_the_next_numbers():
    old = running(2, "StatefulSet", "web")
    answer = fit([*nodes(2), *old], stream(workload("StatefulSet", 3)), add=True)
    assert [one.pod for one in answer.placements] == ["default/web-2"]
    with pytest.raises(InputError, match="StatefulSet default/web has all of these pods already"):
        fit([*nodes(2), *old], stream(workload("StatefulSet", 2)), add=True)


def test_a_rollout_keeps_within_surge_and_unavailable():
    answer = fit([*nodes(4), *running(4)], stream(workload()), rollout=True)
    (rollout,) = answer.rollouts
    assert (answer.n_fit, answer.n_asked) == (4, 4)
    assert (rollout.workload, rollout.n_old, rollout.n_old_left) == ("Deployment default/web", 4, 0)
    assert rollout.n_lowest == 3  # 25% of 4 may be missing
    assert sum(one.after["pods"] for one in answer.report.nodes) == 4


def test_a_rollout_without_room_for_the_surge_uses_what_may_be_missing():
    strategy = {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}}}
    answer = fit([*nodes(4, cpu="1"), *running(4)], stream(workload(**strategy)), rollout=True)
    assert (answer.all_fit, answer.rollouts[0].n_lowest) == (True, 2)


def test_a_rollout_that_needs_more_room_stops():
    strategy = {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
    answer = fit([*nodes(4, cpu="1"), *running(4)], stream(workload(**strategy)), rollout=True)
    assert (answer.n_fit, answer.rollouts[0].n_old_left, answer.rollouts[0].n_lowest) == (0, 4, 4)
    assert answer.first_left.message.startswith("0/4 nodes are available: 4 Insufficient cpu.")
    assert answer.placements[-1].message == "the rollout stops before this pod is created"


def test_recreate_removes_all_pods_first():
    answer = fit([*nodes(4, cpu="1"), *running(4)], stream(workload(strategy={"type": "Recreate"})), rollout=True)
    (rollout,) = answer.rollouts
    assert (answer.all_fit, rollout.steps, rollout.n_old_left, rollout.n_lowest) == (True, 1, 0, 0)


def test_a_stateful_set_replaces_one_pod_after_the_other():
    old = running(3, "StatefulSet", "web")
    answer = fit([*nodes(3, cpu="1"), *old], stream(workload("StatefulSet", 3)), rollout=True)
    assert (answer.all_fit, answer.rollouts[0].steps, answer.rollouts[0].n_lowest) == (True, 3, 2)
    larger = fit([*nodes(3, cpu="1"), *old], stream(workload("StatefulSet", 3, cpu="2")), rollout=True)
    assert (larger.n_fit, larger.rollouts[0].steps, larger.rollouts[0].n_old_left) == (0, 1, 2)


def test_a_stateful_set_below_its_partition_is_not_updated():
    old = running(3, "StatefulSet", "web")
    strategy = {"updateStrategy": {"rollingUpdate": {"partition": 2}}}
    answer = fit([*nodes(3, cpu="1"), *old], stream(workload("StatefulSet", 3, **strategy)), rollout=True)
    (rollout,) = answer.rollouts
    assert [one.pod for one in answer.placements] == ["default/web-2"]
    assert (answer.all_fit, rollout.n_old, rollout.n_old_left, rollout.n_kept) == (True, 1, 0, 2)
    strategy = {"updateStrategy": {"rollingUpdate": {"partition": 3}}}
    with pytest.raises(InputError, match="StatefulSet default/web: partition: found 3; no pod has this number"):
        fit([*nodes(3), *old], stream(workload("StatefulSet", 3, **strategy)), rollout=True)


def test_a_daemon_set_is_replaced_on_its_nodes():
    old = running(3, "DaemonSet", "web")
    answer = fit([*nodes(3, cpu="1"), *old], stream(workload("DaemonSet")), rollout=True)
    assert sorted(one.node for one in answer.placements) == ["n0", "n1", "n2"]
    assert (answer.rollouts[0].steps, answer.rollouts[0].n_lowest) == (3, 2)
    with pytest.raises(InputError, match="DaemonSet default/web exists already and cannot be added a second time"):
        fit([*nodes(3), *old], stream(workload("DaemonSet")), add=True)


@pytest.mark.parametrize(("unavailable", "n_left"), [(1, 2), ("50%", 1), (3, 0)])
def test_a_daemon_set_that_grows_stops_at_what_may_be_missing(unavailable, n_left):
    old = running(3, "DaemonSet", "web")
    strategy = {"updateStrategy": {"rollingUpdate": {"maxUnavailable": unavailable}}}
    answer = fit([*nodes(3, cpu="1"), *old], stream(workload("DaemonSet", cpu="2", **strategy)), rollout=True)
    assert (answer.n_fit, answer.rollouts[0].n_old_left, answer.rollouts[0].n_lowest) == (0, n_left, n_left)


def test_a_daemon_set_with_surge_needs_room_for_both_pods():
    old = running(3, "DaemonSet", "web")
    strategy = {"updateStrategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
    manifest = workload("DaemonSet", **strategy)
    tight = fit([*nodes(3, cpu="1"), *old], stream(manifest), rollout=True)
    assert (tight.n_fit, tight.rollouts[0].n_old_left, tight.rollouts[0].n_lowest) == (0, 3, 3)
    wide = fit([*nodes(3, cpu="2"), *old], stream(manifest), rollout=True)
    assert (wide.all_fit, wide.rollouts[0].n_old_left, wide.rollouts[0].n_lowest) == (True, 0, 3)


def test_a_stateful_set_replaces_as_many_at_a_time_as_may_be_missing():
    old = running(4, "StatefulSet", "web")
    strategy = {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "30%"}}}  # rounded up to 2 of 4
    answer = fit([*nodes(4, cpu="1"), *old], stream(workload("StatefulSet", 4, **strategy)), rollout=True)
    assert (answer.all_fit, answer.rollouts[0].steps) == (True, 2)


def test_a_smaller_stateful_set_gives_its_highest_numbers_back():
    old = running(3, "StatefulSet", "web")
    answer = fit([*nodes(3, cpu="1"), *old], stream(workload("StatefulSet", 1)), rollout=True)
    assert [(one.pod, one.node) for one in answer.placements] == [("default/web-0", "n0")]
    assert sum(one.after["pods"] for one in answer.report.nodes) == 1


@pytest.mark.parametrize(("policy", "pending"), [("OrderedReady", []), ("Parallel", ["default/web-2"])])
def test_a_growing_stateful_set_creates_no_pod_after_one_that_is_pending(policy, pending):
    old = running(1, "StatefulSet", "web")
    manifest = workload("StatefulSet", 3, podManagementPolicy=policy)
    manifest["spec"]["template"]["spec"]["affinity"] = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
    answer = fit([*nodes(1), *old], stream(manifest), rollout=True)
    never = "the rollout stops before this pod is created"
    tried = [one.pod for one in answer.placements if one.message != never]
    assert tried == ["default/web-1", *pending]
    assert answer.rollouts[0].n_old_left == 1


def pending_replica(number):
    """A pod of the set that is pending today: it asks for more than any node has."""
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "o", "controller": True}
    labels = {"app": "web"}
    return make_pod(f"web-{number}", labels=labels, requests={"cpu": "99"}, metadata={"ownerReferences": [owner]})


@pytest.mark.parametrize("policy", ["OrderedReady", "Parallel"])
def test_a_pod_of_the_set_that_is_pending_today_holds_an_ordered_rollout_up(policy):
    old = [*running(1, "StatefulSet", "web"), pending_replica(1)]
    manifest = workload("StatefulSet", 3, podManagementPolicy=policy)
    answer = fit([*nodes(3), *old], stream(manifest), rollout=True)
    waits = "the rollout waits for default/web-1, which stays pending"
    assert (answer.n_fit, [one.message for one in answer.placements]) == (
        (0, [waits] * 3) if policy == "OrderedReady" else (3, [""] * 3)
    )
    assert answer.rollouts[0].n_old_left == (2 if policy == "OrderedReady" else 0)


def test_a_pending_pod_of_the_set_that_gets_a_node_holds_nothing_up():
    old = running(2, "StatefulSet", "web")
    old[1] = make_pod("web-1", labels={"app": "web"}, requests={"cpu": "1"}, metadata=old[1].document["metadata"])
    answer = fit([*nodes(3), *old], stream(workload("StatefulSet", 3)), rollout=True)
    assert (answer.all_fit, answer.rollouts[0].n_old_left) == (True, 0)


def test_pods_that_wait_for_each_other_are_named_among_the_limits():
    said = "A StatefulSet with the podManagementPolicy OrderedReady creates no pod after the first that stays pending"
    for kind, n, is_said in (("StatefulSet", 9, True), ("StatefulSet", 2, False), ("Deployment", 9, False)):
        page = fit_page(fit(nodes(1), stream(workload(kind, n))))
        assert any(limit.startswith(said) for limit in page.limits) == is_said


@pytest.mark.parametrize(
    ("kind", "strategy", "fault"),
    [
        ("Deployment", {"maxSurge": 0, "maxUnavailable": "0%"}, "maxUnavailable: found 0%; may not be 0 when maxSurge"),
        ("Deployment", {"maxUnavailable": "120%"}, "maxUnavailable: found 120%; expected 100% or less"),
        ("Deployment", {"maxSurge": "9" * 5000 + "%"}, "maxSurge: found 9+%; expected a number such as 1, or"),
        ("StatefulSet", {"maxUnavailable": 0}, "maxUnavailable: found 0; expected 1 or more"),
        ("DaemonSet", {"maxUnavailable": 0}, "maxUnavailable: found 0; may not be 0 when maxSurge is 0"),
    ],
)
def test_a_strategy_that_an_api_server_refuses_is_an_error(kind, strategy, fault):
    field = "strategy" if kind == "Deployment" else "updateStrategy"
    manifest = workload(kind, **{field: {"rollingUpdate": strategy}})
    old = running(2, "ReplicaSet" if kind == "Deployment" else kind, "web-old" if kind == "Deployment" else "web")
    with pytest.raises(InputError, match=f"{kind} default/web: {fault}"):
        fit([*nodes(2), *old], stream(manifest), rollout=True)


@pytest.mark.parametrize(("surge", "unavailable", "lowest"), [("30%", "0%", 3), ("0%", "50%", 2), ("10%", "10%", 3)])
def test_of_a_deployment_percentages_round_the_surge_up_and_what_may_be_missing_down(surge, unavailable, lowest):
    strategy = {"strategy": {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}}
    answer = fit([*nodes(4, cpu="2"), *running(3)], stream(workload(replicas=3, **strategy)), rollout=True)
    assert (answer.all_fit, answer.rollouts[0].n_lowest) == (True, lowest)


def test_a_pod_management_policy_is_one_of_two():
    with pytest.raises(InputError, match='podManagementPolicy: found "Ordered"; expected OrderedReady or Parallel'):
        fit(nodes(1), stream(workload("StatefulSet", podManagementPolicy="Ordered")))


def test_a_pod_that_exists_is_replaced():
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web-0"},
        "spec": workload()["spec"]["template"]["spec"],
    }
    old = make_pod("web-0", node="n0", requests={"cpu": "1"})
    assert fit([*nodes(1, cpu="1"), old], stream(pod)).all_fit
    assert fit([*nodes(1, cpu="1"), old], stream(pod), rollout=True).all_fit


def test_several_workloads_that_exist_are_counted():
    old = running(3)
    database = workload("StatefulSet", 1)
    database["metadata"]["name"] = "db"
    cluster = [*nodes(3), *old, *running(1, "StatefulSet", "db")]
    verdict = fit_page(fit(cluster, stream(workload(), database))).verdict.text
    assert verdict == "A rollout of 2 workloads (--add keeps the old pods): 5 of 5 would fit."
    other = workload("StatefulSet", 1)
    other["metadata"]["name"] = "new"
    verdict = fit_page(fit(cluster, stream(workload(), other))).verdict.text
    assert verdict == "A rollout of 1 of 2 workloads (--add keeps the old pods): 5 of 5 would fit."
    answer = fit(cluster, stream(workload(), database), rollout=True)
    assert [one.workload for one in answer.rollouts] == ["Deployment default/web", "StatefulSet default/db"]
    assert (answer.n_fit, answer.n_asked) == (5, 5)


@pytest.mark.parametrize(("kind", "name"), [("StatefulSet", "web"), ("ReplicaSet", "web-old")])
def test_pods_that_a_rollout_never_creates_belong_to_their_workload(kind, name):
    new = "StatefulSet" if kind == "StatefulSet" else "Deployment"
    strategy = {} if kind == "StatefulSet" else {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}
    solo = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "solo"}, "spec": {"containers": [{"name": "c"}]}}
    old = running(3, kind, name)
    answer = fit([*nodes(3), *old], stream(workload(new, 3, cpu="5", **strategy), solo), rollout=True)
    counts = [(one.workload, one.n_asked, one.n_fit) for one in answer.by_workload]
    assert counts == [(f"{new} default/web", 3, 0), ("Pod default/solo", 1, 1)]
    assert f"; {new} default/web, 0 of 3: " in fit_page(answer).verdict.text


def test_the_number_of_replicas_can_change_with_a_rollout():
    answer = fit([*nodes(4), *running(4)], stream(workload()), rollout=True, replicas=9)
    assert (answer.n_fit, answer.n_asked, answer.rollouts[0].n_old_left) == (9, 9, 0)


def test_what_has_no_rollout_is_an_error():
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}},
    }
    with pytest.raises(InputError, match="Job default/web has no rollout"):
        fit([*nodes(1), *running(1, "Job", "web")], stream(job), rollout=True)
    on_delete = workload("StatefulSet", updateStrategy={"type": "OnDelete"})
    with pytest.raises(InputError, match="StatefulSet default/web has the update strategy OnDelete"):
        fit([*nodes(1), *running(1, "StatefulSet", "web")], stream(on_delete), rollout=True)
    bad = workload(strategy={"rollingUpdate": {"maxSurge": "many"}})
    with pytest.raises(InputError, match="Deployment default/web: maxSurge: found many; expected a number such as 1"):
        fit([*nodes(1), *running(1)], stream(bad), rollout=True)
    with pytest.raises(InputError, match="rollout and a search are mutually exclusive"):
        fit([*nodes(1), *running(1)], stream(workload()), rollout=True, maximum=True)


def test_a_rollout_that_stops_for_its_own_pods_names_the_strategy_that_ends_it():
    spread = {"maxSurge": 1, "maxUnavailable": 0}
    new = stream(workload(replicas=3, strategy={"rollingUpdate": spread}))
    answer = fit([*nodes(3, cpu="1"), *running(3)], new, rollout="replace")
    (rollout,) = answer.rollouts
    assert (rollout.n_old_left, rollout.way_out) == (3, "maxSurge: 0 and maxUnavailable: 1")


def test_a_rollout_that_no_strategy_ends_names_none():
    answer = fit([*nodes(4, cpu="1"), *running(4)], stream(workload(cpu="2")), rollout="replace")
    (rollout,) = answer.rollouts
    assert (rollout.n_old_left > 0, rollout.way_out) == (True, "")


def test_a_strategy_that_is_set_already_is_no_fix_and_a_larger_one_is_named():
    """One replica is pending, so maxUnavailable lets no other go, and each old one keeps the new ones off its node."""
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-old", "uid": "o", "controller": True}
    about = {"labels": {"app": "web", "pod-template-hash": "old"}, "metadata": {"ownerReferences": [owner]}}
    old = [make_pod(f"web-old-{i}", node=f"n{i}" * (i < 3), spec={"affinity": apart}, **about) for i in range(4)]
    new = workload(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}})
    answer = fit([*nodes(3), *old], stream(new))
    (rollout,) = answer.rollouts
    assert (rollout.n_old_left, rollout.way_out) == (3, "maxSurge: 0 and maxUnavailable: 50%")
    assert not [one.fix for one in answer.placements if "maxUnavailable: 1" in one.fix]
