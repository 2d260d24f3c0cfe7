import pytest
import yaml

from kubesched.errors import ConfigError
from kubesched.legacy.conversion import PolicySources
from kubesched.legacy.dialects import convert_older
from tests.legacy.dialects.documents import args, converted, names, profile_of, weights


def predicates(*named: str) -> dict:
    return {"predicates": [{"name": name} for name in named], "priorities": []}


def priorities(**weighted: int) -> dict:
    return {"predicates": [], "priorities": [{"name": name, "weight": weight} for name, weight in weighted.items()]}


def error_of(fields: dict) -> str:
    with pytest.raises(ConfigError) as caught:
        converted("Policy", fields)
    return str(caught.value)


def test_predicates_become_filters_in_upstream_order_with_what_they_need():
    profile = profile_of("Policy", predicates("MatchInterPodAffinity", "HostName", "PodFitsResources"))
    assert names(profile, "filter") == [
        "NodeUnschedulable",
        "NodeName",
        "NodeResourcesFit",
        "TaintToleration",
        "InterPodAffinity",
    ]
    assert names(profile, "preFilter") == ["NodeResourcesFit", "InterPodAffinity"]
    assert names(profile, "score") == []


def test_no_predicates_are_not_the_same_as_an_empty_list():
    assert names(profile_of("Policy", {"predicates": []}), "filter") == ["NodeUnschedulable", "TaintToleration"]
    assert len(names(profile_of("Policy"), "filter")) == 12


def test_no_priorities_are_the_default_ones_with_their_weights():
    assert weights(profile_of("Policy")) == {
        "NodeResourcesBalancedAllocation": 1,
        "PodTopologySpread": 2,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "NodePreferAvoidPods": 10000,
        "SelectorSpread": 1,
        "TaintToleration": 1,
    }


def test_a_policy_always_sorts_preempts_and_binds():
    profile = profile_of("Policy", predicates())
    assert {point: names(profile, point) for point in ("queueSort", "postFilter", "bind")} == {
        "queueSort": ["PrioritySort"],
        "postFilter": ["DefaultPreemption"],
        "bind": ["DefaultBinder"],
    }


def test_only_check_volume_binding_reserves_volumes():
    assert names(profile_of("Policy", predicates("CheckVolumeBinding")), "reserve") == ["VolumeBinding"]
    assert names(profile_of("Policy", predicates("NoDiskConflict")), "reserve") == []


def test_most_requested_is_the_strategy_of_node_resources_fit():
    profile = profile_of("Policy", priorities(MostRequestedPriority=3))
    assert weights(profile) == {"NodeResourcesFit": 3}
    assert args(profile, "NodeResourcesFit") == {"scoringStrategy": {"type": "MostAllocated"}}


def test_the_second_of_two_strategies_is_a_legacy_plugin():
    profile = profile_of("Policy", priorities(MostRequestedPriority=3, LeastRequestedPriority=2))
    assert weights(profile) == {"NodeResourcesFit": 2, "NodeResourcesMostAllocated": 3}


def test_equal_priority_is_left_out_and_the_old_name_of_selector_spread_is_known():
    assert weights(profile_of("Policy", priorities(EqualPriority=1, ServiceSpreadingPriority=4))) == {
        "SelectorSpread": 4
    }


def test_arguments_collect_in_one_plugin_whatever_the_predicates_are_called():
    custom = [
        {"name": "a", "argument": {"labelsPresence": {"labels": ["gpu"], "presence": True}}},
        {"name": "b", "argument": {"labelsPresence": {"labels": ["old"], "presence": False}}},
        {"name": "c", "argument": {"serviceAffinity": {"labels": ["zone"]}}},
    ]
    profile = profile_of("Policy", {"predicates": custom, "priorities": []})
    assert args(profile, "NodeLabel") == {"presentLabels": ["gpu"], "absentLabels": ["old"]}
    assert args(profile, "ServiceAffinity") == {"affinityLabels": ["zone"]}
    assert {"NodeLabel", "ServiceAffinity"} <= set(names(profile, "filter"))


def test_label_priorities_add_up_their_weight():
    custom = [
        {"name": "a", "weight": 2, "argument": {"labelPreference": {"label": "ssd", "presence": True}}},
        {"name": "b", "weight": 2, "argument": {"labelPreference": {"label": "old", "presence": False}}},
        {"name": "c", "weight": 5, "argument": {"serviceAntiAffinity": {"label": "rack"}}},
    ]
    profile = profile_of("Policy", {"predicates": [], "priorities": custom})
    assert weights(profile) == {"NodeLabel": 4, "ServiceAffinity": 5}
    assert args(profile, "NodeLabel") == {"presentLabelsPreference": ["ssd"], "absentLabelsPreference": ["old"]}
    assert args(profile, "ServiceAffinity") == {"antiAffinityLabelsPreference": ["rack"]}


