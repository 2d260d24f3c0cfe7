"""One installation of a live scheduler: beside kube-scheduler or in its place."""

from typing import Any, Final

from kubesched.api import WATCHED_KINDS
from kubesched.config import KUBE_SCHEDULER_LEASE
from kubesched.errors import InputError
from kubesched.manifests.base_installation import Document, Installation

_DEFAULT_PROFILE: Final = "default-scheduler"


class SchedulerInstallation(Installation, frozen=True, kw_only=True):
    """What differs from one live scheduler to the next.

    Attributes:
        n_replicas: one schedules, the others wait for the Lease.
        given: the fields of the user's KubeSchedulerConfiguration; without profiles, there is a default one for each of
            `scheduler_names`.
        kinds: what it watches.
        readers: the names of the plugins that read a kind, by its key.
        replaces: whether it is the only scheduler: it then serves default-scheduler and takes kube-scheduler's Lease.
    """

    n_replicas: int = 2
    given: Document = {}
    kinds: tuple[str, ...] = WATCHED_KINDS
    readers: dict[str, tuple[str, ...]] = {}
    replaces: bool = False

    def configuration(self) -> Document:
        """The KubeSchedulerConfiguration as plain values; it names the Lease."""
        namespace, name = KUBE_SCHEDULER_LEASE if self.replaces else (self.namespace, self.name)
        defaults = {"leaderElect": True, "resourceName": name, "resourceNamespace": namespace}
        return {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"schedulerName": name} for name in self.scheduler_names],
            **self.given,
            "leaderElection": {**defaults, **_without_nothing(self.given.get("leaderElection"))},
        }

    @property
    def elects_leader(self) -> bool:
        """Whether only the holder of the Lease schedules."""
        return bool(self._election["leaderElect"])

    @property
    def lease_name(self) -> str:
        """The name of the Lease."""
        return str(self._election["resourceName"])

    @property
    def lease_namespace(self) -> str:
        """The namespace of the Lease."""
        return str(self._election["resourceNamespace"])

    @property
    def _election(self) -> dict[str, Any]:
        election: dict[str, Any] = self.configuration()["leaderElection"]
        return election

    def check(self) -> None:
        """Check that it does not conflict with kube-scheduler.

        Raises:
            InputError: it does.
        """
        serves_default = _DEFAULT_PROFILE in self.scheduler_names
        if serves_default and not self.replaces:
            raise InputError(
                f'schedulerName "{_DEFAULT_PROFILE}" belongs to the cluster\'s own kube-scheduler, and two schedulers '
                "must not serve the same pods; choose another name, or give --replace to replace kube-scheduler"
            )
        if self.replaces and not serves_default:
            raise InputError(
                f'--replace needs a profile "{_DEFAULT_PROFILE}", which serves pods without a schedulerName; found '
                f"only {', '.join(self.scheduler_names)}"
            )
        lease = (self.lease_namespace, self.lease_name)
        if self.elects_leader and lease == KUBE_SCHEDULER_LEASE and not self.replaces:
            raise InputError(
                "leaderElection.resourceName is kube-scheduler: while kube-scheduler runs, this scheduler would wait "
                "for its Lease; choose another name, or give --replace to replace kube-scheduler"
            )
        if not self.elects_leader and self.n_replicas > 1:
            raise InputError(
                f"leaderElection.leaderElect is false, and {self.n_replicas} replicas would all schedule; remove this "
                "field, or give --replicas 1"
            )


def _without_nothing(fields: dict[str, Any] | None) -> dict[str, Any]:
    """Fields that have a value: an empty one in a configuration stands for the default."""
    return {name: value for name, value in (fields or {}).items() if value not in (None, "")}
