"""Manifests with the fields that their expansion reads; decoding into these types also finds fields of a wrong type."""

from typing import Final

from kubesched.api import (
    KINDS,
    Container,
    ContainerPort,
    EphemeralSource,
    LabelSelector,
    ObjectMeta,
    PersistentVolumeClaim,
    PodSpec,
    Value,
    Volume,
    kind_key,
)

GROUPS: Final = {  # the kinds that become pods, and their API groups
    "Pod": "",
    "Deployment": "apps",
    "ReplicaSet": "apps",
    "StatefulSet": "apps",
    "DaemonSet": "apps",
    "Job": "batch",
    "CronJob": "batch",
    "ReplicationController": "",
}
_SERVED: Final = {"", "apps", "batch", "extensions"}  # that serve them, or once did


def api_version_of(kind: str) -> str:
    """The apiVersion of a kind in GROUPS."""
    return f"{GROUPS[kind]}/v1".lstrip("/")


def left_out(kind: str, api_version: str) -> str:
    """The name to count an object under that no scheduler reads and that does not become pods; empty for the others.

    A kind with a name that is read, in the API group of somebody else, has its group in the name:
    `Job.batch.volcano.sh`.
    """
    group = api_version.rpartition("/")[0]
    if kind in GROUPS:
        return "" if group in _SERVED else f"{kind}.{group}"
    if kind_key(kind, group):
        return ""
    return f"{kind}.{group}".removesuffix(".") if any(known.name == kind for known in KINDS.values()) else kind


class ManifestMeta(ObjectMeta, frozen=True, gc=False):
    """metadata; a name may be left to be generated."""

    generate_name: str = ""


class ManifestPort(ContainerPort, frozen=True, gc=False):
    """A port; on the host's network its number is a host port."""

    container_port: int = 0


class ManifestContainer(Container, frozen=True, gc=False):
    """A container with its ports."""

    ports: tuple[ManifestPort, ...] | None = None


class ManifestEphemeral(EphemeralSource, frozen=True):
    """A generic ephemeral volume and what the claim that is made for it looks like; it has no name yet."""

    volume_claim_template: PersistentVolumeClaim | None = None


class ManifestVolume(Volume, frozen=True):
    """A volume with the claim that may be made for it."""

    ephemeral: ManifestEphemeral | None = None


class ManifestPodSpec(PodSpec, frozen=True):
    """The spec of a pod."""

    containers: tuple[ManifestContainer, ...] | None = None
    init_containers: tuple[ManifestContainer, ...] | None = None
    volumes: tuple[ManifestVolume, ...] | None = None


class PodManifest(Value, frozen=True):
    """A pod."""

    metadata: ManifestMeta = ManifestMeta()
    spec: ManifestPodSpec = ManifestPodSpec()


class Ordinals(Value, frozen=True, gc=False):
    """From which number the pods of a StatefulSet count."""

    start: int = 0


class PodTemplate(Value, frozen=True):
    """The template of a workload's pods."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ManifestPodSpec = ManifestPodSpec()


class RollingUpdate(Value, frozen=True, gc=False):
    """How many pods a rolling update adds and takes away at a time: numbers or percentages of the replicas.

    `partition` is of StatefulSets: pods with smaller numbers are not updated.
    """

    max_surge: int | str | None = None
    max_unavailable: int | str | None = None
    partition: int | None = None


class UpdateStrategy(Value, frozen=True, gc=False):
    """How a workload replaces its pods."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(Value, frozen=True):
    """The specs of all workload kinds together; a kind fills in its own fields."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] | None = None
    ordinals: Ordinals | None = None
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
    strategy: UpdateStrategy | None = None
    update_strategy: UpdateStrategy | None = None


class WorkloadManifest(Value, frozen=True):
    """A workload that has a pod template."""

    metadata: ManifestMeta = ManifestMeta()
    spec: WorkloadSpec = WorkloadSpec()


class ControllerSpec(Value, frozen=True):
    """The spec of a ReplicationController, whose selector is a plain map."""

    replicas: int | None = None
    selector: dict[str, str] | None = None
    template: PodTemplate = PodTemplate()


class ControllerManifest(Value, frozen=True):
    """A ReplicationController."""

    metadata: ManifestMeta = ManifestMeta()
    spec: ControllerSpec = ControllerSpec()


class CronJobSpec(Value, frozen=True):
    """The spec of a CronJob; its job is read when it is admitted."""

    suspend: bool | None = None


class CronJobManifest(Value, frozen=True):
    """A CronJob."""

    metadata: ManifestMeta = ManifestMeta()
    spec: CronJobSpec = CronJobSpec()
