"""Configurations of every version for Hypothesis, most of them valid."""

import json
from typing import Any

from hypothesis import strategies as st

from kubesched.legacy.dialects.old_profiles import LATER_PLUGINS
from kubesched.legacy.dialects.policy_tables import (
    PREDICATE_ALIASES,
    PREDICATES,
    PRIORITIES,
    PRIORITY_ALIASES,
    SKIPPED_PRIORITY,
    TAINT_PREDICATES,
)
from kubesched.plugins import IN_TREE_PLUGINS

GROUP = "kubescheduler.config.k8s.io"
VERSIONS = ("Policy", "v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3", "v1")
SHAPE = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]

_LATER = {entry.name for entry in LATER_PLUGINS}
_FILTERS, _SCORES = (
    [name for name, plugin in IN_TREE_PLUGINS.items() if point in plugin.extension_points() and name not in _LATER]
    for point in ("filter", "score")
)
_OLD_FILTERS = [*_FILTERS, "EBSLimits", "GCEPDLimits", "AzureDiskLimits", "NodeLabel", "ServiceAffinity"]
_OLD_SCORES = [
    *_SCORES,
    "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio",
    "NodePreferAvoidPods",
    "NodeResourceLimits",
    "SelectorSpread",
    "DefaultPodTopologySpread",
    "NodeLabel",
    "ServiceAffinity",
]
_LEGACY_SCORES = [name for name in _OLD_SCORES if name != "DefaultPodTopologySpread"]
_KNOWN = dict.fromkeys(("v1alpha1", "v1alpha2", "v1beta1"), (_OLD_FILTERS, _OLD_SCORES)) | {
    "v1beta2": ([*_FILTERS, "EBSLimits", "GCEPDLimits", "AzureDiskLimits"], _LEGACY_SCORES),
    "v1beta3": (_FILTERS, _LEGACY_SCORES),
    "v1": (
        [*_FILTERS, "NodeLabel", "ServiceAffinity", "NoDiskConflict", "MaxEBSVolumeCount", "MaxCSIVolumeCountPred"],
        [*_LEGACY_SCORES, "EqualPriority"],
    ),
}
_ARGS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "InterPodAffinity": st.integers(0, 100).map(lambda weight: {"hardPodAffinityWeight": weight}),
    "NodeLabel": st.fixed_dictionaries(
        {}, optional={"presentLabels": st.just(["disk"]), "absentLabelsPreference": st.just(["gpu", "rank"])}
    ),
    "ServiceAffinity": st.fixed_dictionaries(
        {}, optional={"affinityLabels": st.just(["zone"]), "antiAffinityLabelsPreference": st.just(["disk"])}
    ),
    "VolumeBinding": st.integers(0, 900).map(lambda seconds: {"bindTimeoutSeconds": seconds}),
    "NodeResourcesMostAllocated": st.just({"resources": [{"name": "cpu", "weight": 3}]}),
    "EBSLimits": st.just({"maxVolumes": 3}),
}
_WITH_ARGUMENT = {"CheckNodeLabelPresence", "CheckServiceAffinity"}
_LABELS = st.lists(st.sampled_from(["disk", "zone", "rank"]), max_size=2, unique=True)
_WEIGHTS = st.integers(1, 20)


def _plugin_sets(names: list[str], *, weighted: bool) -> st.SearchStrategy[dict[str, Any]]:
    weight = {"weight": st.integers(0, 20)} if weighted else {}
    entries = st.fixed_dictionaries({"name": st.sampled_from(names)}, optional=weight)
    disabled = st.lists(st.sampled_from([*names, "*"]).map(lambda name: {"name": name}), max_size=3)
    enabled = st.lists(entries, max_size=4, unique_by=lambda entry: entry["name"])
    return st.fixed_dictionaries({}, optional={"enabled": enabled, "disabled": disabled})


