"""Defaults and findings of the in-tree arguments; tests/golden/config-errors.json holds most of the findings."""

import pytest

from kubesched.config import Duration, PluginArgs, load_args
from kubesched.plugins import args as in_tree
from kubesched.plugins.args import (
    CPU_AND_MEMORY,
    DynamicResourcesArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    ScoringStrategyType,
    UtilizationShapePoint,
)

TYPES = {
    name.removesuffix("Args"): args
    for name, args in vars(in_tree).items()
    if name.endswith("Args") and args is not PluginArgs
}


def read(name: str, text: str) -> PluginArgs:
    args = load_args(text, name, args_types=TYPES)
    assert isinstance(args, PluginArgs)
    return args


def findings(name: str, text: str) -> list[str]:
    return [str(error) for error in read(name, text).validate("")]


@pytest.mark.parametrize("name", TYPES)
def test_the_defaults_hold_and_are_complete(name):
    defaults = TYPES[name]()
    assert defaults.validate("") == []
    assert defaults.with_defaults() == defaults == read(name, "")


def test_an_absent_strategy_is_least_allocated_and_a_given_one_keeps_its_missing_type():
    assert NodeResourcesFitArgs().scoring_strategy.type == ScoringStrategyType.LEAST_ALLOCATED
    assert read("NodeResourcesFit", "scoringStrategy: {}").scoring_strategy == ScoringStrategy("", CPU_AND_MEMORY)


def test_a_weight_of_zero_is_one():
    fit = read("NodeResourcesFit", "scoringStrategy: {resources: [{name: a}, {name: b, weight: 3}]}")
    assert fit.scoring_strategy.resources == (ResourceSpec("a", 1), ResourceSpec("b", 3))
    balanced = read("NodeResourcesBalancedAllocation", "resources: [{name: a}]")
    assert balanced == NodeResourcesBalancedAllocationArgs((ResourceSpec("a", 1),))


@pytest.mark.parametrize(("weight", "is_valid"), [(-1, False), (1, True), (100, True), (101, False)])
def test_the_weight_of_a_resource_is_at_most_100(weight: int, is_valid: bool):
    text = f"scoringStrategy: {{type: LeastAllocated, resources: [{{name: cpu, weight: {weight}}}]}}"
    assert (findings("NodeResourcesFit", text) == []) is is_valid


def test_an_empty_resource_list_is_cpu_and_memory():
    assert read("NodeResourcesBalancedAllocation", "resources: []").resources == CPU_AND_MEMORY


def test_a_shape_is_read():
    text = "scoringStrategy: {requestedToCapacityRatio: {shape: [{utilization: 40, score: 9}]}}"
    ratio = read("NodeResourcesFit", text).scoring_strategy.requested_to_capacity_ratio
    assert ratio == RequestedToCapacityRatioParam((UtilizationShapePoint(40, 9),))


def test_durations_are_seconds():
    assert read("DynamicResources", "filterTimeout: 1m") == DynamicResourcesArgs(Duration(60), Duration(600))


def test_an_empty_defaulting_type_is_system():
    assert read("PodTopologySpread", "defaultingType: ''") == PodTopologySpreadArgs()


# Recorded from kube-scheduler v1.36.3.
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "NodeResourcesFit",
            "scoringStrategy: {type: Best, requestedToCapacityRatio: {}}",
            [
                (
                    'scoringStrategy.type: Unsupported value: "Best": supported values: '
                    '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"'
                ),
                (
                    "scoringStrategy.requestedToCapacityRatio: Forbidden: "
                    "must be nil when type is not RequestedToCapacityRatio"
                ),
            ],
        ),
        (
            "PodTopologySpread",
            "{defaultingType: Foo, defaultConstraints: [{}]}",
            [
                'defaultingType: Unsupported value: "Foo": supported values: "System", "List"',
                "defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
                "defaultConstraints[0].topologyKey: Required value: can not be empty",
                "defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty",
            ],
        ),
    ],
)
def test_every_finding_is_collected_in_order(name, text, expected):
    assert findings(name, text) == expected


def test_a_finding_in_an_affinity_names_its_term():
    bad, good = "{matchExpressions: [{key: a, operator: Is}]}", "{matchExpressions: [{key: a, operator: Exists}]}"
    required = f"requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{}}, {good}, {bad}]}}"
    terms = f"[{{weight: 1, preference: {bad}}}, {{preference: {bad}}}]"  # a term without weight counts for nothing
    preferred = f"preferredDuringSchedulingIgnoredDuringExecution: {terms}"
    lines = findings("NodeAffinity", f"addedAffinity: {{{required}, {preferred}}}")
    paths = [line.partition(": ")[0] for line in lines]
    assert paths == [
        "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[2].matchExpressions[0].operator",
        "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchExpressions[0].operator",
    ]


def test_every_requirement_of_a_term_is_looked_at():
    expressions = "[{key: a, operator: Is}, {key: '-', operator: Exists}]"
    terms = f"[{{matchExpressions: {expressions}, matchFields: [{{key: a, operator: Gt}}]}}]"
    text = f"addedAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}}}"
    fields = [line.partition(": ")[0].partition("nodeSelectorTerms[0].")[2] for line in findings("NodeAffinity", text)]
    assert fields == ["matchExpressions[0].operator", "matchExpressions[1].key", "matchFields[0].operator"]
