import json

import msgspec
import pytest

from kubesched.config.type_meta import API_VERSION, KIND
from kubesched.errors import ConfigError
from kubesched.framework import Plugin
from kubesched.legacy.conversion import PolicySources
from kubesched.legacy.dialects import is_older
from kubesched.legacy.dialects.old_profiles import COMPANIONS, LATER_PLUGINS, v1_profile
from kubesched.legacy.dialects.released import V1BETA2
from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.setup import set_up
from tests.legacy.dialects.documents import args, converted, names, profile_of, weights

LATER = {entry.name for entry in LATER_PLUGINS}
POLICY = '{"kind": "Policy", "apiVersion": "v1", "predicates": [{"name": "HostName"}], "priorities": []}'


def plugins(**sets) -> dict:
    return {"profiles": [{"plugins": sets}]}


def test_v1beta3_keeps_its_fields_and_the_defaults_of_v1():
    document = converted("v1beta3", {"parallelism": 4, "profiles": [{"schedulerName": "a"}]}).document
    assert document == {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "parallelism": 4,
        "profiles": [{"schedulerName": "a"}],
    }


def test_v1beta3_names_one_plugin_for_the_volumes_of_clouds():
    profile = profile_of("v1beta3", plugins(filter={"enabled": [{"name": "EBSLimits"}, {"name": "GCEPDLimits"}]}))
    assert names(profile, "filter") == ["NodeVolumeLimits"]


def test_v1beta2_keeps_the_weights_of_its_time_in_few_lines():
    profile = profile_of("v1beta2", {"profiles": [{"schedulerName": "a"}]})
    weights = [{"name": name, "weight": 1} for name in ("TaintToleration", "NodeAffinity", "InterPodAffinity")]
    assert profile == {"schedulerName": "a", "plugins": {"multiPoint": {"enabled": weights}}}


SCORES = [
    {},
    {"disabled": [{"name": "ImageLocality"}], "enabled": [{"name": "NodeAffinity", "weight": 9}]},
    {"disabled": [{"name": "NodeResourcesFit"}], "enabled": [{"name": "TaintToleration", "weight": 2}]},
    {"enabled": [{"name": "NodeResourcesMostAllocated", "weight": 5}]},
]


@pytest.mark.parametrize("score", SCORES)
def test_the_few_lines_are_the_whole_lists_of_v1beta2(score):
    profile = plugins(score=score)["profiles"][0]
    short, long = (v1_profile(profile, base) for base in (V1BETA2, msgspec.structs.replace(V1BETA2, weights={})))
    assert len(str(short)) < len(str(long)) / 4
    built = []
    for one in (short, long):
        (before,) = set_up(json.dumps({"apiVersion": API_VERSION, "kind": KIND, "profiles": [one]}).encode()).profiles
        scores = {plugin.name: before.weights[plugin.name] for plugin in before.points["score"]}
        scores.pop("VolumeBinding", None)  # does not score, without a feature gate
        built.append((scores, [plugin.name for plugin in before.points["filter"] if plugin.name not in LATER]))
    assert built[0] == built[1]


class Own(Plugin):
    def pre_filter(self, state, pod, nodes): ...

    def filter(self, state, pod, node): ...

    def score(self, state, pod, node): ...


class OwnSort(Plugin):
    def sort_key(self, queued): ...


OWN_SORT = {"disabled": [{"name": "PrioritySort"}], "enabled": [{"name": "OwnSort"}]}
ADDITIONS = [
    {"preFilter": {"enabled": [{"name": "Own"}]}},
    {"preFilter": {"enabled": [{"name": "Own"}]}, "filter": {"enabled": [{"name": "Own"}]}, "queueSort": OWN_SORT},
    {"queueSort": {**OWN_SORT, "disabled": [{"name": "*"}]}, "score": {"enabled": [{"name": "Own", "weight": 7}]}},
    {"filter": {"enabled": [{"name": "Own"}]}, "score": {"disabled": [{"name": "ImageLocality"}]}},
]


@pytest.mark.parametrize("sets", ADDITIONS)
def test_plugins_of_the_user_need_no_lists_and_run_where_they_would_with_them(sets):
    profile = profile_of("v1beta2", plugins(**sets))
    long = v1_profile(plugins(**sets)["profiles"][0], msgspec.structs.replace(V1BETA2, weights={}))
    assert len(str(profile)) < len(str(long)) / 3
    built = []
    for one in (profile, long):
        source = json.dumps({"apiVersion": API_VERSION, "kind": KIND, "profiles": [one]}).encode()
        (before,) = set_up(source, [Own, OwnSort] if "queueSort" in sets else [Own]).profiles
        points = {point: [plugin.name for plugin in called] for point, called in before.points.items()}
        is_last = [points[point][-1] == "Own" for point in ("filter", "score")]
        asked = [sorted({*points[point]} - LATER - {"VolumeBinding"}) for point in ("preFilter", "filter", "score")]
        built.append((is_last, asked, points["queueSort"], before.weights.get("Own")))
    assert built[0] == built[1]


