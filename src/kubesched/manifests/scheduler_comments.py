"""Explains the fields of a live scheduler's manifests: a comment for each that is not evident from its name."""

from collections.abc import Sequence
from typing import Final

from kubesched.documents import write_yaml
from kubesched.manifests.base_installation import Document, Grant
from kubesched.manifests.scheduler_access import cluster_grants, lease_grants
from kubesched.manifests.scheduler_installation import SchedulerInstallation

_POD: Final = "spec.template.spec"
_CONTAINER: Final = f"{_POD}.containers[0]"
_CONTROL_PLANE: Final = "Where kube-scheduler was: on nodes of the control plane, if there are some."
_COMMENTS: Final = {
    "Namespace": {"metadata.labels": "Accept only pods that are restricted as those of this Deployment."},
    "ServiceAccount": {"apiVersion": "The identity under which the scheduler calls the API server."},
    "ClusterRole": {
        "apiVersion": "What the scheduler reads and writes, and no more. docs/guides/permissions.md has what fails "
        "without each rule."
    },
    "ClusterRoleBinding": {"apiVersion": "The account gets this role in the whole cluster."},
    "Role": {"apiVersion": "Leader election, in the namespace of the Lease."},
    "RoleBinding": {"apiVersion": "The account gets this role in the namespace of the Lease."},
    "ConfigMap": {
        "apiVersion": "The KubeSchedulerConfiguration, in kube-scheduler's format, and the files of plugins."
    },
    "Service": {
        "apiVersion": "For Prometheus: https on /metrics and /metrics/resources. It sends a bearer token of an account "
        "that may get these paths (nonResourceURLs)."
    },
    "Deployment": {
        "spec.replicas": "One replica schedules; the others have a filled cache and wait for the Lease.",
        "spec.strategy.type": "RollingUpdate: a new replica starts before an old one ends. Recreate: without leader "
        "election, two replicas must not run at the same time.",
        "spec.template.metadata.annotations": "Changes with the ConfigMap, so that the pods are replaced then.",
        f"{_POD}.affinity": _CONTROL_PLANE,
        f"{_POD}.tolerations": _CONTROL_PLANE,
        f"{_POD}.priorityClassName": "Pods of users cannot preempt the scheduler, and kubelets evict it late.",
        f"{_POD}.securityContext": "Not root, and only the usual system calls; the namespace may be restricted.",
        f"{_POD}.topologySpreadConstraints": "Replicas on different nodes, if there are several.",
        f"{_CONTAINER}.image": "Has kubesched; the tag should be a version, not latest.",
        f"{_CONTAINER}.command[2]": "Use the service account, not a kubeconfig.",
        f"{_CONTAINER}.env": "The file system is read-only: write no bytecode. PYTHONPATH: the plugins' modules.",
        f"{_CONTAINER}.ports": "HTTPS with a self-signed certificate in memory, for probes and Prometheus.",
        f"{_CONTAINER}.startupProbe": "Up to two minutes to load plugins.",
        f"{_CONTAINER}.livenessProbe": "Answers also while a plugin computes; needs no rights.",
        f"{_CONTAINER}.readinessProbe": "Ready when everything that exists is known.",
        f"{_CONTAINER}.resources": "Memory is limited, CPU is not: a throttled scheduler loses its Lease. Raise the "
        "memory for thousands of nodes.",
        f"{_CONTAINER}.securityContext": "No capabilities, no new privileges, nothing to write to.",
        f"{_CONTAINER}.volumeMounts": "The configuration and the files of plugins, read-only.",
    },
    "PodDisruptionBudget": {"spec.maxUnavailable": "A drain of nodes leaves one replica running."},
}
"""Comment by kind and path; a path that a document does not have is left out."""


def write_commented(documents: Sequence[Document], installation: SchedulerInstallation) -> str:
    """The documents as YAML, each field explained in a comment."""
    served = " or ".join(installation.scheduler_names)
    what = ", and every pod without a schedulerName" if installation.replaces else ""
    lines = [f"# kubesched schedules pods with spec.schedulerName: {served}{what}.\n"]
    rules = {
        "ClusterRole": cluster_grants(installation.kinds, installation.plugin_grants, installation.readers),
        "Role": lease_grants(installation.lease_name),
    }
    texts = []
    for document in documents:
        kind = document["kind"]
        comments = {**_COMMENTS[kind], **_reasons(rules.get(kind, ()))}
        texts.append(write_yaml(document, comments))
    return "".join(lines) + "---\n".join(texts)


def _reasons(grants: Sequence[Grant]) -> dict[str, str]:
    return {f"rules[{row}]": grant.why for row, grant in enumerate(grants)}
