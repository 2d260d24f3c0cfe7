"""Which of the asked pods fit, where, and how many in all."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.errors import InputError
from kubesched.pages.formats import Paragraph, Table
from kubesched.pages.plans import fit_page
from kubesched.planning import fit
from kubesched.session import PodState
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import owned_by
from tests.trials import examples

NODES = [
    make_node(f"n{i}", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10"}, zone="ab"[i % 2]) for i in range(3)
]


def deployment(replicas=2, cpu="1", name="web", **spec):
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}}
    body = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": body}


def stream(*documents):
    return io.BytesIO("\n---\n".join(map(json.dumps, documents)).encode())


def test_pods_of_a_manifest_that_fit_all():
    answer = fit(NODES, stream(deployment(4)))
    assert (answer.n_fit, answer.n_asked, answer.all_fit, answer.first_left) == (4, 4, True, None)
    assert answer.workloads == ("Deployment default/web",)
    assert {one.node for one in answer.placements} == {"n0", "n1", "n2"}


def test_the_first_pod_that_does_not_fit_has_its_reason():
    answer = fit(NODES, stream(deployment(14)))
    assert (answer.n_fit, answer.n_asked) == (12, 14)
    assert answer.first_left is answer.placements[12]
    assert answer.first_left.message.startswith("0/3 nodes are available: 3 Insufficient cpu.")


@pytest.mark.parametrize("replicas", [1, 5])
def test_replicas_replace_the_number_in_the_manifest(replicas):
    assert fit(NODES, stream(deployment(3)), replicas=replicas).n_fit == replicas


def test_requests_alone_are_a_pod():
    answer = fit(NODES, {"cpu": "2", "memory": "1Gi"}, replicas=7)
    assert (answer.n_fit, answer.n_asked) == (6, 7)


def test_extended_resources_are_requests_too():
    gpu = make_node("gpu", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10", "nvidia.com/gpu": "2"})
    assert fit([*NODES, gpu], {"nvidia.com/gpu": 1}, maximum=True).n_fit == 2


def test_pods_that_are_pending_already_are_tried_first():
    pending = [make_pod(f"p{i}", requests={"cpu": "4"}) for i in range(2)]
    answer = fit([*NODES, *pending], {"cpu": "4"}, maximum=True)
    assert answer.n_fit == 1
    assert answer.report.count(PodState.SCHEDULED) == 3


def test_a_stateful_set_can_have_more_replicas_than_its_manifest():
    db = deployment(1, name="db") | {"kind": "StatefulSet"}
    answer = fit(NODES, stream(db), replicas=3)
    assert [one.pod for one in answer.placements] == ["default/db-0", "default/db-1", "default/db-2"]


def test_the_largest_number_counts_what_leaves_for_the_pods():
    low = [make_pod(f"low{i}", node=f"n{i}", requests={"cpu": "3"}, priority=-5) for i in range(3)]
    answer = fit([*NODES, *low], {"cpu": "4"}, maximum=True)
    assert (answer.n_fit, len(answer.report.victims)) == (3, 3)
    assert answer.next_left.message.startswith("0/3 nodes are available: 3 Insufficient cpu.")


def test_the_largest_number_can_be_nothing():
    answer = fit(NODES, {"cpu": "5"}, maximum=True)
    assert (answer.n_fit, answer.n_asked, answer.placements) == (0, 0, ())
    assert "3 Insufficient cpu" in answer.next_left.message


def test_the_largest_number_of_pods_that_keep_apart_is_one_for_each_node():
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [make_node(f"n{i}", labels={"kubernetes.io/hostname": f"n{i}"}) for i in range(3)]
    answer = fit(nodes, stream(deployment(2, affinity=apart)), maximum=True)
    assert answer.n_fit == 3
    assert "didn't match pod anti-affinity rules" in answer.next_left.message


def test_a_number_needs_one_workload():
    two = stream(deployment(), deployment(name="api"))
    with pytest.raises(
        InputError,
        match=r"replicas and maximum need one workload; found 2: default/deployment/web, default/deployment/api; "
        r'choose one, such as only="default/deployment/web"',
    ):
        fit(NODES, two, replicas=3)


def test_where_no_workload_has_replicas_none_is_proposed():
    daemons = [deployment(name="logs") | {"kind": "DaemonSet"}, deployment(name="agent") | {"kind": "DaemonSet"}]
    for one in daemons:
        one["spec"] = {name: value for name, value in one["spec"].items() if name != "replicas"}
    with pytest.raises(InputError) as raised:
        fit(NODES, stream(*daemons), maximum=True)
    assert str(raised.value) == (
        "replicas and maximum need one workload; found 2: default/daemonset/logs, default/daemonset/agent; "
        "a DaemonSet has one pod on each node and no replicas"
    )


def test_one_of_several_workloads_is_chosen():
    two = (deployment(), deployment(cpu="2", name="api"))
    answer = fit(NODES, stream(*two), only="deploy/api", maximum=True)
    assert (answer.n_fit, answer.workloads) == (6, ("Deployment default/api",))
    assert answer.notes == ("1 other workload of the manifests is left out",)
    assert fit(NODES, stream(*two), only="default/deployment/web", replicas=3).n_asked == 3


def test_what_else_is_in_the_manifests_counts_for_the_chosen_workload():
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 9,
    }
    low = [make_pod(f"low{i}", node=f"n{i}", requests={"cpu": "4"}) for i in range(3)]
    asked = stream(high, deployment(1, cpu="4", priorityClassName="high"), deployment(9, name="api"))
    answer = fit([*NODES, *low], asked, only="deploy/web")
    assert (answer.n_fit, answer.n_asked, len(answer.report.victims)) == (1, 1, 1)


def test_a_workload_that_the_manifests_do_not_have_is_an_error():
    with pytest.raises(InputError, match=r'deploy/wbe: the manifests have no Deployment wbe; did you mean "web"\?'):
        fit(NODES, stream(deployment(), deployment(name="api")), only="deploy/wbe")
    with pytest.raises(
        InputError, match=r"the manifests have no Job x; found: default/deployment/web, default/deployment/api"
    ):
        fit(NODES, stream(deployment(), deployment(name="api")), only="job/x")


def test_a_daemon_set_has_no_number_of_replicas():
    daemons = deployment(name="logs") | {"kind": "DaemonSet"}
    del daemons["spec"]["replicas"]
    with pytest.raises(InputError, match="DaemonSet default/logs has one pod on each node and no replicas"):
        fit(NODES, stream(daemons), maximum=True)


@pytest.mark.parametrize("replicas", [0, -1, 500_001])
def test_a_number_out_of_range_is_an_error(replicas):
    with pytest.raises(InputError, match=f"replicas: found {replicas}; expected 1 to 500000"):
        fit(NODES, {"cpu": "1"}, replicas=replicas)


def test_manifests_without_a_workload_are_an_error():
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}
    with pytest.raises(InputError, match="the manifests have no pods: "):
        fit(NODES, stream(config))


def test_a_workload_that_has_no_pods_now_is_an_answer():
    answer = fit(NODES, stream(deployment(0)))
    assert (answer.placements, answer.all_fit, answer.is_known) == ((), True, True)
    assert [(one.workload, one.why) for one in answer.without_pods] == [
        ("Deployment default/web", "has 0 replicas (spec.replicas: 0)")
    ]
    page = fit_page(answer, again="kubesched fit -f web.yaml")
    assert page.verdict.text == (
        "The manifests have no pod to place: Deployment default/web has 0 replicas (spec.replicas: 0)."
    )
    assert page.next_command == ""


def suspended(kind="Job"):
    spec = {"template": deployment()["spec"]["template"], "suspend": True, "parallelism": 2, "completions": 2}
    if kind == "CronJob":
        template = {key: value for key, value in spec.items() if key != "suspend"}
        spec = {"schedule": "* * * * *", "suspend": True, "jobTemplate": {"spec": template}}
    return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": "train"}, "spec": spec}


@pytest.mark.parametrize(
    "asleep",
    [suspended(), suspended("CronJob"), deployment(0), deployment(0) | {"kind": "StatefulSet"}],
)
def test_a_number_asks_for_the_pods_of_a_workload_that_has_none_now(asleep):
    answer = fit(NODES, stream(asleep), replicas=5)
    assert (answer.n_asked, answer.without_pods) == (5, ())
    assert any(note.endswith("; its pods are tried as if it were resumed") for note in answer.notes)
    assert fit(NODES, stream(asleep), maximum=True).n_fit > 0


def test_a_workload_that_sleeps_beside_another_one_is_not_what_a_number_is_about():
    assert fit(NODES, stream(deployment(1), suspended()), replicas=2).workloads == ("Deployment default/web",)


def test_only_one_of_several_workloads_may_be_one_that_has_no_pods():
    answer = fit(NODES, stream(deployment(1), suspended()), only="job/train")
    assert answer.placements == ()
    assert [one.workload for one in answer.without_pods] == ["Job default/train"]
    assert fit(NODES, stream(deployment(1), suspended()), only="deploy/web").without_pods == ()


def test_a_number_of_pods_of_a_daemon_set_without_nodes_is_an_error():
    daemons = deployment() | {"kind": "DaemonSet"}
    del daemons["spec"]["replicas"]
    daemons["spec"]["template"]["spec"]["nodeSelector"] = {"gpu": "yes"}
    assert fit(NODES, stream(daemons)).n_asked == 0
    with pytest.raises(InputError, match="DaemonSet default/web would run on 0 of 3 nodes: no node has gpu=yes"):
        fit(NODES, stream(daemons), replicas=2)


@st.composite
def questions(draw):
    """A small cluster with pods of several priorities, some pending, and a pod to ask about."""
    amounts = st.sampled_from([0, 500, 1000, 2000])
    nodes = [
        make_node(
            f"n{i}", allocatable={"cpu": f"{draw(st.integers(0, 6))}", "pods": "4"}, zone=draw(st.sampled_from("ab"))
        )
        for i in range(draw(st.integers(1, 3)))
    ]
    pods = [
        make_pod(
            f"p{i}",
            node=draw(st.sampled_from(["", *(node.name for node in nodes)])),
            requests={"cpu": f"{draw(amounts)}m"},
            labels={"app": "x"},
            priority=draw(st.integers(-1, 2)),
        )
        for i in range(draw(st.integers(0, 5)))
    ]
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    spec = {"topologySpreadConstraints": [spread]} if draw(st.booleans()) else {}
    asked = make_pod(
        "new", requests={"cpu": f"{draw(amounts)}m"}, labels={"app": "x"}, priority=draw(st.integers(0, 2)), spec=spec
    )
    return [make_object("Namespace", "default"), *nodes, *pods], asked


@given(questions())
@examples(5)
def test_as_many_as_the_largest_number_fit_and_one_more_does_not(question):
    cluster, pod = question
    n = fit(cluster, [pod], maximum=True).n_fit
    assert n == 0 or fit(cluster, [pod], replicas=n).all_fit
    assert not fit(cluster, [pod], replicas=n + 1).all_fit


def test_the_fewest_new_nodes_are_found():
    answer = fit(NODES, {"cpu": "3"}, replicas=6, nodes_like="n0")
    assert (answer.n_fit, answer.n_without, answer.added_nodes) == (6, 3, ("new-1", "new-2", "new-3"))
    assert not fit(NODES, {"cpu": "3"}, replicas=6, nodes_like="n0", n_nodes=2).all_fit


def test_no_new_node_is_needed_where_all_fit():
    answer = fit(NODES, {"cpu": "3"}, replicas=3, nodes_like="n0")
    assert (answer.all_fit, answer.n_without, answer.added_nodes) == (True, 3, ())


def test_no_number_of_nodes_that_are_too_small_is_enough():
    answer = fit(NODES, {"cpu": "5"}, replicas=2, nodes_like="n0")
    assert (answer.n_fit, answer.added_nodes, answer.n_at_most) == (0, (), 0)
    assert answer.obstacle == "requests 5 cpu; the whole node has 4"


BIG = make_node("big", allocatable={"cpu": "8", "memory": "8Gi", "pods": "9"})


def test_new_nodes_that_other_pending_pods_take_are_counted():
    first = [make_pod(f"first{i}", requests={"cpu": "8"}, priority=5) for i in range(3)]
    answer = fit([*NODES, *first], {"cpu": "8"}, nodes_like=BIG)
    assert (answer.all_fit, len(answer.added_nodes), answer.n_without) == (True, 4, 0)
    said = [part.text for part in fit_page(answer).parts if isinstance(part, Paragraph)]
    assert "3 pods were pending before and take part in the queue; 3 of them would go to new nodes." in said
    assert not fit([*NODES, *first], {"cpu": "8"}, nodes_like=BIG, n_nodes=3).all_fit


def test_a_taint_of_the_model_is_named_where_no_new_node_helps():
    model = make_node("gpu", allocatable={"cpu": "6"}, taints=["dedicated=gpu:NoSchedule"])
    page = fit_page(fit([*NODES, model], {"cpu": "6"}, replicas=2, nodes_like="gpu"))
    assert page.verdict.text == (
        "0 of 2 would fit, and more nodes like gpu would not help. The pod does not fit on a new one: "
        "taint dedicated=gpu:NoSchedule is not tolerated."
    )
    assert page.document["obstacle"] == "taint dedicated=gpu:NoSchedule is not tolerated"


def test_the_cordon_of_the_model_is_no_obstacle():
    taints = ["node.kubernetes.io/unschedulable:NoSchedule"]
    model = make_node("old", allocatable={"cpu": "8"}, taints=taints, unschedulable=True)
    answer = fit([*NODES, model], {"cpu": "8"}, replicas=2, nodes_like="old")
    assert (answer.all_fit, len(answer.added_nodes)) == (True, 2)
    assert answer.notes == ("new nodes like old would not have its cordon",)


def test_the_pods_that_a_new_node_begins_with_are_named_where_they_leave_no_room():
    daemons = [
        make_pod(f"d{i}", node="n0", requests={"cpu": "1"}, metadata=owned_by("DaemonSet", f"d{i}")) for i in "ab"
    ]
    page = fit_page(fit([*NODES, *daemons], {"cpu": "3"}, replicas=9, nodes_like="n0"))
    assert page.verdict.text == (
        "2 of 9 would fit, and more nodes like n0 would not help. The pod does not fit on a new one: "
        "cpu is short by 1: requests 3, 2 of 4 free; 2 DaemonSet or static pods run there."
    )


def test_nodes_that_help_some_of_the_pods_are_not_enough():
    web, db = deployment(4, cpu="4"), deployment(1, cpu="6", name="db")
    answer = fit(NODES, stream(web, db), nodes_like="n0")
    assert (answer.n_fit, answer.n_at_most, answer.added_nodes) == (3, 4, ())
    assert fit_page(answer).verdict.text == (
        "3 of 5 would fit, and at most 4 with more nodes like n0. "
        "A pod of Deployment default/db does not fit on a new one: requests 6 cpu; the whole node has 4."
    )


def test_pods_that_keep_apart_from_each_other_name_the_pod_in_the_way():
    term = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    answer = fit(NODES, stream(deployment(3, affinity=apart)), nodes_like="n0")
    assert (answer.n_fit, answer.added_nodes) == (2, ())
    assert "nodes are available" not in fit_page(answer).verdict.text
    assert "default/web-" in answer.obstacle


def test_new_nodes_of_a_file_run_the_daemons_that_their_labels_and_taints_allow(tmp_path):
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "d", "controller": True}
    about = {"metadata": {"ownerReferences": [daemon]}}
    logs = make_pod("logs-1", node="n0", requests={"cpu": "1"}, **about)
    daemon["name"] = "gpu-driver"
    driver = make_pod("driver-1", node="n0", requests={"cpu": "4"}, node_selector={"gpu": "yes"}, **about)
    path = tmp_path / "node.json"
    path.write_bytes(make_node("big", allocatable={"cpu": "4", "pods": "5"}).raw)
    answer = fit([*NODES, logs, driver], {"cpu": "4"}, replicas=3, nodes_like=str(path))
    assert (answer.n_without, answer.added_nodes) == (2, ())
    assert fit([*NODES, logs, driver], {"cpu": "3"}, replicas=3, nodes_like=str(path)).added_nodes == ("new-1",)


def test_evictions_name_the_budgets_that_they_break():
    labels = {"app": "low"}
    low = [make_pod(f"low{i}", node=f"n{i}", requests={"cpu": "3"}, priority=-5, labels=labels) for i in range(3)]
    budget = make_object(
        "PodDisruptionBudget",
        "low",
        spec={"selector": {"matchLabels": labels}},
        status={"disruptionsAllowed": 1},
    )
    answer = fit([*NODES, *low, budget], {"cpu": "4"}, replicas=2)
    first, second = (victim.pod for victim in answer.report.victims)
    assert {one.pod: one.broken for one in answer.report.victims if one.broken} == {second: ("default/low",)}
    assert first != second


def test_the_largest_number_on_new_nodes_needs_their_number():
    with pytest.raises(InputError, match="maximum needs the number of new nodes"):
        fit(NODES, {"cpu": "1"}, maximum=True, nodes_like="n0")
    assert fit(NODES, {"cpu": "4"}, maximum=True, nodes_like="n0", n_nodes=2).n_fit == 5


def test_a_cluster_that_can_be_read_once_is_enough():
    answer = fit((one for one in NODES), stream(deployment(4)))
    assert (answer.n_fit, answer.n_asked) == (4, 4)


def test_who_leaves_for_other_pending_pods_is_another_table():
    cluster = [make_node("n1", allocatable={"cpu": "2", "pods": "10"}), make_node("n2", allocatable={"cpu": "1"})]
    cluster += [
        make_pod("old", node="n1", requests={"cpu": "2"}),
        make_pod("urgent", requests={"cpu": "2"}, priority=9),
    ]
    page = fit_page(fit(cluster, stream(deployment(1))))
    evicted = {part.name: len(part.rows) for part in page.parts if isinstance(part, Table) and "victims" in part.name}
    assert evicted == {"victims": 0, "victimsOfOthers": 1}
    said = [part.text for part in page.parts if isinstance(part, Paragraph)]
    assert "1 pod was pending before and takes part in the queue." in said
