from kubesched.config.dialects import for_kube_scheduler
from kubesched.config.dialects.kube_scheduler import LEGACY
from kubesched.config.dialects.policy_tables import PREDICATES, PRIORITIES
from kubesched.config.dialects.replaced import RENAMED, STRATEGIES
from kubesched.plugins import IN_TREE_PLUGINS
from tests.config.dialects.documents import args, converted, names, weights

SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
RATIO = {"name": "Pack", "weight": 2, "argument": {"requestedToCapacityRatioArguments": {"shape": SHAPE}}}


def cleaned(predicates: list[dict], priorities: list[dict]):
    document = converted("Policy", {"predicates": predicates, "priorities": priorities}).document
    whole, notices = for_kube_scheduler(document)
    return whole["profiles"][0], notices


def plain(name: str, weight: int = 1) -> dict:
    return {"name": name, "weight": weight}


def test_selector_spread_becomes_pod_topology_spread_with_its_weight():
    profile, (notice,) = cleaned([], [plain("SelectorSpreadPriority", 4)])
    assert weights(profile) == {"PodTopologySpread": 4}
    assert names(profile, "preScore") == ["PodTopologySpread"]
    assert args(profile, "PodTopologySpread") == {"defaultingType": "System"}
    assert notice.is_loss


def test_where_pods_are_spread_already_its_weight_stays():
    profile, _ = cleaned([], [plain("SelectorSpreadPriority", 4), plain("EvenPodsSpreadPriority", 2)])
    assert weights(profile) == {"PodTopologySpread": 2}


def test_a_ratio_becomes_the_strategy_of_node_resources_fit():
    profile, (notice,) = cleaned([], [RATIO])
    assert weights(profile) == {"NodeResourcesFit": 2}
    strategy = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": SHAPE}}
    assert args(profile, "NodeResourcesFit") == {"scoringStrategy": strategy}
    assert not notice.is_loss


def test_a_ratio_beside_another_strategy_is_a_loss():
    profile, (notice,) = cleaned([], [RATIO, plain("LeastRequestedPriority")])
    assert weights(profile) == {"NodeResourcesFit": 1}
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


def test_what_is_lost_is_not_named_any_more():
    profile, (notice,) = cleaned([], [plain("NodePreferAvoidPodsPriority", 10000)])
    assert "score" not in profile["plugins"]
    assert notice.text.startswith("no equivalent: NodePreferAvoidPods (weight 10000); ")


def test_a_document_without_legacy_plugins_is_the_same():
    document = converted("v1beta2").document
    assert for_kube_scheduler(document) == (document, [])


def test_every_plugin_of_a_policy_is_in_tree_replaced_or_legacy():
    named = {plugin for plugins in PREDICATES.values() for plugin in plugins} | set(PRIORITIES.values())
    assert named <= set(IN_TREE_PLUGINS) | set(RENAMED) | set(STRATEGIES) | set(LEGACY)
