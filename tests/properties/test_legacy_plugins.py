"""The columns of the legacy plugins equal the slow statement of their rules on small random clusters."""

import json
import random

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from campaigns.oracle import more
from kubesched.framework import Plugin
from kubesched.legacy import legacy_plugin
from tests.properties.against_reference import differences
from tests.properties.cluster_walk import generated
from tests.reference.plugins.legacy import LEGACY, REGION, ZONE
from tests.trials import examples

LABELS = {
    "presentLabels": ["disk"],
    "absentLabels": ["gpu", "nothing"],
    "presentLabelsPreference": ["gpu", "rank", "nothing"],
    "absentLabelsPreference": ["disk", "other"],
}
SHAPE = [{"utilization": 0, "score": 10}, {"utilization": 35, "score": 0}, {"utilization": 100, "score": 7}]
RESOURCES = [
    {"name": "cpu", "weight": 3},
    {"name": "memory", "weight": 1},
    {"name": "example.com/gpu", "weight": 5},
    {"name": "example.com/none", "weight": 2},
]
CASES = [
    ("SelectorSpread", {}),
    ("NodeLabel", LABELS),
    ("NodeLabel", {"absentLabels": ["gpu"]}),
    ("NodeLabel", {}),
    ("ServiceAffinity", {"affinityLabels": ["disk", "nothing"], "antiAffinityLabelsPreference": ["gpu", ZONE[1]]}),
    ("ServiceAffinity", {"affinityLabels": [ZONE[1], "disk"]}),
    ("NodePreferAvoidPods", {}),
    ("RequestedToCapacityRatio", {"shape": SHAPE, "resources": RESOURCES}),
    ("RequestedToCapacityRatio", {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}),
    ("NodeResourcesLeastAllocated", {"resources": RESOURCES}),
    ("NodeResourcesMostAllocated", {"resources": RESOURCES}),
    ("NodeResourcesMostAllocated", {}),
    ("NodeResourceLimits", {}),
    ("EqualPriority", {}),
    ("NoDiskConflict", {}),
    ("EBSLimits", {"maxVolumes": 1}),
    ("EBSLimits", {"maxVolumes": 2}),
    ("GCEPDLimits", {"maxVolumes": 1}),
    ("AzureDiskLimits", {"maxVolumes": 1}),
    ("CinderLimits", {}),
]
AVOID = "scheduler.alpha.kubernetes.io/preferAvoidPods"
FEATURES = sorted(set(more.USUAL) - {"profiles", "order", "nominated"})


def ours(name: str, written: dict) -> Plugin:
    plugin_class = legacy_plugin(name)
    return plugin_class(msgspec.convert(written, plugin_class.Args).with_defaults())


def aged(items: list[dict], seed: int) -> list[dict]:
    """Some nodes get the zone labels of old clusters, which come first, or avoid controllers; pods get controllers."""
    r = random.Random(seed)
    for item in items:
        if item["kind"] == "Node":
            labels = item["metadata"]["labels"]
            for key in (*REGION, *ZONE):
                if r.random() < 0.3:
                    labels[key] = r.choice(["z1", "z2", ""])
            item["metadata"]["annotations"] = {AVOID: r.choice(["", "{", '{"preferAvoidPods": 1}', avoided(r)])}
        elif item["kind"] == "Pod" and r.random() < 0.5 and not item["metadata"].get("ownerReferences"):
            item["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "name": "c", "controller": True, **owner(r)}]
    return items


def avoided(r: random.Random) -> str:
    return json.dumps(
        {"preferAvoidPods": [{"podSignature": {"podController": owner(r)}} for _ in range(r.randrange(4))]}
    )


def owner(r: random.Random) -> dict:
    return {"kind": r.choice(["ReplicaSet", "ReplicationController", "Job"]), "uid": r.choice("ab")}


@pytest.mark.parametrize(("name", "written"), CASES, ids=lambda value: value if isinstance(value, str) else None)
@examples(12)
@given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(3, 12),
    bound=st.integers(0, 25),
    features=st.lists(st.sampled_from(FEATURES), max_size=4, unique=True),
    hole=st.booleans(),
)
@example(seed=20, nodes=3, bound=3, features=[], hole=True)  # the zone of the node that has left is still the first
def test_columns_say_what_the_reference_says(
    name: str, written: dict, seed: int, nodes: int, bound: int, features: list[str], hole: bool
) -> None:
    items = aged(generated(seed, nodes=nodes, bound=bound, features=tuple(features)), seed)
    assert list(differences(ours(name, written), LEGACY[name](written), items, hole=hole)) == []
