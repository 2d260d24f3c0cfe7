"""Builds the objects that run an extender with a separate kube-scheduler, as plain documents.

In one form the extender is a sidecar: kube-scheduler reaches it on 127.0.0.1, every scheduler has its own, and leader
election leaves one of them at work. In the other it is a Deployment and a Service with TLS. `access.py` has the
permissions, `pods.py` the pods.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kubesched.documents import write_yaml
from kubesched.errors import InputError
from kubesched.extender.manifests.access import access
from kubesched.extender.manifests.options import SERVICE_PORT, SIDECAR_PORT, ManifestOptions
from kubesched.extender.manifests.pods import CONFIG_KEY, SCHEDULER_CA, SCHEDULER_CERT, SCHEDULER_KEY, pod_specs
from kubesched.extender.server import Offer

Document = dict[str, Any]

_OF_THE_CLUSTER: Final = "default-scheduler"
_LARGEST_CONFIG_MAP: Final = 900_000  # an API server takes 1 MiB with everything around it


def manifests(options: ManifestOptions, offer: Offer, kinds: Sequence[str]) -> list[Document]:
    """Everything that an extender and its kube-scheduler need, in the order in which to apply it.

    Args:
        offer: what the plugins take part in; roles, stanza and replicas follow it.
        kinds: what the plugins read.
    Raises:
        InputError: the options do not go together.
    """
    _check(options, offer)
    config_maps = [_config_map(options, options.name, {CONFIG_KEY: scheduler_configuration(options, offer)})]
    if options.files:
        config_maps.append(_config_map(options, options.extender_name, options.files))
    checksum = hashlib.sha256(repr([config_map["data"] for config_map in config_maps]).encode()).hexdigest()[:16]
    workloads = []
    for component, spec in pod_specs(options, offer).items():
        workloads += _workload(options, component, spec, checksum, is_alone=_is_alone(options, offer, component))
    return [
        *([_namespace(options)] if options.creates_namespace else []),
        *access(options, offer, kinds),
        *config_maps,
        *([_service(options)] if options.is_service else []),
        *workloads,
    ]


def scheduler_configuration(options: ManifestOptions, offer: Offer) -> str:
    """The KubeSchedulerConfiguration of the kube-scheduler that calls the extender, as YAML."""
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {
            "leaderElect": True,
            "resourceName": options.name,
            "resourceNamespace": options.namespace,
        },
        **({"percentageOfNodesToScore": 100} if offer.filter else {}),  # else a filter sees only a sample
        "profiles": [{"schedulerName": name} for name in options.scheduler_names],
    }
    return write_yaml(configuration) + offer.stanza(
        _url(options),
        node_cache_capable=True,
        http_timeout=options.http_timeout,
        ignorable=options.ignorable,
        tls=_tls(options) if options.is_service else None,
        managed_resources=options.managed_resources,
    )


def _url(options: ManifestOptions) -> str:
    if options.is_service:
        return f"https://{options.extender_name}.{options.namespace}.svc"
    return f"http://127.0.0.1:{SIDECAR_PORT}"


def _tls(options: ManifestOptions) -> dict[str, str]:
    tls_config = {"caFile": SCHEDULER_CA}
    if options.client_secret:
        tls_config |= {"certFile": SCHEDULER_CERT, "keyFile": SCHEDULER_KEY}
    return tls_config


def _check(options: ManifestOptions, offer: Offer) -> None:
    if _OF_THE_CLUSTER in options.scheduler_names:
        raise InputError(
            f'schedulerName "{_OF_THE_CLUSTER}" belongs to the cluster\'s own kube-scheduler, and two schedulers must '
            "not serve the same pods; give another with --scheduler-name"
        )
    if options.is_service and offer.bind and not options.client_secret:
        raise InputError(
            "the extender binds pods, and as a Service without client certificates it would do so for every "
            "client that can "
            "reach it; give --client-secret, or omit --service and run it as a sidecar"
        )
    if options.client_names and not options.client_secret:
        raise InputError("--client-cn needs --client-secret, whose ca.crt signs the names")
    if options.client_secret and not options.is_service:
        raise InputError("client certificates need --service; a sidecar listens only on 127.0.0.1")
    if sum(len(text.encode()) for text in options.files.values()) > _LARGEST_CONFIG_MAP:
        raise InputError("the files of the plugins are larger than a ConfigMap may be; put them into the image")


# --- the documents ---


def _config_map(options: ManifestOptions, name: str, data: Mapping[str, str]) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": options.namespace, "labels": options.labels()},
        "data": dict(data),
    }


def _namespace(options: ManifestOptions) -> Document:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": options.namespace, "labels": labels}}


def _service(options: ManifestOptions) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(options, "extender"),
        "spec": {
            "selector": options.labels("extender"),
            "ports": [{"name": "https", "port": 443, "targetPort": SERVICE_PORT, "protocol": "TCP"}],
        },
    }


def _workload(
    options: ManifestOptions, component: str, spec: Document, checksum: str, *, is_alone: bool
) -> list[Document]:
    """A Deployment, and a budget for its disruptions where it has more than one replica."""
    metadata, labels = _metadata(options, component), options.labels(component)
    n_replicas = 1 if is_alone else options.n_replicas
    if n_replicas > 1:
        spec = {**spec, "topologySpreadConstraints": [_spread(labels)]}
    template = {"metadata": {"labels": labels, "annotations": {"checksum/config": checksum}}, "spec": spec}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            "replicas": n_replicas,
            "selector": {"matchLabels": labels},
            "strategy": {"type": "Recreate" if is_alone else "RollingUpdate"},
            "template": template,
        },
    }
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}},
    }
    return [deployment, budget] if n_replicas > 1 else [deployment]


def _is_alone(options: ManifestOptions, offer: Offer, component: str) -> bool:
    """Whether two pods must never run side by side: behind a Service each would count only what it bound itself."""
    return options.is_service and offer.bind and component == "extender"


def _spread(labels: Mapping[str, str]) -> Document:
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(labels)},
    }


def _metadata(options: ManifestOptions, component: str) -> Document:
    name = options.extender_name if component == "extender" else options.name
    return {"name": name, "namespace": options.namespace, "labels": options.labels(component)}
