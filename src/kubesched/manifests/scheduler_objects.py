"""Builds the objects that run a live scheduler in a cluster, as plain documents.

One Deployment, whose replicas elect a leader; accounts and roles for what it reads and writes; a ConfigMap with the
configuration and the plugins' files; a Service for Prometheus; a budget for disruptions.
"""

from typing import Final

from kubesched.documents import write_yaml
from kubesched.manifests.access import account, cluster_role, cluster_role_binding, role, role_binding
from kubesched.manifests.base_installation import PLUGIN_FOLDER, Document
from kubesched.manifests.deployments import checksum_of, config_map, namespace, service, workload
from kubesched.manifests.pods import config_map_volume, container, mount, pod_spec, python_environment
from kubesched.manifests.scheduler_access import cluster_grants, lease_grants
from kubesched.manifests.scheduler_installation import SchedulerInstallation

CONFIG_FILE: Final = "scheduler.yaml"
"""The KubeSchedulerConfiguration, next to the files of the plugins."""

_PORT: Final = 10259
_CONTROL_PLANE: Final = "node-role.kubernetes.io/control-plane"


def scheduler_manifests(installation: SchedulerInstallation) -> list[Document]:
    """Everything that a live scheduler needs, in the order in which to apply it.

    Raises:
        InputError: the installation conflicts with kube-scheduler, or its files do not fit into a ConfigMap.
    """
    installation.check()
    name, lease_namespace = installation.name, installation.lease_namespace
    files = {CONFIG_FILE: write_yaml(installation.configuration()), **installation.files}
    config = config_map(installation, name, files)
    lease_role = [
        role(installation, name, [grant.rule for grant in lease_grants(installation.lease_name)], lease_namespace),
        role_binding(installation, name, name, lease_namespace),
    ]
    return [
        *([namespace(installation)] if installation.creates_namespace else []),
        account(installation, name),
        cluster_role(
            installation, name, [grant.rule for grant in cluster_grants(installation.kinds, installation.plugin_grants)]
        ),
        cluster_role_binding(installation, name, name, name),
        *(lease_role if installation.elects_leader else []),
        config,
        service(installation, f"{name}-metrics", "scheduler", port=_PORT, target_port=_PORT),
        *workload(
            installation,
            name,
            "scheduler",
            _pod(installation),
            checksum_of([config]),
            is_alone=not installation.elects_leader,
        ),
    ]


def _pod(installation: SchedulerInstallation) -> Document:
    spec = pod_spec(installation.name, [_container(installation)], [config_map_volume("config", installation.name)])
    return {**spec, **_near_the_api_server()} if installation.replaces else spec


def _near_the_api_server() -> Document:
    """Where kube-scheduler was: on nodes of the control plane, if there are some."""
    term = {"matchExpressions": [{"key": _CONTROL_PLANE, "operator": "Exists"}]}
    return {
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "preference": term}]}
        },
        "tolerations": [{"key": _CONTROL_PLANE, "operator": "Exists", "effect": "NoSchedule"}],
    }


def _container(installation: SchedulerInstallation) -> Document:
    return container(
        "scheduler",
        installation.image,
        command=[
            "kubesched",
            "scheduler",
            "--in-cluster",
            f"--config={PLUGIN_FOLDER}/{CONFIG_FILE}",
            *(["--replace"] if installation.replaces else []),
            *installation.arguments,
            "--bind-address=0.0.0.0",
            f"--secure-port={_PORT}",
            "--log-json",
        ],
        ports=[{"name": "https", "containerPort": _PORT, "protocol": "TCP"}],
        mounts=[mount("config", PLUGIN_FOLDER)],
        probes=_probes(installation),
        resources={"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}},
        env=python_environment(installation),
    )


def _probes(installation: SchedulerInstallation) -> dict[str, Document]:
    """Rule: a replica that fills its cache only as the leader is not ready before, and a rollout would wait for it."""
    is_delayed = installation.configuration().get("delayCacheUntilActive")
    live, ready = _probe("/livez"), _probe("/livez" if is_delayed else "/readyz")
    return {
        "startupProbe": {**live, "periodSeconds": 2, "timeoutSeconds": 5, "failureThreshold": 60},
        "livenessProbe": {**live, "periodSeconds": 10, "timeoutSeconds": 15, "failureThreshold": 8},
        "readinessProbe": {**ready, "periodSeconds": 5, "timeoutSeconds": 15},
    }


def _probe(path: str) -> Document:
    return {"httpGet": {"path": path, "port": _PORT, "scheme": "HTTPS"}}