@st.composite
def _profiles(draw: Any, version: str, name: str) -> dict[str, Any]:
    filters, scores = _KNOWN[version]
    sets = {"filter": _plugin_sets(filters, weighted=False), "score": _plugin_sets(scores, weighted=True)}
    if version in ("v1beta2", "v1beta3", "v1"):
        sets["multiPoint"] = _plugin_sets(scores, weighted=True)
    plugins = draw(st.fixed_dictionaries({}, optional=sets))
    multi = plugins.get("multiPoint", {})
    if {"name": "*"} in multi.get("disabled", ()):
        multi["enabled"] = [*multi.get("enabled", ()), {"name": "PrioritySort"}, {"name": "DefaultBinder"}]
    known = sorted(_ARGS.keys() & {*filters, *scores})
    args = {one: draw(_ARGS[one]) for one in draw(st.lists(st.sampled_from(known), max_size=2, unique=True))}
    args["RequestedToCapacityRatio"] = {"shape": SHAPE}
    config = [{"name": one, "args": own} for one, own in args.items()]
    return {"schedulerName": name, "plugins": plugins, "pluginConfig": config}


_PREDICATES = st.sampled_from(sorted({*PREDICATES, *PREDICATE_ALIASES, *TAINT_PREDICATES} - _WITH_ARGUMENT)).map(
    lambda name: {"name": name}
) | st.one_of(
    _LABELS.map(lambda labels: {"name": "a", "argument": {"serviceAffinity": {"labels": labels}}}),
    st.tuples(_LABELS, st.just(True)).map(
        lambda one: {"name": "b", "argument": {"labelsPresence": {"labels": one[0], "presence": one[1]}}}
    ),
)
_ARGUMENTS = st.sampled_from(
    [
        {"serviceAntiAffinity": {"label": "zone"}},
        {"labelPreference": {"label": "disk", "presence": True}},
        {"requestedToCapacityRatioArguments": {"shape": SHAPE, "resources": [{"name": "cpu", "weight": 2}]}},
    ]
)
_PRIORITIES = st.fixed_dictionaries(
    {
        "name": st.sampled_from([*PRIORITIES, *PRIORITY_ALIASES, SKIPPED_PRIORITY]),
        "weight": _WEIGHTS,
    }
) | st.fixed_dictionaries({"name": st.just("custom"), "weight": st.just(3), "argument": _ARGUMENTS})
POLICIES = st.fixed_dictionaries(
    {"kind": st.just("Policy"), "apiVersion": st.just("v1")},
    optional={
        "predicates": st.lists(_PREDICATES, max_size=5),
        "priorities": st.lists(_PRIORITIES, max_size=5, unique_by=lambda one: one["name"]),
        "hardPodAffinitySymmetricWeight": st.integers(0, 100),
        "alwaysCheckAllPredicates": st.booleans(),
        "extenders": st.just([{"urlPrefix": "http://x/", "filterVerb": "f", "weight": 1, "httpTimeout": 10**9}]),
    },
)


@st.composite
def _of_version(draw: Any, version: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "percentageOfNodesToScore": st.integers(0, 100),
        "podMaxBackoffSeconds": st.integers(10, 30),
        "leaderElection": st.fixed_dictionaries(
            {"leaderElect": st.booleans()}, optional={"retryPeriod": st.just("3s")}
        ),
        "clientConnection": st.just({"qps": 7, "kubeconfig": "/etc/k"}),
    }
    if version not in ("v1alpha1", "v1alpha2"):
        fields["parallelism"] = st.integers(1, 32)
    else:
        fields |= {"disablePreemption": st.booleans(), "bindTimeoutSeconds": st.integers(1, 900)}
    if version not in ("v1", "v1beta3"):
        fields["healthzBindAddress"] = st.sampled_from(["", "0.0.0.0:0", "0.0.0.0:10251"])
    document = {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "KubeSchedulerConfiguration",
        **draw(st.fixed_dictionaries({}, optional=fields)),
    }
    if version != "v1alpha1":
        names = draw(st.sampled_from([["default-scheduler"], ["mine"], ["default-scheduler", "mine"]]))
        return document | {"profiles": [draw(_profiles(version, name)) for name in names]}
    source = draw(st.sampled_from(["", "DefaultProvider", "ClusterAutoscalerProvider"]))
    return (
        document
        | draw(_profiles(version, "mine"))
        | {"hardPodAffinitySymmetricWeight": draw(st.integers(1, 100))}
        | ({"algorithmSource": {"provider": source}} if source else {})
    )


def documents(version: str) -> st.SearchStrategy[dict[str, Any]]:
    """Documents of one of VERSIONS."""
    return POLICIES if version == "Policy" else _of_version(version)


def texts(version: str) -> st.SearchStrategy[bytes]:
    """The same as JSON."""
    return documents(version).map(lambda document: json.dumps(document).encode())
