from kubesched.framework import Code, Plugin, Status
from kubesched.pages.explanations import as_document
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, ask, filling, profile, three_nodes


def test_each_plugin_speaks_for_itself_whatever_the_others_say():
    pod = make_pod("p", requests={"cpu": "3"}, node_selector={"disk": "ssd"})
    found = ask(pod, make_node("n1", allocatable=SMALL))
    assert found.rejections["n1"].plugin == "NodeAffinity"
    assert set(found.by_plugin["NodeResourcesFit"].rejections) == {"n1"}
    assert set(found.by_plugin["NodeAffinity"].rejections) == {"n1"}


def test_a_pre_filter_that_has_nothing_to_do_is_told():
    assert ask(make_pod("p"), *three_nodes()).by_plugin["NodePorts"].skipped


def test_the_rejection_of_the_pod_itself_stands_for_every_node():
    pod = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})
    found = ask(pod, *three_nodes())
    said = found.by_plugin["VolumeBinding"]
    assert said.pre_filter is not None
    assert said.pre_filter.message == 'persistentvolumeclaim "data" not found'
    assert said.rejected.all()
    assert said.status_of(0) is said.pre_filter
    assert found.rejections == {}
    assert found.message == '0/3 nodes are available: persistentvolumeclaim "data" not found.'


def test_nodes_that_pre_filter_leaves_out_count_as_rejected_by_that_plugin_alone():
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}}
    found = ask(make_pod("p", spec={"affinity": {"nodeAffinity": required}}), *three_nodes())
    assert found.by_plugin["NodeAffinity"].node_names == {"n2"}
    assert found.by_plugin["NodeAffinity"].rejected.tolist() == [True, False, True]
    assert found.feasible == ["n2"]


def test_a_filter_without_its_pre_filter_says_so_as_an_error_on_every_node():
    config = profile("{preFilter: {disabled: [{name: NodeResourcesFit}]}}")
    found = ask(make_pod("p"), *three_nodes(), config=config)
    status = found.by_plugin["NodeResourcesFit"].status_of(0)
    assert status.code is Code.ERROR
    assert 'error reading "PreFilterNodeResourcesFit" from cycleState: not found' in status.message
    assert not found.fits
    assert as_document(found)["advice"].startswith("fix the error that plugin NodeResourcesFit reports first")


def test_room_is_kept_for_a_nominated_pod_of_higher_priority():
    nominated = make_pod(
        "first", requests={"cpu": "2"}, priority=10, status={"nominatedNodeName": "n1", "phase": "Pending"}
    )
    found = ask(make_pod("p", requests={"cpu": "1"}), nominated, *three_nodes())
    assert found.feasible == ["n2", "n3"]
    assert found.by_plugin["NodeResourcesFit"].rejected.tolist() == [True, False, False]


def test_a_single_feasible_node_is_scored_too():
    found = ask(make_pod("p"), make_node("n1"))
    assert found.scores is not None
    assert found.best == ["n1"]


class Broken(Plugin):
    def score(self, state, pod, node):
        return 1000


def test_a_score_that_fails_leaves_the_pod_without_a_best_node():
    found = ask(make_pod("p"), *three_nodes(), plugins=[Broken])
    assert found.fits
    assert found.scores is None
    assert found.best == []
    assert "returns an invalid score 1000" in found.message


class FailsOnN2(Plugin):
    def filter(self, state, pod, node):
        if node.name == "n2":
            raise KeyError("x")
        return Status.SUCCESS if node.name == "n1" else Status.unschedulable("full")


def test_a_fault_on_a_node_ends_the_attempt_and_the_other_nodes_are_judged():
    found = ask(make_pod("p"), *three_nodes(), plugins=[FailsOnN2])
    line = as_document(found)
    assert line["error"] == "running \"FailsOnN2\" filter plugin: KeyError: 'x'"
    assert (line["feasible"], line["best"], list(line["total"])) == (["n1"], ["n1"], ["n1"])
    assert "message" not in line
    assert "choice" not in line
    assert {name: status.code for name, status in found.rejections.items()} == {
        "n2": Code.ERROR,
        "n3": Code.UNSCHEDULABLE,
    }
    assert found.preemption is None


