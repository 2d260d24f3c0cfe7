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
    UpdateStrategy,
    Value,
    Volume,
    has_other_fields,
    kind_key,
    unread_name,
)
from kubesched.documents import did_you_mean
from kubesched.errors import ObjectError

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
_API_VERSIONS: Final = {  # of what is read, by kind and group
    **{(kind.name, kind.group): kind.api_version for kind in KINDS.values()},
    **{(kind, group): f"{group}/v1".lstrip("/") for kind, group in GROUPS.items()},
}
_LIKENESS: Final = 0.8  # of a misspelt kind or group to the right one, from 0 to 1


def api_version_of(kind: str) -> str:
    """The apiVersion of a kind in GROUPS."""
    return f"{GROUPS[kind]}/v1".lstrip("/")


def left_out(kind: str, api_version: str) -> str:
    """The name to count an object under that no scheduler reads and that does not become pods; empty for the others.

    A kind with a name that is read, in the API group of somebody else, has its group in the name:
    `Job.batch.volcano.sh`. One in a version with other fields has the version: `ResourceSlice of
    resource.k8s.io/v1beta1`.

    Raises:
        ObjectError: kind or apiVersion is one that is read, but misspelt.
    """
    group = api_version.rpartition("/")[0]
    _refuse_misspelt(kind, api_version, group)
    if kind in GROUPS:
        return "" if group == GROUPS[kind] else f"{kind}.{group}"
    if key := kind_key(kind, group):
        return f"{kind} of {api_version}" if has_other_fields(key, api_version) else ""
    return unread_name(kind, group)


def _refuse_misspelt(kind: str, api_version: str, group: str) -> None:
    """Rule: the group of a custom resource has a dot; the groups without one have only kinds of Kubernetes."""
    is_custom = "." in group
    groups = [its_group for name, its_group in _API_VERSIONS if name == kind]
    if groups and group not in groups:
        near = [its_group for its_group in groups if not is_custom or did_you_mean(group, [its_group], _LIKENESS)]
        if near:
            raise ObjectError(f'apiVersion: found "{api_version}"; expected {_API_VERSIONS[kind, near[0]]}')
    if not groups:
        names = {name for name, its_group in _API_VERSIONS if not is_custom or its_group == group}
        if meant := did_you_mean(kind, names, _LIKENESS):
            raise ObjectError(f'kind: found "{kind}" in {api_version}; {meant}')


class ManifestMeta(ObjectMeta, frozen=True, gc=False):
    """metadata; a name may be left to be generated."""

    generate_name: str = ""


class NamedManifest(Value, frozen=True):
    """Any object, as far as its metadata goes."""

    metadata: ManifestMeta = ManifestMeta()


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
    strategy: UpdateStrategy | None = None
    update_strategy: UpdateStrategy | None = None
    pod_management_policy: str | None = None


class WorkloadManifest(Value, frozen=True):
    """A workload that has a pod template."""

    metadata: ManifestMeta = ManifestMeta()
    spec: WorkloadSpec = WorkloadSpec()


class ControllerSpec(Value, frozen=True):
    """The spec of a ReplicationController, whose selector is a plain map."""

    replicas: int | None = None
    selector: dict[str, str] | None = None
    template: PodTemplate = PodTemplate()

    @property
    def as_workload(self) -> WorkloadSpec:
        """The same with a LabelSelector, by default the labels of its template."""
        selector = LabelSelector(match_labels=self.selector or self.template.metadata.labels)
        return WorkloadSpec(replicas=self.replicas, selector=selector, template=self.template)


class ControllerManifest(Value, frozen=True):
    """A ReplicationController."""

    metadata: ManifestMeta = ManifestMeta()
    spec: ControllerSpec = ControllerSpec()


class JobTemplate(Value, frozen=True):
    """The job of a CronJob; its spec is read when it is admitted."""

    metadata: ObjectMeta = ObjectMeta()


class CronJobSpec(Value, frozen=True):
    """The spec of a CronJob."""

    job_template: JobTemplate = JobTemplate()
    suspend: bool | None = None


class CronJobManifest(Value, frozen=True):
    """A CronJob."""

    metadata: ManifestMeta = ManifestMeta()
    spec: CronJobSpec = CronJobSpec()
