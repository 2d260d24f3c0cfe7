"""Arguments of the in-tree plugins: fields, defaults, validation, as in kubescheduler.config.k8s.io/v1.

Rule: kube-scheduler v1.36 default configuration and argument validation; StorageCapacityScoring off, the gates of
DynamicResources on. Other versions and gates have classes derived from these. Wording and order of the findings are
upstream's.
"""

import json
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

import msgspec

from kubesched.api import AffinityToNodes, NodeSelectorTerm, TopologySpreadConstraint, parse_node_term
from kubesched.config import (
    Duration,
    FieldError,
    Int32,
    Int64,
    PluginArgs,
    child,
    go_syntax,
    item,
    qualified_name_errors,
)
from kubesched.errors import SelectorError


class ScoringStrategyType(StrEnum):
    """How NodeResourcesFit scores."""

    LEAST_ALLOCATED = "LeastAllocated"
    MOST_ALLOCATED = "MostAllocated"
    REQUESTED_TO_CAPACITY_RATIO = "RequestedToCapacityRatio"


class _Part(msgspec.Struct, frozen=True, rename="camel"):
    """Base of the structs inside arguments."""


class ResourceSpec(_Part, frozen=True):
    """A resource that counts in a score, and how much. A weight of 0 is read as 1."""

    name: str = ""
    weight: Int64 = 0


class UtilizationShapePoint(_Part, frozen=True):
    """A corner of a broken line: at this utilization (0..100) the score is this (0..10)."""

    utilization: Int32 = 0
    score: Int32 = 0


_LIST_IN_TEXT: Final = re.compile(r'Invalid value: (null|\[(?:"(?:[^"\\]|\\.)*",?)*\]): ')
_BINDING_TIMEOUT: Final = Duration(600)
_EMPTIER_STORAGE: Final = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))


class RequestedToCapacityRatioParam(_Part, frozen=True):
    """The broken line that RequestedToCapacityRatio scores by, utilizations increasing."""

    shape: tuple[UtilizationShapePoint, ...] = ()


CPU_AND_MEMORY: Final = (ResourceSpec("cpu", 1), ResourceSpec("memory", 1))


class ScoringStrategy(_Part, frozen=True):
    """Which scorer NodeResourcesFit uses over which resources. A strategy that is given has no default type."""

    type: str = ""
    resources: tuple[ResourceSpec, ...] = ()
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(PluginArgs):
    """Arguments of NodeResourcesFit; the ignored lists concern its filter, the strategy its score.

    Attributes:
        ignored_resources: extended resources that the filter does not check.
        ignored_resource_groups: the same for all resources of a group, the part of the name before the slash.
        scoring_strategy: the scorer and the weights of the resources. `type` is LeastAllocated, MostAllocated or
            RequestedToCapacityRatio.
    """

    ignored_resources: tuple[str, ...] = ()
    ignored_resource_groups: tuple[str, ...] = ()
    scoring_strategy: ScoringStrategy = ScoringStrategy(ScoringStrategyType.LEAST_ALLOCATED, CPU_AND_MEMORY)

    def with_defaults(self) -> "NodeResourcesFitArgs":
        """An empty resource list means cpu and memory."""
        strategy = self.scoring_strategy
        completed = msgspec.structs.replace(strategy, resources=weighed(strategy.resources))
        return msgspec.structs.replace(self, scoring_strategy=completed)

    def validate(self, path: str) -> list[FieldError]:
        """Names, strategy type, weights, shape."""
        errors = []
        for i, name in enumerate(self.ignored_resources):
            errors += qualified_name_errors(item(child(path, "ignoredResources"), i), name)
        for i, group in enumerate(self.ignored_resource_groups):
            errors += _resource_group_errors(item(child(path, "ignoredResourceGroups"), i), group)
        return [*errors, *self._strategy_errors(child(path, "scoringStrategy"))]

    def _strategy_errors(self, path: str) -> Iterator[FieldError]:
        strategy = self.scoring_strategy
        if strategy.type not in set(ScoringStrategyType):
            yield FieldError.unsupported(f"{path}.type", strategy.type, ScoringStrategyType)
        for i, resource in enumerate(strategy.resources):
            if not 0 < resource.weight <= 100:
                detail = f"resource weight of {resource.name} not in valid range (0, 100]"
                yield FieldError.invalid(f"{path}.resources[{i}].weight", resource.weight, detail)
        yield from self._ratio_errors(path)

    def _ratio_errors(self, path: str) -> Iterator[FieldError]:
        ratio, where = self.scoring_strategy.requested_to_capacity_ratio, f"{path}.requestedToCapacityRatio"
        is_wanted = self.scoring_strategy.type == ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO
        if is_wanted and ratio is None:
            yield FieldError.required(where, "must be specified when type is RequestedToCapacityRatio")
        elif is_wanted and ratio is not None:
            yield from shape_errors(f"{where}.shape", ratio.shape)
        elif ratio is not None:
            yield FieldError.forbidden(where, "must be nil when type is not RequestedToCapacityRatio")