def test_a_ratio_is_a_plugin_of_its_own_beside_least_requested():
    ratio = {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
    custom = {"name": "Pack", "weight": 2, "argument": {"requestedToCapacityRatioArguments": ratio}}
    least = {"name": "LeastRequestedPriority", "weight": 1}
    profile = profile_of("Policy", {"predicates": [], "priorities": [custom, least]})
    assert weights(profile) == {"NodeResourcesFit": 1, "RequestedToCapacityRatio": 2}
    assert args(profile, "RequestedToCapacityRatio") == ratio


def test_extenders_have_the_spelling_of_v1_and_durations():
    extender = {"URLPrefix": "http://x", "filterVerb": "f", "enableHttps": True, "httpTimeout": 100_000_000}
    assert converted("Policy", {"extenders": [extender]}).document["extenders"] == [
        {"urlPrefix": "http://x", "filterVerb": "f", "enableHTTPS": True, "httpTimeout": "100ms"}
    ]


def test_hard_pod_affinity_weight_goes_to_inter_pod_affinity():
    profile = profile_of("Policy", {"hardPodAffinitySymmetricWeight": 10})
    assert args(profile, "InterPodAffinity") == {"hardPodAffinityWeight": 10}


def test_hard_pod_affinity_weight_is_left_out_without_inter_pod_affinity():
    profile = profile_of("Policy", {**predicates("HostName"), "hardPodAffinitySymmetricWeight": 10})
    assert "pluginConfig" not in profile


def test_unknown_fields_are_ignored_with_a_notice():
    (notice,) = converted("Policy", {**predicates(), "nonsense": 1}).notices
    assert 'unknown field "nonsense"' in notice.text


def test_node_conditions_are_taints_today():
    conversion = converted("Policy", predicates("CheckNodeMemoryPressure"))
    assert names(conversion.document["profiles"][0], "filter") == ["NodeUnschedulable", "TaintToleration"]
    assert "TaintToleration" in conversion.notices[0].text


RATIO = {"requestedToCapacityRatioArguments": {"shape": []}}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            predicates("HostNam"),
            'predicate type not found for "HostNam"\n  predicates[0].name: did you mean "HostName"?',
        ),
        (priorities(Nope=1), 'priority type not found for "Nope"'),
        (
            {"predicates": [{"name": "a", "argument": {}}]},
            "exactly 1 predicate argument is required, numArgs: 0, predicate a",
        ),
        (
            {"priorities": [{"name": "a", "weight": 1, "argument": {}}]},
            "exactly 1 priority argument is required, numArgs: 0, priority a",
        ),
        (
            priorities(ImageLocalityPriority=0),
            "priority ImageLocalityPriority should have a positive weight applied to it or it has overflown",
        ),
        (
            {"priorities": [{"name": n, "weight": 1, "argument": RATIO} for n in ("a", "b")]},
            'priority "b" redeclares custom priority "RequestedToCapacityRatio", from: "a"',
        ),
        (
            {
                "priorities": [
                    {"name": name, "weight": weight, "argument": {"labelPreference": {"label": "x"}}}
                    for name, weight in (("a", 1), ("b", 2))
                ]
            },
            'LabelPreference  priority "b" has a different weight with "a"',
        ),
        (
            {"hardPodAffinitySymmetricWeight": 101},
            "hardPodAffinitySymmetricWeight: Invalid value: 101: not in valid range [0-100]",
        ),
    ],
)
def test_what_upstream_refuses_is_refused_in_its_words(fields, message):
    assert error_of(fields).startswith(message)


SEVERAL = """kind: Policy
apiVersion: v1
predicates:
- name: PodFitsResource
- name: MatchNodeSelector
priorities:
- {name: LeastRequestedPriority, weight: "1"}
- {name: Nope, weight: 1}
- {name: EqualPriority}
extenders:
- urlPrefix: http://x
  httpTimeout: 30s
hardPodAffinitySymmetricWeight: 1000
"""


def test_all_faults_of_a_policy_are_in_one_error_with_their_lines():
    with pytest.raises(ConfigError) as caught:
        convert_older(yaml.safe_load(SEVERAL), PolicySources(SEVERAL))
    headline, *lines = str(caught.value).split("\n  ")
    assert headline == "6 fields are not valid"
    assert [line.partition("; without")[0].partition(" overflown")[0] for line in lines] == [
        'line 4: predicates[0].name: predicate type not found for "PodFitsResource"; did you mean "PodFitsResources"?',
        'line 7: priorities[0].weight: expected an integer, found "1"',
        'line 8: priorities[1].name: priority type not found for "Nope"',
        "line 9: priorities[2].weight: priority EqualPriority should have a positive weight applied to it or it has",
        'line 12: extenders[0].httpTimeout: expected an integer, found "30s"; write nanoseconds: 30000000000',
        "line 13: hardPodAffinitySymmetricWeight: Invalid value: 1000: not in valid range [0-100]",
    ]


def test_a_single_fault_begins_with_the_words_of_kube_scheduler():
    text = "kind: Policy\napiVersion: v1\npriorities:\n- {name: Nope, weight: 1}\n"
    with pytest.raises(ConfigError) as caught:
        convert_older(yaml.safe_load(text), PolicySources(text))
    first, second = str(caught.value).split("\n")
    assert first == 'priority type not found for "Nope"'
    assert second.startswith("  line 4: priorities[0].name: without an argument, it is one of BalancedResourceAll")


@pytest.mark.parametrize(
    ("given", "meant"),
    [(30, "30000000000, which is 30s"), (5000, "5000000000, which is 5s")],
)
def test_a_timeout_that_was_not_meant_in_nanoseconds_is_a_notice(given, meant):
    extenders = [{"urlPrefix": "http://x", "httpTimeout": 10**9}, {"urlPrefix": "http://x", "httpTimeout": given}]
    (notice,) = converted("Policy", {**predicates(), "extenders": extenders}).notices
    assert notice.path == "extenders[1].httpTimeout"
    assert notice.text == (
        f"httpTimeout {given} is {given} nanoseconds, in which no extender answers; did you mean {meant}?"
    )