class FailsEverywhere(Plugin):
    def filter(self, state, pod, node):
        raise KeyError(node.name)


def test_where_no_node_is_left_a_fault_counts_as_a_rejection_in_the_message_alone():
    line = as_document(ask(make_pod("p"), *three_nodes(), plugins=[FailsEverywhere]))
    assert line["message"].startswith('0/3 nodes are available: 1 running "FailsEverywhere" filter plugin')
    assert line["error"] == "running \"FailsEverywhere\" filter plugin: KeyError: 'n1'"
    assert line["advice"] == "fix plugin FailsEverywhere first; until then no other fix can be tried."
    assert not {"preemption", "choice"} & line.keys()


class FailsBefore(Plugin):
    def pre_filter(self, state, pod, nodes):
        raise KeyError("x")


def test_a_fault_before_the_nodes_are_looked_at_ends_the_attempt():
    found = ask(make_pod("p"), *three_nodes(), plugins=[FailsBefore])
    line = as_document(found)
    assert line["error"] == "running PreFilter plugin \"FailsBefore\": KeyError: 'x'"
    assert line["advice"] == "fix plugin FailsBefore first; until then no other fix can be tried."
    assert not {"preemption", "choice"} & line.keys()


def test_preemption_is_asked_where_no_node_fits():
    victim = make_pod("victim", node="n1", requests={"cpu": "2"}, priority=1)
    found = ask(make_pod("p", requests={"cpu": "2"}, priority=5), victim, make_node("n1", allocatable=SMALL))
    assert found.preemption is not None
    assert found.preemption.node_name == "n1"
    assert [pod.name for pod in found.preemption.victims] == ["victim"]


def test_preemption_that_helps_nowhere_says_why():
    found = ask(make_pod("p", requests={"cpu": "9"}), make_node("n1", allocatable=SMALL))
    assert found.preemption is not None
    assert found.preemption.node_name == ""
    assert "Preemption is not helpful for scheduling" in found.preemption.message


def test_a_profile_without_preemption_has_nothing_to_say_about_it():
    config = profile("{postFilter: {disabled: [{name: '*'}]}}")
    assert ask(make_pod("p", requests={"cpu": "9"}), make_node("n1"), config=config).preemption is None


def test_a_rejection_that_no_eviction_cures_is_for_good():
    pod = make_pod("p", requests={"cpu": "2"})
    taint = make_node("n1", allocatable=SMALL, taints=["gpu:NoSchedule"])
    full = make_node("n2", allocatable=SMALL)
    found = ask(pod, taint, full, filling("n2", cpu="1"))
    assert found.by_plugin["TaintToleration"].rejected_for_good.tolist() == [True, False]
    assert found.by_plugin["NodeResourcesFit"].rejected.tolist() == [False, True]
    assert found.by_plugin["NodeResourcesFit"].rejected_for_good.tolist() == [False, False]


def test_a_pod_in_a_cluster_without_nodes_fits_nowhere():
    found = ask(make_pod("p"), make_object("Namespace", "default"))
    assert found.message == "no nodes available to schedule pods"
    assert found.preemption is None
    assert found.by_plugin["NodeResourcesFit"].rejections == {}


def test_a_pod_behind_a_gate_is_held_back_and_judged_all_the_same():
    found = ask(make_pod("p", spec={"schedulingGates": [{"name": "not-yet"}]}), *three_nodes())
    assert found.held_back == "waiting for scheduling gates: [not-yet]"
    assert found.fits


def test_a_pod_on_its_way_out_is_held_back():
    found = ask(make_pod("p", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), *three_nodes())
    assert found.held_back == "the pod is being deleted"


def test_other_pods_are_not_held_back():
    assert ask(make_pod("p"), *three_nodes()).held_back == ""


def test_status_of_a_node_that_fits_is_success():
    assert ask(make_pod("p"), *three_nodes()).by_plugin["NodeResourcesFit"].status_of(0) is Status.SUCCESS
