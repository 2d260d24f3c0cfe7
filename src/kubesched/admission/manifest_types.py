"""Manifests with the fields that their expansion reads; decoding into these types also finds fields of a wrong type."""

from typing import Final

from kubesched.api import (
    Container,
    ContainerPort,
    EphemeralSource,
    LabelSelector,
    ObjectMeta,
    PersistentVolumeClaim,
    PodSpec,
    Value,
    Volume,
)

GROUPS: Final = {  # the kinds that a manifest may hold, and their API groups
    "Pod": "",
    "Deployment": "apps",
    "ReplicaSet": "apps",
    "StatefulSet": "apps",
    "DaemonSet": "apps",
    "Job": "batch",
}


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


class WorkloadManifest(Value, frozen=True):
    """A Deployment, ReplicaSet, StatefulSet, DaemonSet or Job."""

    metadata: ManifestMeta = ManifestMeta()
    spec: WorkloadSpec = WorkloadSpec()
