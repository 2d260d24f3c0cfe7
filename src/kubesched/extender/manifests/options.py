"""The options of `kubesched extender manifests`."""

from collections.abc import Mapping
from typing import Final

import msgspec

from kubesched.config import ExtenderManagedResource

KUBE_SCHEDULER_IMAGE: Final = "registry.k8s.io/kube-scheduler:v1.36.3"
PLUGIN_FOLDER: Final = "/etc/kubesched"
"""Where an extender's container finds the files of its plugins."""
SIDECAR_PORT: Final = 8888
SERVICE_PORT: Final = 8443
HEALTH_PORT: Final = 8888


class ManifestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from one installation to the next.

    Attributes:
        image: has kubesched, and Python as `python3`.
        name: of the scheduler, its lease and most objects; cluster-wide objects have it too, so it is taken once.
        namespace: of everything that has one.
        creates_namespace: whether the namespace is among the documents.
        scheduler_names: profiles of the kube-scheduler; what pods write into spec.schedulerName.
        kube_scheduler_image: of the cluster's minor version, or one older.
        arguments: of `kubesched extender` that name plugins and their arguments, with paths as the container has them.
        files: what the plugins need, by the name that it has in PLUGIN_FOLDER.
        imports_files: whether some of them are modules that the plugins import.
        is_service: the extender by itself, behind a Service with TLS, instead of a sidecar of each scheduler.
        n_replicas: of the scheduler, and of an extender that does not bind.
        http_timeout: seconds that kube-scheduler waits.
        ignorable: whether pods are scheduled without the extender when it is down.
        tls_secret: of the extender's certificate: tls.crt, tls.key, ca.crt; for the name EXTENDER.NAMESPACE.svc.
        client_secret: of kube-scheduler's certificate: tls.crt, tls.key, ca.crt; empty asks for none.
        client_names: common names that are accepted; empty accepts every client certificate.
        managed_resources: kube-scheduler calls the extender only for pods that request one of them, if there are some.
    """

    image: str
    name: str = "kubesched"
    namespace: str = "kube-system"
    creates_namespace: bool = False
    scheduler_names: tuple[str, ...] = ("kubesched",)
    kube_scheduler_image: str = KUBE_SCHEDULER_IMAGE
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    imports_files: bool = False
    is_service: bool = False
    n_replicas: int = 1
    http_timeout: float = 5.0
    ignorable: bool = False
    tls_secret: str = ""
    client_secret: str = ""
    client_names: tuple[str, ...] = ()
    managed_resources: tuple[ExtenderManagedResource, ...] = ()

    @property
    def extender_name(self) -> str:
        """What belongs to the extender and not to its scheduler has this name."""
        return f"{self.name}-extender"

    @property
    def extender_account(self) -> str:
        """The ServiceAccount that the extender runs under: a pod has one, so a sidecar shares its scheduler's."""
        return self.extender_name if self.is_service else self.name

    def labels(self, component: str = "") -> dict[str, str]:
        """Labels of an object; those of a component select its pods."""
        labels = {"app.kubernetes.io/name": "kubesched", "app.kubernetes.io/instance": self.name}
        return labels | ({"app.kubernetes.io/component": component} if component else {})
