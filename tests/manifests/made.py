"""The documents of one installation of a live scheduler, by kind."""

from typing import Any

from kubesched.manifests import SchedulerInstallation, scheduler_manifests

API_VERSIONS = {
    "ServiceAccount": "v1",
    "ConfigMap": "v1",
    "Service": "v1",
    "Namespace": "v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "Role": "rbac.authorization.k8s.io/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "Deployment": "apps/v1",
    "PodDisruptionBudget": "policy/v1",
}
CLUSTER_WIDE = {"Namespace", "ClusterRole", "ClusterRoleBinding"}


class Made:
    """Documents; there is one of each kind."""

    def __init__(self, **options: Any) -> None:
        self.installation = SchedulerInstallation(**{"image": "kubesched:1", **options})
        self.documents = scheduler_manifests(self.installation)
        self._by_kind = {document["kind"]: document for document in self.documents}
        assert len(self._by_kind) == len(self.documents)

    def __contains__(self, kind: str) -> bool:
        return kind in self._by_kind

    def __getitem__(self, kind: str) -> dict[str, Any]:
        return self._by_kind[kind]

    @property
    def pod(self) -> dict[str, Any]:
        return self["Deployment"]["spec"]["template"]["spec"]

    @property
    def container(self) -> dict[str, Any]:
        (container,) = self.pod["containers"]
        return container

    @property
    def election(self) -> dict[str, Any]:
        return self.installation.configuration()["leaderElection"]


def check_version_and_place(document: dict[str, Any]) -> None:
    """Assert that a document of any installation has the version of its kind, and a namespace if it needs one."""
    assert document["apiVersion"] == API_VERSIONS[document["kind"]]
    assert ("namespace" in document["metadata"]) is (document["kind"] not in CLUSTER_WIDE)


REPLACING = {"replaces": True, "scheduler_names": ("default-scheduler",)}
ALONE = {"given": {"leaderElection": {"leaderElect": False}}, "n_replicas": 1}
EVERY_FORM = {
    "second": {},
    "replacing": REPLACING,
    "in a namespace": {"name": "gpu", "namespace": "team", "creates_namespace": True, "files": {"a.py": "x = 1\n"}},
    "replacing from a namespace": {"namespace": "team", **REPLACING},
    "without election": ALONE,
}
"""Options by what they are for."""
