from kubesched.framework import Plugin
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import ask, profile, three_nodes

ONLY = "{score: {disabled: [{name: '*'}], enabled: [{name: %s}]}, preScore: {disabled: [{name: '*'}]}}"


class ByName(Plugin):
    """The last figure of the node's name, times ten."""

    def score(self, state, pod, node):
        return 10 * int(node.name[-1])


def test_the_best_node_and_its_runners_up_come_with_their_scores():
    found = ask(make_pod("p"), *three_nodes(), plugins=[ByName], config=profile(ONLY % "ByName")).choice
    assert found is not None
    assert [(one.node, one.total) for one in (found.best, *found.runners_up)] == [("n3", 30), ("n2", 20), ("n1", 10)]
    assert found.best.scores == {"ByName": 30}


def test_the_plugin_with_the_largest_lead_decided():
    found = ask(make_pod("p"), *three_nodes(), plugins=[ByName]).choice
    assert found is not None
    assert (found.n_best, found.plugin, found.lead) == (1, "ByName", 10)


def test_of_equally_good_nodes_the_first_is_taken_and_nothing_decided():
    found = ask(make_pod("p"), *three_nodes()).choice
    assert found is not None
    assert (found.best.node, found.n_best, found.plugin, found.lead) == ("n1", 3, "", 0)


def test_a_pod_that_fits_nowhere_has_no_choice():
    assert ask(make_pod("p", requests={"cpu": "99"}), make_node("n1")).choice is None
