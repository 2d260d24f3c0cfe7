"""What an extender says at start: each sentence where it applies, and nowhere else."""

import re

import pytest

from kubesched.config import RULES, ExtenderConfig, KubeSchedulerConfiguration, KubeSchedulerProfile
from kubesched.extender import advice, find_offer
from kubesched.framework import Plugin, Profile, Status
from kubesched.testing import minimal_profile


class Filters(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS


class Scores(Plugin):
    def score(self, state, pod, node):
        return 1


class Preempts(Filters):
    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


class Counts(Preempts):
    def filter(self, state, pod, node):
        return Status.unschedulable("full") if node.pods else Status.SUCCESS


class Binds(Plugin):
    def reserve(self, state, pod, node_name):
        return Status.SUCCESS


def profile_of(*plugins: Plugin, name: str = "default-scheduler", weights: dict[str, int] | None = None) -> Profile:
    """A profile that holds these plugins and no helpers, as behind a kube-scheduler."""
    made = minimal_profile(*plugins, weights=weights)
    points = {point: tuple(one for one in called if one in plugins) for point, called in made.points.items()}
    return Profile(name, 0, points, made.weights, plugins)


def said(
    *plugins: Plugin, configuration: KubeSchedulerConfiguration | None = None, n_nodes: int | None = 50, **options
) -> str:
    """All that is said of plugins, as one text."""
    offer = find_offer([profile_of(*plugins)])
    chosen = {"is_watched": True, "scheduler_version": "v1.36.3"} | options
    return "\n".join(advice(offer, configuration or KubeSchedulerConfiguration(), n_nodes=n_nodes, **chosen))


def test_an_extender_that_lets_everybody_in_says_so():
    assert "Every client that can reach this extender can call it" in said(Preempts(), is_open=True)
    assert "can make it bind any pod" in said(Binds(), is_open=True)
    assert "Every client" not in said(Binds())


def test_nothing_is_said_where_nothing_is_odd():
    assert said(Preempts()) == ""


def test_scores_lose_resolution():
    assert "whole numbers from 0 to 10" in said(Scores())
    assert "0..10" not in said(Preempts())


def test_one_node_is_never_scored():
    assert "one node" in said(Scores(), n_nodes=1)
    assert "one node" not in said(Scores(), n_nodes=2)
    assert "one node" not in said(Scores(), n_nodes=None)
    assert "one node" not in said(Filters(), n_nodes=1)


@pytest.mark.parametrize(
    ("percentage", "n_nodes", "words"),
    [
        (0, 100, None),
        (0, 101, "at its default, kube-scheduler stops after 100 of 101 nodes"),
        (0, 5000, "after 500 of 5000 nodes"),
        (0, None, "at its default, kube-scheduler stops after some of the nodes"),
        (30, 1000, "percentageOfNodesToScore: 30, kube-scheduler stops after 300 of 1000 nodes"),
        (30, 90, None),
        (100, 5000, None),
        (100, None, None),
    ],
)
def test_a_filter_is_told_of_nodes_that_it_is_not_shown(percentage: int, n_nodes: int | None, words: str | None):
    configuration = KubeSchedulerConfiguration(percentage_of_nodes_to_score=percentage)
    text = said(Preempts(), configuration=configuration, n_nodes=n_nodes)
    assert words in text if words else text == ""
    assert "kube-scheduler stops after" not in said(Scores(), configuration=configuration, n_nodes=n_nodes)


def test_the_percentage_of_a_profile_counts_before_the_general_one():
    of_profile = KubeSchedulerProfile(percentage_of_nodes_to_score=100)
    whole = KubeSchedulerConfiguration(profiles=(of_profile,))
    assert said(Preempts(), configuration=whole, n_nodes=5000) == ""
    mixed = KubeSchedulerConfiguration(profiles=(of_profile, KubeSchedulerProfile(percentage_of_nodes_to_score=20)))
    assert "after 1000 of 5000 nodes" in said(Preempts(), configuration=mixed, n_nodes=5000)


@pytest.mark.parametrize(("version", "is_named"), [("v1.33.0", True), ("1.36", True), ("v1.32.9", False), (None, True)])
def test_whole_nodes_make_newer_versions_score_idle_nodes(version: str | None, is_named: bool):
    text = said(Preempts(), is_watched=False, scheduler_version=version)
    assert "nodeCacheCapable: false" in text
    assert ("idle" in text) is is_named
    assert "idle" not in said(Scores(), is_watched=False, scheduler_version=version)


def test_rejections_that_become_unresolvable_are_told():
    assert "--preemption-helps" in said(Filters())
    assert said(Filters(), preemption_helps=True) == said(Preempts()) == ""


def test_plugins_whose_rejections_become_unresolvable_are_named():
    text = said(Preempts(), Filters(), profiles=[profile_of(Preempts(), Filters())])
    assert text.startswith("Rejections by Filters without a preempt hook are passed on")
    assert said(Preempts(), profiles=[profile_of(Preempts())]) == ""


def test_binding_is_for_one_process():
    assert "Let one process bind" in said(Binds())
    assert "bind" not in said(Scores())


@pytest.mark.parametrize(
    ("version", "is_told"), [("v1.29.4-gke.100", True), ("v1.30.0", False), (None, True), ("head", True)]
)
def test_ignorable_does_not_cover_bind_in_old_versions(version: str | None, is_told: bool):
    configuration = KubeSchedulerConfiguration(extenders=(ExtenderConfig(ignorable=True),))
    assert ("ignorable" in said(Binds(), configuration=configuration, scheduler_version=version)) is is_told
    assert "ignorable" not in said(Binds(), scheduler_version=version)
    assert "ignorable" not in said(Scores(), configuration=configuration, scheduler_version=version)


def test_profiles_with_a_smaller_sum_of_weights_are_named():
    small, large = profile_of(Scores(), name="small"), profile_of(Scores(), name="large", weights={"Scores": 10})
    text = said(Scores(), profiles=[small, large])
    assert '"small" (1) with a smaller sum come in steps of 100 points' in text
    assert "steps" not in said(Scores(), profiles=[small, small])


def test_a_filter_that_counts_pods_is_not_exact_unless_the_extender_binds():
    text = said(Counts(), profiles=[profile_of(Counts())])
    assert text.startswith("The filter of Counts reads pods, and the extender does not bind")
    assert "waits up to 0.1 s" in text
    assert "--bind shortens the wait; a reserve hook that checks again makes the limit exact." in text
    assert "reads pods" not in said(Counts(), Binds(), profiles=[profile_of(Counts(), Binds())])
    assert said(Preempts(), profiles=[profile_of(Preempts())]) == ""


def test_what_a_configuration_shows_is_a_rule_of_config_check():
    assert said(Preempts(), n_nodes=5000).endswith(" [extender-sampling]")
    assert said(Preempts(), is_watched=False).endswith(" [extender-whole-nodes]")
    ignorable = KubeSchedulerConfiguration(extenders=(ExtenderConfig(ignorable=True),))
    text = said(Binds(), configuration=ignorable, scheduler_version="v1.29.0")
    assert text.endswith(" [extender-ignorable-bind]")
    assert set(re.findall(r"\[(extender-[\w-]+)\]", text)) <= set(RULES)


class Orders(Filters):
    def less(self, a, b):
        return False

    def pre_enqueue(self, pod):
        return Status.SUCCESS


class Evicts(Filters):
    def post_filter(self, state, pod, diagnosis):
        return None, Status.unschedulable()


def test_hooks_that_the_protocol_never_calls_are_named_in_one_sentence():
    plugins = (Orders(), Evicts(), Filters(), Binds())
    text = said(*plugins, profiles=[profile_of(*plugins)])
    (line,) = [line for line in text.splitlines() if "never calls" in line]
    assert "never calls post_filter of Evicts and pre_enqueue, less of Orders: " in line
    assert "never calls" not in said(Binds(), Preempts(), profiles=[profile_of(Binds(), Preempts())])