def test_different_queue_sorts_need_the_lists_which_have_upstreams_words_for_it():
    one = {"schedulerName": "a", "plugins": {"queueSort": OWN_SORT}}
    other = {"schedulerName": "b", "plugins": {"queueSort": {**OWN_SORT, "disabled": [{"name": "*"}]}}}
    first, second = converted("v1beta2", {"profiles": [one, other]}).document["profiles"]
    assert names(first, "queueSort") == names(second, "queueSort") == ["OwnSort"]
    assert names(first, "filter")


def test_one_profile_with_lists_makes_all_have_them():
    own = {"schedulerName": "b", "plugins": {"filter": {"disabled": [{"name": "VolumeZone"}]}}}
    profiles = converted("v1beta2", {"profiles": [{"schedulerName": "a"}, own]}).document["profiles"]
    assert [names(profile, "queueSort") for profile in profiles] == [["PrioritySort"], ["PrioritySort"]]


@pytest.mark.parametrize(
    "sets",
    [
        {"preScore": {"disabled": [{"name": "*"}]}},
        {"preFilter": {"enabled": [{"name": "Own"}], "disabled": [{"name": "VolumeZone"}]}},
        {"preFilter": {"enabled": [{"name": "ServiceAffinity"}]}},
        {"score": {"enabled": [{"name": "SelectorSpread"}]}},
        {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "TaintToleration"}]}},
        {"score": {"disabled": [{"name": "NodeResourcesFit"}], "enabled": [{"name": "NodeResourcesMostAllocated"}]}},
    ],
)
def test_other_changes_of_v1beta2_need_the_lists(sets):
    assert names(profile_of("v1beta2", plugins(**sets)), "filter") == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
    ]


def test_the_plugins_of_a_profile_merge_with_the_old_defaults():
    disabled = [{"name": "ImageLocality"}, {"name": "NodeAffinity"}]
    score = {"enabled": [{"name": "Own", "weight": 9}], "disabled": disabled}
    profile = profile_of("v1beta2", plugins(score=score, filter={"disabled": [{"name": "VolumeZone"}]}))
    assert "VolumeZone" not in names(profile, "filter")
    score = names(profile, "score")
    assert score[-1] == "Own"
    assert not {"ImageLocality", "NodeAffinity"} & set(score)


def test_disabled_at_multi_point_leaves_the_old_defaults_of_the_points():
    profile = profile_of("v1beta2", plugins(multiPoint={"enabled": [{"name": "Own"}], "disabled": [{"name": "*"}]}))
    assert names(profile, "multiPoint")[-1] == "Own"
    assert "NodeResourcesFit" in names(profile, "filter")


def test_a_notice_names_what_multi_point_does_not_disable():
    sets = plugins(multiPoint={"disabled": [{"name": "ImageLocality"}, {"name": "SchedulingGates"}, {"name": "*"}]})
    (notice,) = converted("v1beta2", sets).notices
    assert notice.path == "profiles[0]"
    assert notice.text.startswith("multiPoint.disabled of ImageLocality, * had no effect, and is left out: ")
    assert not notice.is_loss
    assert converted("v1beta3", sets).notices == ()


def test_a_point_without_defaults_keeps_own_multi_point_plugins_away():
    sets = {"multiPoint": {"enabled": [{"name": "Own"}]}, "score": {"disabled": [{"name": "*"}]}}
    profile = profile_of("v1beta2", plugins(**sets))
    assert profile["plugins"]["score"] == {"disabled": [{"name": "*"}]}


def test_v1beta1_packing_becomes_a_strategy_with_its_resources():
    resources = [{"name": "example.com/gpu", "weight": 5}]
    score = {
        "disabled": [{"name": "NodeResourcesLeastAllocated"}],
        "enabled": [{"name": "NodeResourcesMostAllocated", "weight": 7}],
    }
    version = {"apiVersion": "kubescheduler.config.k8s.io/v1beta1", "kind": "NodeResourcesMostAllocatedArgs"}
    config = [{"name": "NodeResourcesMostAllocated", "args": {**version, "resources": resources}}]
    profile = profile_of("v1beta1", {"profiles": [{"plugins": {"score": score}, "pluginConfig": config}]})
    assert weights(profile)["NodeResourcesFit"] == 7
    assert args(profile, "NodeResourcesFit") == {"scoringStrategy": {"type": "MostAllocated", "resources": resources}}


def test_v1alpha2_fields_of_the_process_become_those_of_plugins():
    profile = profile_of("v1alpha2", {"disablePreemption": True, "bindTimeoutSeconds": 30})
    assert names(profile, "postFilter") == []
    assert names(profile, "preEnqueue") == []
    assert args(profile, "VolumeBinding") == {"bindTimeoutSeconds": 30}


def test_unreserve_is_part_of_reserve():
    sets = {"reserve": {"enabled": [{"name": "A"}]}, "unreserve": {"enabled": [{"name": "B"}, {"name": "A"}]}}
    assert names(profile_of("v1alpha2", plugins(**sets)), "reserve") == ["VolumeBinding", "A", "B"]


