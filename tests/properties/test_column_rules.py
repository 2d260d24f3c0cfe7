"""The column form of every rule equals the slow reference, plugin by plugin, on small random clusters."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle import more
from kubesched.framework import Plugin
from kubesched.plugins import IN_TREE_PLUGINS
from tests.properties.against_reference import differences
from tests.properties.cluster_walk import generated
from tests.reference.framework import Plugin as SlowPlugin
from tests.reference.plugins import PLUGINS
from tests.reference.profile import args_of
from tests.trials import examples

STRATEGY = {
    "resources": [
        {"name": "cpu", "weight": 3},
        {"name": "memory", "weight": 1},
        {"name": "example.com/gpu", "weight": 5},
    ]
}
SHAPE = [{"utilization": 0, "score": 10}, {"utilization": 35, "score": 3}, {"utilization": 100, "score": 7}]
RATIO = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": SHAPE}}
ZONE_DEFAULT = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
DISK_DEFAULT = {"maxSkew": 2, "topologyKey": "disk", "whenUnsatisfiable": "ScheduleAnyway"}
REQUIRES_SSD = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
    }
}

CASES = [
    *((name, {}) for name in PLUGINS),
    ("NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", **STRATEGY}}),
    ("NodeResourcesFit", {"scoringStrategy": {**RATIO, **STRATEGY}}),
    ("NodeResourcesFit", {"ignoredResources": ["example.com/gpu"]}),
    ("NodeResourcesFit", {"ignoredResourceGroups": ["example.com"]}),
    ("NodeResourcesBalancedAllocation", STRATEGY),
    ("NodeAffinity", {"addedAffinity": REQUIRES_SSD}),
    ("InterPodAffinity", {"hardPodAffinityWeight": 40}),
    ("InterPodAffinity", {"hardPodAffinityWeight": 0, "ignorePreferredTermsOfExistingPods": True}),
    ("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": [ZONE_DEFAULT, DISK_DEFAULT]}),
    ("PodTopologySpread", {"defaultingType": "List"}),
]

# What no plugin is asked about alone: who serves a pod, and the order of pods.
FEATURES = sorted(set(more.USUAL) - {"profiles", "order", "nominated"})


def ours(name: str, written: dict) -> Plugin:
    plugin_class = IN_TREE_PLUGINS[name]
    return plugin_class(msgspec.convert(written, plugin_class.Args))


def reference(name: str, written: dict) -> SlowPlugin:
    return PLUGINS[name](args_of(name, written))


@pytest.mark.parametrize(("name", "written"), CASES, ids=lambda value: value if isinstance(value, str) else None)
@examples(8)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(3, 12),
    bound=st.integers(0, 25),
    features=st.lists(st.sampled_from(FEATURES), max_size=4, unique=True),
    hole=st.booleans(),
)
def test_columns_say_what_the_reference_says(
    name: str, written: dict, seed: int, nodes: int, bound: int, features: list[str], hole: bool
) -> None:
    items = generated(seed, nodes=nodes, bound=bound, features=tuple(features))
    assert list(differences(ours(name, written), reference(name, written), items, hole=hole)) == []
