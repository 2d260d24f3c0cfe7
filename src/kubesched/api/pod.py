"""Pods: their wire fields, and short names for common questions."""

from typing import Any, Final

from kubesched.api.meta import KubeObject, condition_status
from kubesched.api.pod_fields import Container, PodSpec, PodStatus, Toleration, Volume
from kubesched.api.pod_requests import PodRequests

_DEFAULT_SCHEDULER: Final = "default-scheduler"


class Pod(KubeObject, frozen=True):
    """A pod. `spec` and `status` hold the wire fields; the properties are short names that never give None.

    Example:
        pod, _ = read_pod("pod.yaml")
        assert pod.key == "default/new" and pod.spec.node_selector is None and pod.node_selector == {}
    """

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def document(self) -> dict[str, Any]:
        """As KubeObject.document, with a spec even where the source has none."""
        return {"spec": {}, **super().document}

    @property
    def node_name(self) -> str:
        """spec.nodeName: where the pod runs; empty while it waits for a node."""
        return self.spec.node_name

    @property
    def scheduler_name(self) -> str:
        """spec.schedulerName, `default-scheduler` when absent."""
        return self.spec.scheduler_name or _DEFAULT_SCHEDULER

    @property
    def priority(self) -> int:
        """spec.priority, 0 when absent."""
        return self.spec.priority or 0

    @property
    def requests(self) -> dict[str, int]:
        """What the pod requests of a node, by resource name: milli-CPU, bytes, counts. Read only.

        It is the effective request, as NodeResourcesFit uses it: containers, init containers, sidecars, spec.resources
        and overhead. A resource that the pod does not request is absent.
        """
        known = self.__dict__.get("requests_found")
        if known is None:
            known = self.__dict__["requests_found"] = PodRequests(self).wanted
        return known

    @property
    def containers(self) -> tuple[Container, ...]:
        """spec.containers."""
        return self.spec.containers or ()

    @property
    def init_containers(self) -> tuple[Container, ...]:
        """spec.initContainers, sidecars among them."""
        return self.spec.init_containers or ()

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """spec.tolerations."""
        return self.spec.tolerations or ()

    @property
    def volumes(self) -> tuple[Volume, ...]:
        """spec.volumes."""
        return self.spec.volumes or ()

    @property
    def claim_names(self) -> list[str]:
        """The names of the claims that its volumes are, those of generic ephemeral volumes among them."""
        names = []
        for volume in self.volumes:
            if volume.persistent_volume_claim is not None:
                names.append(volume.persistent_volume_claim.claim_name)
            elif volume.ephemeral is not None:
                names.append(f"{self.name}-{volume.name}")
        return names

    @property
    def node_selector(self) -> dict[str, str]:
        """spec.nodeSelector."""
        return self.spec.node_selector or {}

    def condition(self, type: str) -> str:
        """The status of a condition, such as `True`; empty without the condition."""
        return condition_status(self.status.conditions, type)

    @property
    def is_finished(self) -> bool:
        """Whether the pod has ended (Succeeded or Failed) and takes no room any more."""
        return self.status.phase in ("Succeeded", "Failed")
