"""What kube-scheduler does in one version and not in another, in words, with the number of a proposal or pull request.

An upgrade notice lists the rows that differ between its two versions. The rules themselves are where they decide.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from kubesched.release.release import Release

KEPS: Final = {
    "DRAConsumableCapacity": "KEP-5075",
    "DRADeviceBindingConditions": "KEP-5007",
    "DRADeviceTaints": "KEP-5055",
    "DRAExtendedResource": "KEP-5004",
    "DRAPartitionableDevices": "KEP-4815",
    "DynamicResourceAllocation": "KEP-4381",
    "InPlacePodLevelResourcesVerticalScaling": "KEP-5419",
    "NodeDeclaredFeatures": "KEP-5328",
    "PodLevelResources": "KEP-2837",
    "StorageCapacityScoring": "KEP-4049",
    "TaintTolerationComparisonOperators": "KEP-5471",
    "VolumeAttributesClass": "KEP-3751",
    "VolumeLimitScaling": "KEP-5030",
}
"""Feature gate -> the proposal that it belongs to."""


class Variant(NamedTuple):
    """A rule as it is from one version on.

    Attributes:
        since: the first minor version with it; the first variant of a rule has 0.
        text: what kube-scheduler does.
        source: where the change is described; empty where that is not known.
        is_backported: whether patches of earlier versions have it, too: those in CORRECTED.
    """

    since: int
    text: str
    source: str = ""
    is_backported: bool = False

    def is_in(self, release: Release) -> bool:
        """Whether a version has it, or a variant after it."""
        return not release.before(self.since) or (self.is_backported and release.patch > 0)


class VersionRule(NamedTuple):
    """A rule of a plugin that is not the same in all versions.

    Attributes:
        subject: the plugin.
        variants: in the order of the versions; those of a gate are for off and for on.
        concerns: what objects it is about: a key of `CONCERNED` in comparison/concerned.py.
        gate: the feature gate that decides which variant is in force; empty where the version does.
    """

    subject: str
    variants: tuple[Variant, ...]
    concerns: str
    gate: str = ""

    def variant(self, release: Release) -> Variant:
        """The variant that is in force."""
        if self.gate:
            return self.variants[release.has(self.gate)]
        return [one for one in self.variants if one.is_in(release)][-1]


def _of_gate(subject: str, gate: str, concerns: str, off: str, on: str, source: str = "") -> VersionRule:
    return VersionRule(subject, (Variant(0, off), Variant(0, on, source or KEPS[gate])), concerns, gate)


VERSION_RULES: Final = (
    VersionRule(
        "TaintToleration",
        (
            Variant(0, "the text names the taint: node(s) had untolerated taint {key: value}"),
            Variant(34, "the text does not name the taint: node(s) had untolerated taint(s)", "PR 135023"),
        ),
        "taints",
    ),
    VersionRule(
        "NodeResourcesFit",
        (
            Variant(0, "preemption is tried where a request is above what the node can allocate"),
            Variant(34, "preemption is not tried where a request is above what the node can allocate"),
        ),
        "waiting",
    ),
    VersionRule(
        "VolumeRestrictions",
        (
            Variant(0, "text: node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod"),
            Variant(34, "text: node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode"),
        ),
        "single pod access",
    ),
    VersionRule(
        "InterPodAffinity",
        (
            Variant(0, "a namespaceSelector of NotIn or DoesNotExist alone leaves namespaces out"),
            Variant(
                34, "a namespaceSelector of NotIn or DoesNotExist alone matches every namespace, a bug", "issue 141526"
            ),
            Variant(37, "a namespaceSelector of NotIn or DoesNotExist alone leaves namespaces out", "PR 141563", True),
        ),
        "negative selector",
    ),
    VersionRule(
        "DefaultPreemption",
        (
            Variant(0, "a victim that is terminating is deleted again"),
            Variant(35, "a victim that is terminating is not deleted again"),
        ),
        "terminating",
    ),
    VersionRule(
        "DefaultPreemption",
        (
            Variant(0, "the text of a pod that preempts does not name the node"),
            Variant(37, "the text of a pod that preempts names the node and the number of victims", "PR 140180"),
        ),
        "waiting",
    ),
    VersionRule(
        "DefaultPreemption",
        (
            Variant(0, "of pods of one priority without a start time, those that came first to the node go first"),
            Variant(37, "of pods of one priority without a start time, those that came last to the node go first"),
        ),
        "no start time",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "adds nothing to the text of a pod that fits nowhere"),
            Variant(
                34, "adds to the text of a pod that fits nowhere: no new claims to deallocate, still not schedulable"
            ),
            Variant(37, "adds nothing to the text of a pod that fits nowhere"),
        ),
        "waiting",
    ),
    VersionRule(
        "DynamicResources",
        (Variant(0, "takes a random one of the devices that do"), Variant(36, "takes the same devices each time")),
        "claim",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "distinctAttribute compares no devices"),
            Variant(35, "distinctAttribute is an error without DRAConsumableCapacity"),
            Variant(36, "distinctAttribute compares a device with the one before it alone"),
            Variant(37, "distinctAttribute compares all devices", "PR 140600"),
        ),
        "distinct attribute",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "a pool is complete if the node has all its slices; most requests take devices of others, too"),
            Variant(35, "a pool is complete if the cluster has all its slices; requests take no devices of others"),
        ),
        "slice",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "a request for capacity is an error without DRAConsumableCapacity"),
            Variant(35, "a request for capacity asks for none without DRAConsumableCapacity"),
        ),
        "capacity request",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "a configuration of a claim is written once for each request that it names"),
            Variant(37, "a configuration of a claim is written once, without the names if these are all requests"),
        ),
        "claim",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "a ResourceSlice with sharedCounters belongs to every node"),
            Variant(37, "a ResourceSlice with sharedCounters belongs to the nodes that it names", "PR 140437"),
        ),
        "counters",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "a request for all devices leaves out shared ones of which too little is left"),
            Variant(37, "a request for all devices fails where too little of a shared one is left"),
        ),
        "all devices",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "the text of a selector that fails does not name the device"),
            Variant(37, "the text of a selector that fails names the device"),
        ),
        "device selector",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "CEL: an attribute cannot be the range of a macro; fields in backticks do not compile"),
            Variant(37, "CEL: an attribute may be the range of a macro; fields in backticks compile"),
        ),
        "device selector",
    ),
    VersionRule(
        "DynamicResources",
        (
            Variant(0, "CEL: duration of an int fails for a device; lists.range has no bounds"),
            Variant(37, "CEL: duration of an int does not compile; lists.range takes 0 to 1000000"),
        ),
        "device selector",
    ),
    VersionRule(
        "NodeResourcesBalancedAllocation",
        (
            Variant(0, "scores how balanced the node is with the pod"),
            Variant(36, "scores by how much the pod makes the node more balanced", "PR 135573"),
        ),
        "waiting",
    ),
    VersionRule(
        "ImageLocality",
        (
            Variant(0, "image volumes do not count"),
            Variant(36, "image volumes count", "PR 130231"),
            Variant(37, "image volumes count no more than images of containers", "PR 138951"),
        ),
        "image volume",
    ),
    VersionRule(
        "NodeResourcesFit",
        (
            Variant(0, "a pod of several containers in a resize holds more than it needs"),
            Variant(37, "a pod of several containers in a resize holds what it needs", "PR 140047"),
        ),
        "resize",
    ),
    VersionRule(
        "NodeResourcesFit",
        (
            Variant(0, "status.resources of a pod without spec.resources do not count"),
            Variant(37, "status.resources and allocatedResources of a pod count without spec.resources, too"),
        ),
        "status of whole pod",
    ),
    VersionRule(
        "NodeVolumeLimits",
        (
            Variant(0, "in-tree Portworx volumes count on nodes whose CSINode lists their plugin as migrated"),
            Variant(36, "in-tree Portworx volumes count on every node with a limit for their driver"),
        ),
        "portworx",
    ),
    _of_gate(
        "TaintToleration",
        "TaintTolerationComparisonOperators",
        "comparing toleration",
        "tolerations with the operators Lt and Gt tolerate nothing",
        "tolerations with the operators Lt and Gt compare numbers",
    ),
    _of_gate(
        "NodeVolumeLimits",
        "VolumeLimitScaling",
        "required driver",
        "a node without the CSI driver of a volume fits",
        "a node without the CSI driver of a volume is rejected if its CSIDriver has preventPodSchedulingIfMissing",
        "KEP-5030, PR 140612",
    ),
    _of_gate(
        "VolumeBinding",
        "StorageCapacityScoring",
        "volumes",
        "does not score",
        "scores the free capacity of volumes and storage classes",
    ),
    _of_gate(
        "VolumeBinding",
        "VolumeAttributesClass",
        "attributes class",
        "a claim with volumeAttributesClassName is an error",
        "volumes of the volumeAttributesClassName of a claim match it",
    ),
)
"""Rules that differ between versions.

Rule: measured with v1.33.13, v1.34.4, v1.35.4, v1.36.3 and v1.37.2; the numbers are those of the release notes.
"""


def changed_rules(a: Release, b: Release) -> Iterator[tuple[VersionRule, str]]:
    """The rules of which two releases have different variants, and the sources of the changes in between."""
    older, newer = sorted((a, b), key=lambda one: (one.minor, one.patch))
    for rule in VERSION_RULES:
        if rule.variant(a).text != rule.variant(b).text:
            between = (one for one in rule.variants if rule.gate or (one.is_in(newer) and not one.is_in(older)))
            yield rule, ", ".join(one.source for one in between if one.source)