class EarlierNodeResourcesFitArgs(NodeResourcesFitArgs):
    """The same before v1.36.

    Rule: kube-scheduler v1.33 to v1.35: a shape is checked for every type, at another path; where the type needs one,
    and there is none, kube-scheduler panics.
    """

    def _ratio_errors(self, path: str) -> Iterator[FieldError]:
        ratio = self.scoring_strategy.requested_to_capacity_ratio
        if ratio is not None:
            return shape_errors(f"{path}.shape", ratio.shape)
        return super()._ratio_errors(path)


class NodeResourcesBalancedAllocationArgs(PluginArgs):
    """Arguments of NodeResourcesBalancedAllocation.

    Attributes:
        resources: the resources that are balanced.
    """

    resources: tuple[ResourceSpec, ...] = CPU_AND_MEMORY

    def with_defaults(self) -> "NodeResourcesBalancedAllocationArgs":
        """An empty resource list means cpu and memory."""
        return msgspec.structs.replace(self, resources=weighed(self.resources))

    def validate(self, path: str) -> list[FieldError]:
        """Each resource once, each with weight 1."""
        errors = []
        seen: set[str] = set()
        for i, resource in enumerate(self.resources):
            where = item(child(path, "resources"), i)
            if resource.name in seen:
                errors.append(FieldError.duplicate(f"{where}.name", resource.name))
            if resource.weight != 1:
                errors.append(FieldError.invalid(f"{where}.weight", resource.weight, "must be 1"))
            seen.add(resource.name)
        return errors


class InterPodAffinityArgs(PluginArgs):
    """Arguments of InterPodAffinity: the weight, 0..100, of a required term of a pod that is already there.

    Attributes:
        hard_pod_affinity_weight: the weight of a required term of a pod that runs already, from 0 to 100.
        ignore_preferred_terms_of_existing_pods: whether preferred terms count only if the incoming pod has some.
    """

    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def validate(self, path: str) -> list[FieldError]:
        """The range of the weight."""
        return _outside(child(path, "hardPodAffinityWeight"), self.hard_pod_affinity_weight, 0, 100)


class NodeAffinityArgs(PluginArgs):
    """Arguments of NodeAffinity: a node affinity that every pod of the profile has in addition to its own.

    Attributes:
        added_affinity: a node affinity that every pod of the profile has in addition to its own.
    """

    added_affinity: AffinityToNodes | None = None

    def validate(self, path: str) -> list[FieldError]:
        """Both parts have to parse as node selectors."""
        if self.added_affinity is None:
            return []
        where = child(path, "addedAffinity")
        required = self.added_affinity.required
        terms = (required.node_selector_terms if required else None) or ()
        preferred = self.added_affinity.preferred or ()
        required_path = child(where, "requiredDuringSchedulingIgnoredDuringExecution")
        preferred_path = child(where, "preferredDuringSchedulingIgnoredDuringExecution")
        written = [(f"{required_path}.nodeSelectorTerms[{i}]", term) for i, term in enumerate(terms)]
        written += [(f"{preferred_path}[{i}]", term.preference) for i, term in enumerate(preferred) if term.weight]
        return list(_term_errors(written))


