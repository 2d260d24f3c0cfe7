import pytest

from kubesched.errors import PluginError
from kubesched.framework import Plugin, PreFilterResult, Status, Wait
from kubesched.session import PodState, Simulator
from kubesched.testing import FakeCluster, filter_all, make_node, make_object, make_pod, minimal_profile, score_all

NODES = [make_node("n1", zone="a"), make_node("n2", zone="b")]
POD = make_pod("web", labels={"team": "red"})


class ZoneA(Plugin):
    """Only zone a; the emptier the better."""

    def filter(self, state, pod, node):
        here = node.labels["topology.kubernetes.io/zone"] == "a"
        return Status.SUCCESS if here else Status.unschedulable("wrong zone")

    def score(self, state, pod, node):
        return 10 - len(node.pods)


class Narrow(Plugin):
    def pre_filter(self, state, pod, nodes):
        return PreFilterResult(frozenset({"n2"}))


class Skips(Plugin):
    def pre_score(self, state, pod, nodes):
        return Status.SKIP

    def score(self, state, pod, node):
        return 1


def test_every_node_has_a_verdict():
    assert filter_all(ZoneA(), POD, NODES) == {
        "n1": Status.SUCCESS,
        "n2": Status.unschedulable("wrong zone").by("ZoneA"),
    }


def test_a_rejection_by_pre_filter_stands_for_every_node():
    class Never(Plugin):
        def pre_filter(self, state, pod, nodes):
            return Status.unresolvable("never")

    assert {status.message for status in filter_all(Never(), POD, NODES).values()} == {"never"}


def test_nodes_that_pre_filter_leaves_out_are_rejected():
    found = filter_all(Narrow(), POD, NODES)
    assert found["n2"].is_success
    assert found["n1"].message == "node(s) didn't satisfy plugin(s) [Narrow]"


def test_nodes_that_fit_have_a_score():
    assert score_all(ZoneA(), POD, NODES, pods=[make_pod("old", node="n1")]) == {"n1": 9}
    assert score_all(Skips(), POD, NODES) == {}


def test_a_score_that_fails_is_raised():
    class Bad(Plugin):
        def score(self, state, pod, node):
            return 101

    with pytest.raises(PluginError, match="invalid score 101") as raised:
        score_all(Bad(), POD, NODES)
    assert raised.value.plugin == "Bad"


def test_a_cluster_can_change_between_two_questions():
    cluster = FakeCluster(ZoneA(), nodes=NODES)
    old = make_pod("old", node="n1")
    cluster.put(old, make_node("n3", zone="a"))
    assert cluster.score(POD) == {"n1": 9, "n3": 10}
    cluster.remove(old, make_node("n3"))
    assert cluster.score(POD) == {"n1": 10}


def test_plugins_are_started_and_stopped_and_find_other_objects():
    class Counting(Plugin):
        reads = ("Service",)

        def start(self, handle):
            self.events = [len(list(handle.list("Service")))]

        def stop(self):
            self.events.append("stopped")

    plugin = Counting()
    cluster = FakeCluster(plugin, objects=[make_object("Service", "web")])
    cluster.stop()
    assert plugin.events == [1, "stopped"]


def test_weights_multiply_scores():
    profile = minimal_profile(ZoneA(), Skips(), weights={"ZoneA": 3})
    assert profile.weights["ZoneA"] == 3
    assert [plugin.name for plugin in profile.points["score"]] == ["ZoneA", "Skips"]


def test_a_minimal_profile_can_be_simulated():
    class Patient(Plugin):
        def permit(self, state, pod, node_name):
            return Wait(5.0)

    report = Simulator([*NODES, POD], [minimal_profile(Patient())]).run()
    (placement,) = report.placements
    assert placement.state is PodState.UNSCHEDULABLE
    assert placement.message.endswith("rejected due to timeout after waiting 5s at plugin Patient.")


@pytest.mark.parametrize("ask", [filter_all, score_all])
def test_plugins_are_stopped_when_the_question_is_answered(ask):
    class Stops(ZoneA):
        stopped = 0

        def stop(self):
            self.stopped += 1

    plugin = Stops()
    ask(plugin, POD, NODES)
    assert plugin.stopped == 1


class Raises(Plugin):
    def score(self, state, pod, node):
        return {}["zone"]


class RaisesAtStart(Plugin):
    def start(self, handle):
        raise OSError("no such file")

    def score(self, state, pod, node):
        return 0


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (Raises(), r"plugin \"Raises\" failed with: KeyError: 'zone' \(test_fake_cluster.py:\d+ in score\)"),
        (RaisesAtStart(), r"plugin \"RaisesAtStart\": OSError: no such file \(test_fake_cluster.py:\d+ in start\)"),
    ],
)
def test_a_fault_is_one_error_with_its_place(plugin, said):
    with pytest.raises(PluginError, match=said) as caught:
        score_all(plugin, POD, NODES)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
