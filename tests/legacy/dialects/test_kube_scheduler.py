import pytest

from kubesched.legacy.dialects import for_kube_scheduler
from kubesched.legacy.dialects.kube_scheduler import LEGACY
from kubesched.legacy.dialects.policy_tables import PREDICATES, PRIORITIES
from kubesched.legacy.dialects.replaced import RENAMED, STRATEGIES
from kubesched.legacy.plugins import LEGACY_PLUGINS
from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.setup.registry import BUNDLED_PLUGINS
from tests.legacy.dialects.documents import args, converted, names, weights

SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
RATIO = {"name": "Pack", "weight": 2, "argument": {"requestedToCapacityRatioArguments": {"shape": SHAPE}}}


def cleaned(predicates: list[dict], priorities: list[dict]):
    conversion = converted("Policy", {"predicates": predicates, "priorities": priorities})
    whole, notices = for_kube_scheduler(conversion.document, conversion.uses)
    return whole["profiles"][0], notices


def plain(name: str, weight: int = 1) -> dict:
    return {"name": name, "weight": weight}


def test_selector_spread_becomes_pod_topology_spread_with_its_weight():
    profile, (notice,) = cleaned([], [plain("SelectorSpreadPriority", 4)])
    assert weights(profile) == {"PodTopologySpread": 4}
    assert names(profile, "preScore") == ["PodTopologySpread"]
    assert args(profile, "PodTopologySpread") == {"defaultingType": "System"}
    assert notice.is_loss
    assert notice.text == (
        "no equivalent: priority SelectorSpreadPriority (SelectorSpread, weight 4); "
        "PodTopologySpread scores instead, with weight 4 and its System constraints"
    )


def test_where_pods_are_spread_already_its_weight_stays():
    profile, (notice,) = cleaned([], [plain("SelectorSpreadPriority", 4), plain("EvenPodsSpreadPriority", 2)])
    assert weights(profile) == {"PodTopologySpread": 2}
    assert notice.text.endswith("; PodTopologySpread scores already, with weight 2 and its System constraints")


def test_own_constraints_of_pod_topology_spread_stay():
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    spread = {"name": "PodTopologySpread", "args": {"defaultConstraints": [constraint], "defaultingType": "List"}}
    score = {"enabled": [{"name": "SelectorSpread", "weight": 7}]}
    document = {"profiles": [{"plugins": {"score": score}, "pluginConfig": [spread]}]}
    after, (notice,) = for_kube_scheduler(document)
    assert after == {"profiles": [{"pluginConfig": [spread]}]}
    assert notice.text == (
        "no equivalent: SelectorSpread (weight 7); "
        "PodTopologySpread scores already, with weight 2 and the defaultConstraints of the file"
    )


def test_a_ratio_becomes_the_strategy_of_node_resources_fit():
    profile, (notice,) = cleaned([], [RATIO])
    assert weights(profile) == {"NodeResourcesFit": 2}
    strategy = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": SHAPE}}
    assert args(profile, "NodeResourcesFit") == {"scoringStrategy": strategy}
    assert not notice.is_loss
    assert notice.text == (
        "priority Pack (RequestedToCapacityRatio, weight 2) is NodeResourcesFit now, with the strategy "
        "RequestedToCapacityRatio; the utilization is rounded down, no longer up"
    )


def test_a_ratio_beside_another_strategy_is_a_loss():
    profile, (notice,) = cleaned([], [RATIO, plain("LeastRequestedPriority", 3)])
    assert weights(profile) == {"NodeResourcesFit": 3}
    assert notice.is_loss


LABELS = {"name": "a", "argument": {"labelsPresence": {"labels": ["gpu"], "presence": True}}}


def test_labels_of_nodes_become_affinity_of_the_profile():
    profile, (notice,) = cleaned([plain("GeneralPredicates"), LABELS], [])
    (term,) = args(profile, "NodeAffinity")["addedAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term == {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}
    assert "NodeLabel" not in names(profile, "filter")
    assert not notice.is_loss


def test_labels_without_the_filter_of_node_affinity_are_a_loss():
    profile, (notice,) = cleaned([LABELS], [])
    assert args(profile, "NodeAffinity") is None
    assert notice.is_loss
    assert notice.text == (
        "no equivalent: predicate a (NodeLabel), which kept pods from nodes that do not match gpu Exists; "
        "put that into addedAffinity of NodeAffinity, and enable NodeAffinity at preFilter and filter"
    )


def test_the_default_profile_of_v1_filters_by_node_affinity():
    label = {"name": "NodeLabel", "args": {"presentLabels": ["gpu"]}}
    document = {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "NodeLabel"}]}}, "pluginConfig": [label]}]}
    after, (notice,) = for_kube_scheduler(document)
    assert notice.text == "NodeLabel (filter) is addedAffinity of NodeAffinity: gpu Exists"
    assert list(after["profiles"][0]) == ["pluginConfig"]


def priority(name: str, weight: int = 3, **argument: dict) -> dict:
    return {"name": name, "weight": weight, "argument": argument}