class PodTopologySpreadArgs(PluginArgs):
    """Arguments of PodTopologySpread: constraints for pods that have none, ours (`System`) or the given (`List`).

    Attributes:
        default_constraints: constraints for pods that have none; they need the defaulting type List.
        defaulting_type: System for kube-scheduler's own default constraints, List for the given ones.
    """

    default_constraints: tuple[TopologySpreadConstraint, ...] = ()
    defaulting_type: str = "System"

    def with_defaults(self) -> "PodTopologySpreadArgs":
        """An empty type means System."""
        return self if self.defaulting_type else msgspec.structs.replace(self, defaulting_type="System")

    def validate(self, path: str) -> list[FieldError]:
        """The type, then each constraint."""
        where = child(path, "defaultingType")
        errors = []
        if self.defaulting_type not in ("System", "List"):
            errors.append(FieldError.unsupported(where, self.defaulting_type, ("System", "List")))
        elif self.defaulting_type == "System" and self.default_constraints:
            detail = "when .defaultConstraints are not empty"
            errors.append(FieldError.invalid(where, "System", detail, help="set it to List to use the constraints"))
        return [*errors, *_constraints_errors(child(path, "defaultConstraints"), self.default_constraints)]


class VolumeBindingArgs(PluginArgs):
    """Arguments of VolumeBinding without the feature gate StorageCapacityScoring, which is on since v1.37.

    Attributes:
        bind_timeout_seconds: how long to wait for the volumes of a pod to be bound.
        shape: belongs to the gate.
    """

    bind_timeout_seconds: Int64 = 600
    shape: tuple[UtilizationShapePoint, ...] | None = None

    def validate(self, path: str) -> list[FieldError]:
        """The timeout is not negative, and a shape is not set."""
        errors = []
        if self.bind_timeout_seconds < 0:
            detail = "invalid BindTimeoutSeconds, should not be a negative value"
            errors.append(FieldError.invalid(child(path, "bindTimeoutSeconds"), self.bind_timeout_seconds, detail))
        return [*errors, *self._shape_errors(child(path, "shape"))]

    def _shape_errors(self, path: str) -> Iterable[FieldError]:
        if self.shape is None:
            return ()
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        go_value = "" if self.shape else "[]config.UtilizationShapePoint{}"
        return (FieldError.invalid(path, self.shape, detail, go_value=go_value),)


class ScoringVolumeBindingArgs(VolumeBindingArgs):
    """The same with the gate.

    Attributes:
        shape: how a node scores by the share of its storage that would be used; by default, the less the better.
    """

    shape: tuple[UtilizationShapePoint, ...] | None = _EMPTIER_STORAGE

    def with_defaults(self) -> "ScoringVolumeBindingArgs":
        """An empty shape is none."""
        return self if self.shape else msgspec.structs.replace(self, shape=_EMPTIER_STORAGE)

    def _shape_errors(self, path: str) -> Iterable[FieldError]:
        return shape_errors(path, self.shape or ())


class DefaultPreemptionArgs(PluginArgs):
    """Arguments of DefaultPreemption: how many candidate nodes it looks at, as a share of the nodes and at least.

    Attributes:
        min_candidate_nodes_percentage: how many candidate nodes to look at, in percent of the nodes.
        min_candidate_nodes_absolute: the least number of candidate nodes to look at.
    """

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100

    def validate(self, path: str) -> list[FieldError]:
        """The ranges; both cannot be 0."""
        percentage, absolute = self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute
        percentage_path = child(path, "minCandidateNodesPercentage")
        absolute_path = child(path, "minCandidateNodesAbsolute")
        errors = _outside(percentage_path, percentage, 0, 100)
        if absolute < 0:
            errors.append(FieldError.invalid(absolute_path, absolute, "not in valid range [0, inf)"))
        if percentage == 0 and absolute == 0:
            both = "cannot be zero at the same time as"
            errors.append(FieldError.invalid(percentage_path, 0, f"{both} minCandidateNodesAbsolute"))
            errors.append(FieldError.invalid(absolute_path, 0, f"{both} minCandidateNodesPercentage"))
        return errors


class DynamicResourcesArgs(PluginArgs):
    """Arguments of DynamicResources: limits in seconds for filtering one node and for binding.

    Attributes:
        filter_timeout: the limit for filtering one node; 0 for none.
        binding_timeout: the limit for binding.
    """

    filter_timeout: Duration = Duration(10)
    binding_timeout: Duration | None = _BINDING_TIMEOUT

    def validate(self, path: str) -> list[FieldError]:
        """Zero turns the filter's limit off."""
        errors = []
        if self.filter_timeout < 0:
            detail = "must be zero or positive"
            errors.append(FieldError.invalid(child(path, "filterTimeout"), self.filter_timeout, detail))
        return [*errors, *self._binding_errors(child(path, "bindingTimeout"))]

    def _binding_errors(self, path: str) -> list[FieldError]:
        """Binding gets a second at least."""
        timeout = self.binding_timeout
        is_short = timeout is not None and timeout < 1
        return [FieldError.invalid(path, timeout, "must be at least 1 second")] if is_short else []

    @property
    def binding_limit(self) -> Duration:
        """The limit for binding, also where no configuration can have another one."""
        return _BINDING_TIMEOUT if self.binding_timeout is None else self.binding_timeout


