"""The fields of pods that a scheduler reads, as wire structs.

Only fields that some rule reads are decoded. Lists and maps may be absent or null on the wire; both read as None here,
and the short names on Pod give an empty one instead.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api.meta import StatusCondition, Value
from kubesched.api.selectors import LabelSelector, NodeSelector, PreferredSchedulingTerm

Quantities = dict[str, str | int | float]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


class Toleration(Value, frozen=True, gc=False):
    """One entry of spec.tolerations."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class ComparingToleration(Toleration, frozen=True, gc=False):
    """One whose operator, Lt or Gt, compares the numbers of taint and toleration.

    `with_comparisons` makes it where the version has the gate; without the gate, these operators tolerate nothing.
    """


class Resources(Value, frozen=True, gc=False):
    """requests and limits; quantities as written."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class ContainerPort(Value, frozen=True, gc=False):
    """One port of a container; only those with a hostPort matter."""

    host_port: int = 0
    protocol: str | None = None
    host_ip: str | None = msgspec.field(default=None, name="hostIP")


class RestartPolicyRule(Value, frozen=True, gc=False):
    """One entry of a container's restartPolicyRules."""

    action: str = ""


class Container(Value, frozen=True, gc=False):
    """A container or an init container; `restart_policy` Always makes an init container a sidecar."""

    name: str = ""
    image: str = ""
    resources: Resources | None = None
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None
    restart_policy_rules: tuple[RestartPolicyRule, ...] | None = None

    @property
    def requests(self) -> Quantities:
        """resources.requests, empty when absent."""
        return (self.resources.requests if self.resources else None) or {}


class PodAffinityTerm(Value, frozen=True, gc=False):
    """A required (anti-)affinity term, as written."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] | None = None
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class WeightedPodAffinityTerm(Value, frozen=True, gc=False):
    """A preferred (anti-)affinity term."""

    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Value, frozen=True, gc=False):
    """podAffinity or podAntiAffinity."""

    required: tuple[PodAffinityTerm, ...] | None = msgspec.field(default=None, name=_REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] | None = msgspec.field(default=None, name=_PREFERRED)


class AffinityToNodes(Value, frozen=True, gc=False):
    """nodeAffinity. `required` that is present but has no terms matches no node; a preferred [] is not None."""

    required: NodeSelector | None = msgspec.field(default=None, name=_REQUIRED)
    preferred: tuple[PreferredSchedulingTerm, ...] | None = msgspec.field(default=None, name=_PREFERRED)


class Affinity(Value, frozen=True, gc=False):
    """spec.affinity."""

    node_affinity: AffinityToNodes | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None

    @property
    def pod_terms(self) -> Iterator[PodAffinityTerm]:
        """The terms of podAffinity, then of podAntiAffinity: the required ones and the preferred ones of each."""
        for rules in (self.pod_affinity, self.pod_anti_affinity):
            if rules is not None:
                yield from rules.required or ()
                yield from (weighted.pod_affinity_term for weighted in rules.preferred or ())


class TopologySpreadConstraint(Value, frozen=True, gc=False):
    """One topology spread constraint, as written."""

    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class ClaimSource(Value, frozen=True, gc=False):
    """A volume's persistentVolumeClaim."""

    claim_name: str = ""


class EphemeralSource(Value, frozen=True, gc=False):
    """A generic ephemeral volume; its claim is named `<pod>-<volume>`."""


class EmptyDirSource(Value, frozen=True, gc=False):
    """A volume that is empty at first and deleted with its pod."""


class ImageSource(Value, frozen=True, gc=False):
    """A volume that is an OCI image."""

    reference: str = ""


class DiskSource(Value, frozen=True, gc=False):
    """Any in-tree disk source, the fields of all of them together; a kind fills in its own."""

    pd_name: str = ""
    volume_id: str = msgspec.field(default="", name="volumeID")
    disk_uri: str = msgspec.field(default="", name="diskURI")
    monitors: tuple[str, ...] | None = None
    image: str = ""
    pool: str = ""
    iqn: str = ""
    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class Volume(Value, frozen=True, gc=False):
    """One entry of spec.volumes, as far as a scheduler looks into it."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralSource | None = None
    empty_dir: EmptyDirSource | None = None
    image: ImageSource | None = None
    csi: DiskSource | None = None
    gce_persistent_disk: DiskSource | None = None
    aws_elastic_block_store: DiskSource | None = None
    cinder: DiskSource | None = None
    azure_disk: DiskSource | None = None
    azure_file: DiskSource | None = None
    vsphere_volume: DiskSource | None = None
    portworx_volume: DiskSource | None = None
    rbd: DiskSource | None = None
    iscsi: DiskSource | None = None


class SchedulingGate(Value, frozen=True, gc=False):
    """One entry of spec.schedulingGates."""

    name: str = ""


class PodResourceClaim(Value, frozen=True, gc=False):
    """One entry of spec.resourceClaims."""

    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class SchedulingGroup(Value, frozen=True, gc=False):
    """spec.schedulingGroup: the PodGroup of the pod."""

    pod_group_name: str = ""


class PodSpec(Value, frozen=True, gc=False):
    """spec."""

    node_name: str = ""
    scheduler_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    resources: Resources | None = None
    overhead: Quantities | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    volumes: tuple[Volume, ...] | None = None
    scheduling_gates: tuple[SchedulingGate, ...] | None = None
    resource_claims: tuple[PodResourceClaim, ...] | None = None
    scheduling_group: SchedulingGroup | None = None
    runtime_class_name: str = ""
    active_deadline_seconds: int | None = None
    host_network: bool = False
    host_users: bool | None = None


class PodCondition(StatusCondition, frozen=True, gc=False):
    """One entry of status.conditions of most kinds."""

    reason: str = ""
    message: str = ""
    observed_generation: int = 0


class ContainerStatus(Value, frozen=True, gc=False):
    """What a running container holds, for in-place resize."""

    name: str = ""
    resources: Resources | None = None
    allocated_resources: Quantities | None = None


class PodResourceClaimStatus(Value, frozen=True, gc=False):
    """The claim of an entry of spec.resourceClaims; no name where none is needed."""

    name: str = ""
    resource_claim_name: str = ""


class ContainerDeviceRequest(Value, frozen=True, gc=False):
    """The request of a claim that serves an extended resource of a container."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class ExtendedResourceClaimStatus(Value, frozen=True, gc=False):
    """The claim that serves extended resources of the pod."""

    resource_claim_name: str = ""
    request_mappings: tuple[ContainerDeviceRequest, ...] | None = None


class PodStatus(Value, frozen=True, gc=False):
    """status."""

    phase: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    start_time: str | None = None
    conditions: tuple[PodCondition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    resources: Resources | None = None
    allocated_resources: Quantities | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] | None = None
    extended_resource_claim_status: ExtendedResourceClaimStatus | None = None