def test_v1alpha1_has_one_profile_at_the_top_level():
    fields = {
        "schedulerName": "mine",
        "hardPodAffinitySymmetricWeight": 5,
        "leaderElection": {"lockObjectName": "mine", "lockObjectNamespace": "ns", "resourceLock": "endpoints"},
        "metricsBindAddress": "0.0.0.0:10251",
        "unknown": 1,
    }
    conversion = converted("v1alpha1", fields)
    (profile,) = conversion.document["profiles"]
    assert profile["schedulerName"] == "mine"
    assert args(profile, "InterPodAffinity") == {"hardPodAffinityWeight": 5}
    assert conversion.document["leaderElection"] == {
        "resourceName": "mine",
        "resourceNamespace": "ns",
        "resourceLock": "leases",
    }
    told = " ".join(notice.text for notice in conversion.notices)
    assert [word for word in ("unknown", "metricsBindAddress", "endpoints") if word not in told] == []


def test_the_autoscaler_provider_packs():
    profile = profile_of("v1alpha1", {"algorithmSource": {"provider": "ClusterAutoscalerProvider"}})
    assert args(profile, "NodeResourcesFit") == {"scoringStrategy": {"type": "MostAllocated"}}


def test_post_filter_of_v1alpha1_is_pre_score():
    profile = profile_of("v1alpha1", {"plugins": {"postFilter": {"enabled": [{"name": "Own"}]}}})
    assert "Own" in names(profile, "preScore")
    assert names(profile, "postFilter") == ["DefaultPreemption"]


def test_a_policy_is_read_from_a_file():
    source = {"algorithmSource": {"policy": {"file": {"path": "/policy.json"}}}, "schedulerName": "mine"}
    read = {"/policy.json": POLICY}
    (profile,) = converted("v1alpha1", source, PolicySources(read_file=read.__getitem__)).document["profiles"]
    assert names(profile, "filter") == ["NodeUnschedulable", "NodeName", "TaintToleration"]
    assert profile["schedulerName"] == "mine"


def config_map(key: str) -> str:
    return f"a: 1\n---\nkind: ConfigMap\nmetadata: {{name: p, namespace: ns}}\ndata: {{{key}: '{POLICY}'}}\n"


FROM_CONFIG_MAP = {"algorithmSource": {"policy": {"configMap": {"namespace": "ns", "name": "p"}}}}


def test_a_policy_is_read_from_a_config_map_in_the_same_file():
    sources = PolicySources(config_map("policy.cfg"))
    (profile,) = converted("v1alpha1", FROM_CONFIG_MAP, sources).document["profiles"]
    assert names(profile, "filter") == ["NodeUnschedulable", "NodeName", "TaintToleration"]


@pytest.mark.parametrize(
    ("fields", "text", "message"),
    [
        (FROM_CONFIG_MAP, "", "couldn't get policy config map ns/p: "),
        (FROM_CONFIG_MAP, config_map("other"), 'missing policy config map value at key "policy.cfg"'),
        ({"algorithmSource": {"policy": {"file": {"path": "x"}}}}, "", "missing policy config file x"),
        ({"algorithmSource": {"policy": {}}}, "", "algorithmSource.policy: expected file or configMap"),
        ({"algorithmSource": {"provider": "Mine"}}, "", 'algorithm provider "Mine" is not registered'),
        ({"pluginConfig": [{"name": "A"}, {"name": "A"}]}, "", "repeated config for plugin A"),
        ({"plugins": {"score": 5}}, "", "plugins.score: expected an object, found 5"),
    ],
)
def test_what_cannot_be_read_is_refused(fields, text, message):
    with pytest.raises(ConfigError) as caught:
        converted("v1alpha1", fields, PolicySources(text))
    assert str(caught.value).startswith(message)


def test_a_missing_config_map_is_reported_with_both_ways_to_give_it():
    with pytest.raises(ConfigError) as caught:
        converted("v1alpha1", FROM_CONFIG_MAP, PolicySources())
    _, append, second = str(caught.value).split("\n  ")
    assert append.endswith("(echo ---; kubectl get configmap -n ns p -o yaml) >> FILE")
    assert second == "or give it to `kubesched config convert` as a second file"


def test_default_constraints_without_a_type_are_a_list():
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    config = [{"name": "PodTopologySpread", "args": {"defaultConstraints": [constraint]}}]
    profile = profile_of("v1beta1", {"profiles": [{"pluginConfig": config}]})
    assert args(profile, "PodTopologySpread")["defaultingType"] == "List"


def test_v1_and_other_objects_are_not_older():
    assert not is_older({"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1"})
    assert not is_older({"kind": "Pod", "apiVersion": "v1"})
    assert not is_older(["Policy"])


@pytest.mark.parametrize("point", COMPANIONS)
def test_companions_are_the_points_that_the_plugins_have(point):
    prepared, named = COMPANIONS[point]
    extended = {name for name, plugin in IN_TREE_PLUGINS.items() if {point, prepared} <= plugin.extension_points()}
    later = {"DynamicResources", "NodeDeclaredFeatures"}  # at multiPoint
    unscored = {"VolumeBinding"} if point == "preScore" else set()
    assert named & set(IN_TREE_PLUGINS) == extended - later - unscored
