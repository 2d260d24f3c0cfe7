"""The words that Kubernetes defines, which stay when names are replaced: kinds, values of fields, names of labels.

Every word is listed. A form, such as everything below `topology.kubernetes.io/`, would also keep what somebody chose.
"""

import re
from typing import Final

from kubesched.api import INSTANCE_TYPES, MAX_INT64
from kubesched.capture.public_words import is_machine

OWNER_KINDS: Final = frozenset(
    (
        *("CronJob", "DaemonSet", "Deployment", "Job", "Node", "PersistentVolumeClaim", "Pod", "ReplicaSet"),
        *("ReplicationController", "StatefulSet"),
    )
)
"""Kinds that own pods; `api.KINDS` has those that a scheduler reads."""
OWNER_API_VERSIONS: Final = frozenset(("v1", "apps/v1", "batch/v1"))
"""Versions of these kinds."""
CONDITIONS: Final = frozenset(
    (
        *("Complete", "ContainersReady", "DiskPressure", "DisruptionTarget", "Failed", "FailureTarget", "Initialized"),
        *("MemoryPressure", "NetworkUnavailable", "PIDPressure", "PodReadyToStartContainers", "PodResizeInProgress"),
        *("PodResizePending", "PodScheduled", "Ready", "SuccessCriteriaMet"),
    )
)
"""Conditions of nodes, pods and Jobs."""
DEFINED_TYPES: Final = frozenset(("Container", "PersistentVolumeClaim", "Pod", "Recreate", "RollingUpdate"))
"""What a LimitRange has limits for, and the strategies of a Deployment."""
REASONS: Final = frozenset(
    (
        *("Deferred", "Error", "Evicted", "Infeasible", "NodeAffinity", "NodeLost", "NodeShutdown", "OutOfcpu"),
        *("OutOfmemory", "OutOfpods", "PreemptionByScheduler", "SchedulerError", "SchedulingGated", "Shutdown"),
        *("Terminated", "UnexpectedAdmissionError", "Unschedulable"),
    )
)
"""Reasons of conditions that a scheduler reads or writes, and for which a kubelet ends a pod."""
_VALUES: Final = frozenset(
    (
        *("True", "False", "Unknown"),  # status of a condition
        *("Pending", "Running", "Succeeded", "Failed"),  # phases of pods, namespaces, claims and volumes
        *("Active", "Terminating", "Bound", "Available", "Released", "Lost"),
        *("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal"),  # operators
        *("NoSchedule", "PreferNoSchedule", "NoExecute", "None"),
        *("ExactCount", "All", "pods"),  # allocation modes of claims, and what uses a claim
        *("DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore"),  # spread constraints
        *("OrderedReady", "Parallel"),  # how a StatefulSet creates its pods
        *("Count", "FailIndex", "FailJob"),  # what a Job does about a pod that failed
        "kubernetes.io/job-controller",
        *("Always", "OnFailure", "Never", "PreemptLowerPriority"),  # restart and preemption policies
        *("Restart", "RestartAllContainers"),  # restart rules of containers
        *("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"),  # declared features
        *("TCP", "UDP", "SCTP"),
        *("IfHealthyBudget", "AlwaysAllow"),
        *("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
        *("Filesystem", "Block", "Immediate", "WaitForFirstConsumer"),
        *("BestEffort", "NotBestEffort", "NotTerminating", "PriorityClass"),  # scopes of quotas
        *("CrossNamespacePodAffinity", "VolumeAttributesClass"),
        *("true", "false", "yes"),  # annotations
    )
)
_PUBLIC_VALUES: Final = frozenset(
    (
        *("linux", "windows", "amd64", "arm64", "arm", "386", "ppc64le", "s390x", "riscv64", "loong64"),
        *("aarch64", "armv7l", "x86_64", "darwin", "macos"),  # which a fix corrects
    )
)
"""Values of the labels for the operating system and the architecture."""
_SYSTEM_LABELS: Final = frozenset(
    ("kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch")
)
_PLAIN_VALUES: Final = frozenset(("", "true", "false", "yes", "no", "0", "1"))
_INDEXES: Final = frozenset(("apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"))
_INSTANCE_TYPE: Final = frozenset(INSTANCE_TYPES)
_NAMES: Final = {
    "": (
        *("arch", "config.mirror", "config.source", "host-path", "hostname", "metadata.name", "no-provisioner", "os"),
        *("pvc-protection", "rbd", "service-name"),
    ),
    "app.": ("component", "created-by", "instance", "managed-by", "name", "part-of", "version"),
    "apps.": ("pod-index",),
    "batch.": ("controller-uid", "job-completion-index", "job-index-failure-count", "job-name"),
    "beta.": ("arch", "instance-type", "os"),
    "failure-domain.beta.": ("region", "zone"),
    "node.": (
        *("disk-pressure", "exclude-from-external-load-balancers", "instance-type", "memory-pressure"),
        *("network-unavailable", "not-ready", "out-of-service", "pid-pressure", "unreachable", "unschedulable"),
    ),
    "node-role.": ("control-plane", "master"),
    "node.cloudprovider.": ("shutdown", "uninitialized"),
    "resource.": ("pciBusID", "pcieRoot"),
    "statefulset.": ("pod-name",),
    "topology.": ("region", "zone"),
}
_DEFINED_NAMES: Final = frozenset(f"{prefix}kubernetes.io/{name}" for prefix, names in _NAMES.items() for name in names)
_RESOURCES: Final = frozenset(
    (
        *("cpu", "memory", "ephemeral-storage", "storage", "pods", "count/pods"),
        *(f"attachable-volumes-{disk}" for disk in ("aws-ebs", "azure-disk", "cinder", "gce-pd")),
    )
)
_HUGE_PAGES: Final = re.compile(r"hugepages-[0-9]+([KMGTPE]i?)?")
_AMOUNT_OR_TIME: Final = re.compile(
    r"[+-]?[0-9]*\.?[0-9]*([numkKMGTPE]i?|[eE][+-]?[0-9]+)?|"
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_INTEGER: Final = re.compile("[+-]?[0-9]{1,63}")  # as long as a label may be


def is_amount(text: str) -> bool:
    """Whether a text is a number, a quantity or a time."""
    return _AMOUNT_OR_TIME.fullmatch(text) is not None


def is_defined_name(text: str) -> bool:
    """Whether Kubernetes defines a name below kubernetes.io, such as a label or a taint."""
    return text in _DEFINED_NAMES


def is_defined_value(text: str) -> bool:
    """Whether Kubernetes defines a value of a field; also for amounts and times."""
    return text in _VALUES or is_amount(text)


def is_integer(text: str) -> bool:
    """Whether Gt and Lt can compare a label: an int64."""
    return _INTEGER.fullmatch(text) is not None and -MAX_INT64 - 1 <= int(text) <= MAX_INT64


def is_kept_resource(name: str) -> bool:
    """Whether Kubernetes defines a resource; sizes of huge pages and in-tree disks are part of the name."""
    return name in _RESOURCES or _HUGE_PAGES.fullmatch(name) is not None


def is_public_value(key: str, value: str) -> bool:
    """Whether the value of a label is a public word, or says nothing; legacy plugins read the type of an instance."""
    if value in _PLAIN_VALUES or key in _INSTANCE_TYPE or is_machine(key):
        return True
    return (key in _SYSTEM_LABELS and value in _PUBLIC_VALUES) or (key in _INDEXES and is_integer(value))