def test_each_predicate_and_priority_has_its_own_line():
    avoided = {"name": "b", "argument": {"labelsPresence": {"labels": ["old"], "presence": False}}}
    together = {"name": "Together", "argument": {"serviceAffinity": {"labels": ["region"]}}}
    racks = priority("Racks", serviceAntiAffinity={"label": "rack"})
    zones = priority("Zones", serviceAntiAffinity={"label": "zone"})
    fast = priority("Fast", labelPreference={"label": "ssd", "presence": True})
    _, notices = cleaned([LABELS, avoided, together], [racks, zones, fast])
    told = [notice.text.partition(";")[0].removeprefix("no equivalent: ") for notice in notices]
    assert told == [
        "predicate a (NodeLabel), which kept pods from nodes that do not match gpu Exists",
        "predicate b (NodeLabel), which kept pods from nodes that do not match old DoesNotExist",
        "priority Fast (NodeLabel, weight 3), which preferred nodes that match ssd Exists",
        "predicate Together (ServiceAffinity), which kept the pods of a service on nodes with one value of region",
        "priority Racks (ServiceAffinity, weight 3), which spread the pods of a service over the values of rack",
        "priority Zones (ServiceAffinity, weight 3), which spread the pods of a service over the values of zone",
    ]


def test_advice_names_the_plugin_that_it_needs_unless_it_is_enabled():
    together = {"name": "Together", "argument": {"serviceAffinity": {"labels": ["region"]}}}
    racks = priority("Racks", serviceAntiAffinity={"label": "rack"})
    _, notices = cleaned([together], [racks])
    assert [notice.text.rpartition(", and ")[2] for notice in notices] == [
        "enable InterPodAffinity at preFilter and filter",
        "enable PodTopologySpread at preScore and score",
    ]
    _, notices = cleaned([together, plain("MatchInterPodAffinity")], [racks, plain("EvenPodsSpreadPriority")])
    assert [notice.text.rpartition("; ")[2] for notice in notices] == [
        "give these pods required pod affinity with topologyKey region",
        "give these pods a topology spread constraint with topologyKey rack and whenUnsatisfiable ScheduleAnyway",
    ]


def test_what_is_lost_is_not_named_any_more():
    profile, (notice,) = cleaned([], [plain("NodePreferAvoidPodsPriority", 10000)])
    assert "score" not in profile["plugins"]
    assert notice.text.startswith(
        "no equivalent: priority NodePreferAvoidPodsPriority (NodePreferAvoidPods, weight 10000); "
    )


def test_a_plugin_that_did_nothing_goes_without_a_loss():
    document = {"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeLabel"}]}}}]}
    after, (notice,) = for_kube_scheduler(document)
    assert after == {"profiles": [{}]}
    assert notice.text == "left out, because they did nothing: NodeLabel"
    assert not notice.is_loss


@pytest.mark.parametrize(
    ("old", "new"), [("NoDiskConflict", "VolumeRestrictions"), ("MaxEBSVolumeCount", "NodeVolumeLimits")]
)
def test_a_filter_gets_the_name_that_it_has_today(old, new):
    everything = {"disabled": [{"name": "*"}]}
    document = {"profiles": [{"plugins": {"multiPoint": everything, "filter": {"enabled": [{"name": old}]}}}]}
    after, (notice,) = for_kube_scheduler(document)
    assert names(after["profiles"][0], "filter") == names(after["profiles"][0], "preFilter") == [new]
    assert (notice.text, notice.is_loss) == (f"{old} is {new} today", False)


def test_no_legacy_or_bundled_plugin_is_left():
    assert {*LEGACY_PLUGINS, *BUNDLED_PLUGINS} == set(LEGACY) | (set(RENAMED) - {"DefaultPodTopologySpread"})


@pytest.mark.parametrize("name", BUNDLED_PLUGINS)
@pytest.mark.parametrize("point", ["multiPoint", "filter", "score"])
def test_a_bundled_plugin_is_lost_with_its_arguments(name, point):
    plugins = {point: {"enabled": [{"name": name, "weight": 5}, {"name": "InGo"}]}}
    args = [{"name": name, "args": {}}, {"name": "InGo"}]
    after, (notice,) = for_kube_scheduler({"profiles": [{"plugins": plugins, "pluginConfig": args}]})
    assert after == {"profiles": [{"plugins": {point: {"enabled": [{"name": "InGo"}]}}, "pluginConfig": [args[1]]}]}
    assert notice.text.startswith(f"no equivalent: {name}, which only kubesched has; ")
    assert (notice.path, notice.is_loss) == ("profiles[0]", True)


def test_a_document_without_legacy_plugins_is_the_same():
    document = converted("v1beta2").document
    assert for_kube_scheduler(document) == (document, [])


def test_every_plugin_of_a_policy_is_in_tree_replaced_or_legacy():
    named = {plugin for plugins in PREDICATES.values() for plugin in plugins} | set(PRIORITIES.values())
    assert named <= set(IN_TREE_PLUGINS) | set(RENAMED) | set(STRATEGIES) | set(LEGACY)
