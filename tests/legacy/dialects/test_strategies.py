import pytest

from kubesched.legacy.dialects import for_kube_scheduler
from tests.legacy.dialects.documents import args, converted, profile_of, weights

MOST = "NodeResourcesMostAllocated"
BIG = {"enabled": [{"name": MOST, "weight": 5}]}
PACKING = {"scoringStrategy": {"type": "MostAllocated"}}
GPU = [{"name": "cpu", "weight": 1}, {"name": "nvidia.com/gpu", "weight": 5}]


def joined(profile: dict, version: str = "v1") -> tuple[dict, list]:
    if version != "v1":
        profile = profile_of(version, {"profiles": [profile]})
    document, notices = for_kube_scheduler({"profiles": [profile]})
    (after,) = document["profiles"]
    return after, [notice for notice in notices if "NodePreferAvoidPods" not in notice.text]


def policy(*priorities: tuple[str, int]) -> tuple[dict, list]:
    given = [{"name": name, "weight": weight} for name, weight in priorities]
    conversion = converted("Policy", {"predicates": [], "priorities": given})
    document, notices = for_kube_scheduler(conversion.document, conversion.uses)
    return document["profiles"][0], notices


@pytest.mark.parametrize("version", ["v1", "v1beta3", "v1beta2", "v1beta1"])
def test_a_packing_file_packs_in_every_version(version):
    profile, (kept, lost) = joined({"plugins": {"score": BIG}}, version)
    assert weights(profile)["NodeResourcesFit"] == 5
    assert args(profile, "NodeResourcesFit") == PACKING
    assert kept.text == f"{MOST} (weight 5) is NodeResourcesFit now, with the strategy MostAllocated"
    assert lost.is_loss
    assert lost.text.endswith("NodeResourcesFit has one strategy, MostAllocated, which packs pods, weight 5")


def test_a_v1_file_gets_nothing_else():
    profile, _ = joined({"schedulerName": "a", "plugins": {"score": BIG}})
    assert profile == {
        "schedulerName": "a",
        "plugins": {"score": {"enabled": [{"name": "NodeResourcesFit", "weight": 5}]}},
        "pluginConfig": [{"name": "NodeResourcesFit", "args": PACKING}],
    }


@pytest.mark.parametrize("version", ["v1", "v1beta3", "v1beta2", "v1beta1"])
def test_disabling_the_plugin_of_the_other_strategy_leaves_no_trace(version):
    profile, _ = joined({"plugins": {"score": {**BIG, "disabled": [{"name": "NodeResourcesLeastAllocated"}]}}}, version)
    assert weights(profile)["NodeResourcesFit"] == 5
    assert args(profile, "NodeResourcesFit") == PACKING
    assert "disabled" not in profile["plugins"]["score"]


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
def test_the_same_strategy_keeps_its_resources_and_gets_the_weight(version):
    fit = {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", "resources": GPU}}}
    profile, (notice,) = joined({"plugins": {"score": BIG}, "pluginConfig": [fit]}, version)
    assert weights(profile)["NodeResourcesFit"] == 5
    assert args(profile, "NodeResourcesFit") == fit["args"]
    assert not notice.is_loss


def test_of_two_strategies_the_heavier_one_stays_and_the_other_is_named():
    profile, (kept, lost) = policy(("LeastRequestedPriority", 1), ("MostRequestedPriority", 2))
    assert weights(profile) == {"NodeResourcesFit": 2}
    assert args(profile, "NodeResourcesFit") == PACKING
    assert kept.text.startswith(f"priority MostRequestedPriority ({MOST}, weight 2) is NodeResourcesFit now")
    assert lost.text.startswith(
        "no equivalent: priority LeastRequestedPriority (NodeResourcesLeastAllocated, weight 1); "
    )

    profile, (lost,) = policy(("LeastRequestedPriority", 3), ("MostRequestedPriority", 2))
    assert weights(profile) == {"NodeResourcesFit": 3}
    assert args(profile, "NodeResourcesFit") == {"scoringStrategy": {"type": "LeastAllocated"}}
    assert lost.is_loss
    assert lost.text == (
        f"no equivalent: priority MostRequestedPriority ({MOST}, weight 2); "
        "NodeResourcesFit has one strategy, LeastAllocated, which spreads pods, weight 3"
    )


def test_a_plugin_at_multi_point_scores_too():
    profile, _ = joined({"plugins": {"multiPoint": BIG}})
    assert weights(profile) == {"NodeResourcesFit": 5}
    assert "multiPoint" not in profile["plugins"]


def test_without_other_plugins_node_resources_fit_prepares_its_score():
    multi = {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}, {"name": "DefaultBinder"}]}
    profile, (notice,) = joined({"plugins": {"multiPoint": multi, "score": BIG}})
    assert profile["plugins"]["preScore"] == {"enabled": [{"name": "NodeResourcesFit"}]}
    assert "filter" not in profile["plugins"]
    assert not notice.is_loss


def test_a_plugin_that_only_a_disabled_set_names_changes_nothing():
    document = {"profiles": [{"plugins": {"score": {"disabled": [{"name": MOST}]}}}]}
    assert for_kube_scheduler(document) == (document, [])