class UnboundDynamicResourcesArgs(DynamicResourcesArgs):
    """The same without the feature gates of binding conditions, which are on since v1.36.

    Attributes:
        binding_timeout: belongs to the gates.
    """

    binding_timeout: Duration | None = None

    def _binding_errors(self, path: str) -> list[FieldError]:
        detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
        return [] if self.binding_timeout is None else [FieldError.forbidden(path, detail)]


def weighed(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    """The resources with weight 1 where none is given; cpu and memory for an empty list."""
    return tuple(ResourceSpec(resource.name, resource.weight or 1) for resource in resources) or CPU_AND_MEMORY


def _outside(path: str, value: int, low: int, high: int) -> list[FieldError]:
    return [] if low <= value <= high else [FieldError.invalid(path, value, f"not in valid range [{low}, {high}]")]


def _resource_group_errors(path: str, group: str) -> list[FieldError]:
    errors = [FieldError.invalid(path, group, "resource group name can't contain '/'")] if "/" in group else []
    return errors + qualified_name_errors(path, group)


def shape_errors(path: str, shape: tuple[UtilizationShapePoint, ...]) -> Iterator[FieldError]:
    """What is wrong with a broken line: no point, utilizations that do not increase, values out of range."""
    if not shape:
        yield FieldError.required(path, "at least one point must be specified")
    for i in range(1, len(shape)):
        if shape[i].utilization <= shape[i - 1].utilization:
            detail = "values must be sorted in increasing order"
            where, earlier = f"{path}[{i}].utilization", f"utilization {detail}"
            yield FieldError.invalid(where, shape[i].utilization, detail, earlier_detail=earlier)
            break
    for i, point in enumerate(shape):
        yield from _outside(f"{path}[{i}].utilization", point.utilization, 0, 100)
        yield from _outside(f"{path}[{i}].score", point.score, 0, 10)


def _term_errors(terms: Iterable[tuple[str, NodeSelectorTerm]]) -> Iterator[FieldError]:
    for path, term in terms:
        try:
            parse_node_term(term, f"{path}.")
        except SelectorError as error:
            for fault in error.faults:
                where, _, text = fault.partition(": ")
                yield FieldError(where, text, earlier=_with_go_list(text))


def _with_go_list(text: str) -> str:
    """What is wrong with a list of texts, with the list in Go's syntax; empty where the text is about another value."""
    listed = _LIST_IN_TEXT.match(text)
    if listed is None:
        return ""
    values = json.loads(listed[1])
    return f"Invalid value: {go_syntax(values) if values else '[]string(nil)'}: {text[listed.end() :]}"


def _constraints_errors(path: str, constraints: tuple[TopologySpreadConstraint, ...]) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for i, constraint in enumerate(constraints):
        where = item(path, i)
        yield from _constraint_errors(where, constraint)
        identity = (constraint.topology_key, constraint.when_unsatisfiable)
        if identity in seen:
            yield FieldError.duplicate(where, f"{{{identity[0]}, {identity[1]}}}")
        seen.add(identity)


def _constraint_errors(path: str, constraint: TopologySpreadConstraint) -> Iterator[FieldError]:
    if constraint.max_skew <= 0:
        yield FieldError.invalid(f"{path}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
    if not constraint.topology_key:
        yield FieldError.required(f"{path}.topologyKey", "can not be empty")
    else:
        yield from qualified_name_errors(f"{path}.topologyKey", constraint.topology_key)
    action = constraint.when_unsatisfiable
    if not action:
        yield FieldError.required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif action not in ("DoNotSchedule", "ScheduleAnyway"):
        yield FieldError.unsupported(f"{path}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway"))
    if constraint.label_selector is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        yield FieldError.forbidden(f"{path}.labelSelector", detail)
