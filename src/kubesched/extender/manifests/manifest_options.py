"""The options of `kubesched extender manifests`."""

from typing import Final

from kubesched.config import ExtenderManagedResource
from kubesched.manifests import Installation
from kubesched.release import RECORDED_DEFAULT

KUBE_SCHEDULER_IMAGE: Final = f"registry.k8s.io/kube-scheduler:{RECORDED_DEFAULT}"
SIDECAR_PORT: Final = 8888
SERVICE_PORT: Final = 8443
HEALTH_PORT: Final = 8888


class ManifestOptions(Installation, frozen=True, kw_only=True):
    """What differs from one extender with its kube-scheduler to the next.

    Attributes:
        kube_scheduler_image: of the cluster's minor version, or one older.
        is_service: the extender by itself, behind a Service with TLS, instead of a sidecar of each scheduler.
        n_replicas: of the scheduler, and of an extender that does not bind.
        http_timeout: seconds that kube-scheduler waits.
        ignorable: whether pods are scheduled without the extender when it is down.
        tls_secret: of the extender's certificate: tls.crt, tls.key, ca.crt; for the name EXTENDER.NAMESPACE.svc.
        client_secret: of kube-scheduler's certificate: tls.crt, tls.key, ca.crt; empty asks for none.
        client_names: common names that are accepted; empty accepts every client certificate.
        managed_resources: kube-scheduler calls the extender only for pods that request one of them, if there are some.
    """

    kube_scheduler_image: str = KUBE_SCHEDULER_IMAGE
    is_service: bool = False
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
