"""Arguments of the legacy plugins: fields, defaults and checks of kubescheduler.config.k8s.io/v1beta1.

Rule: kube-scheduler v1.20 argument defaults and validation.
"""

from collections.abc import Sequence

import msgspec

from kubesched.config import FieldError, Int32, PluginArgs, child
from kubesched.plugins import CPU_AND_MEMORY, ResourceSpec, UtilizationShapePoint, shape_errors, weighed


class NodeLabelArgs(PluginArgs):
    """Arguments of NodeLabel: label keys that a node must have or lack, and those that raise its score.

    Attributes:
        present_labels: label keys that a node must have.
        absent_labels: label keys that a node must not have.
        present_labels_preference: label keys that raise the score of a node.
        absent_labels_preference: label keys whose absence raises the score of a node.
    """

    present_labels: tuple[str, ...] = ()
    absent_labels: tuple[str, ...] = ()
    present_labels_preference: tuple[str, ...] = ()
    absent_labels_preference: tuple[str, ...] = ()

    def validate(self, path: str) -> list[FieldError]:
        """No label is wanted both present and absent."""
        return [
            *_contradictions(child(path, "presentLabels"), self.present_labels, self.absent_labels),
            *_contradictions(
                child(path, "presentLabelsPreference"), self.present_labels_preference, self.absent_labels_preference
            ),
        ]


class ServiceAffinityArgs(PluginArgs):
    """Arguments of ServiceAffinity: labels by which a service's pods stay together, and those that spread them.

    Attributes:
        affinity_labels: label keys of nodes: the pods of a service stay on nodes with equal values.
        anti_affinity_labels_preference: label keys of nodes: the pods of a service are spread over their values.
    """

    affinity_labels: tuple[str, ...] = ()
    anti_affinity_labels_preference: tuple[str, ...] = ()


class NodeResourcesLeastAllocatedArgs(PluginArgs):
    """Arguments of NodeResourcesLeastAllocated: the resources that count, cpu and memory by default.

    Attributes:
        resources: the resources that count, with weights from 1 to 100.
    """

    resources: tuple[ResourceSpec, ...] = ()

    def with_defaults(self) -> "NodeResourcesLeastAllocatedArgs":
        """An empty resource list means cpu and memory."""
        return msgspec.structs.replace(self, resources=self.resources or CPU_AND_MEMORY)

    def validate(self, path: str) -> list[FieldError]:
        """Weights from 1 to 100; each has to be given."""
        return _weight_errors(child(path, "resources"), self.resources, 100)


class NodeResourcesMostAllocatedArgs(NodeResourcesLeastAllocatedArgs):
    """Arguments of NodeResourcesMostAllocated, as those of NodeResourcesLeastAllocated."""


class RequestedToCapacityRatioArgs(PluginArgs):
    """Arguments of RequestedToCapacityRatio: a broken line, and the resources that count, cpu and memory by default.

    Attributes:
        shape: the corners of the line: a score from 0 to 10 at each utilization in percent.
        resources: the resources that count, with their weights.
    """

    shape: tuple[UtilizationShapePoint, ...] = ()
    resources: tuple[ResourceSpec, ...] = ()

    def with_defaults(self) -> "RequestedToCapacityRatioArgs":
        """An empty resource list means cpu and memory, a weight of 0 means 1."""
        return msgspec.structs.replace(self, resources=weighed(self.resources))

    def validate(self, path: str) -> list[FieldError]:
        """The line, then the weights, which have no upper limit."""
        where = child(path, "resources")
        return [*shape_errors(child(path, "shape"), self.shape), *_weight_errors(where, self.resources, None)]


class VolumeLimitsArgs(PluginArgs):
    """Arguments of the volume limits: the most volumes on a node that reports no limit; 0 for the kind's default.

    Attributes:
        max_volumes: the most volumes on a node that reports no limit; 0 for the default of the kind of volume.
    """

    max_volumes: Int32 = 0

    def validate(self, path: str) -> list[FieldError]:
        """The limit is not negative."""
        where = child(path, "maxVolumes")
        return [FieldError.invalid(where, self.max_volumes, "must be non-negative")] if self.max_volumes < 0 else []


def _weight_errors(path: str, resources: Sequence[ResourceSpec], highest: int | None) -> list[FieldError]:
    valid = "(0, inf)" if highest is None else f"(0, {highest}]"
    return [
        FieldError.invalid(
            f"{path}[{i}].weight", resource.weight, f"resource weight of {resource.name} not in valid range {valid}"
        )
        for i, resource in enumerate(resources)
        if resource.weight <= 0 or (highest is not None and resource.weight > highest)
    ]


def _contradictions(path: str, present: Sequence[str], absent: Sequence[str]) -> list[FieldError]:
    both = next((key for key in absent if key in present), None)
    if both is None:
        return []
    lists = f"both the present([{' '.join(present)}]) and absent([{' '.join(absent)}]) label list"
    detail = f'detecting at least one label (e.g., "{both}") that exist in {lists}'
    return [FieldError.invalid(path, both, detail, help=f"remove {both} from one of the two lists")]
