"""Deployments with what goes with them, as documents: namespace, ConfigMaps, Service, budget for disruptions."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from kubesched.api import HOSTNAME
from kubesched.errors import InputError
from kubesched.manifests.base_installation import Document, Installation

_LARGEST_CONFIG_MAP: Final = 900_000  # an API server takes 1 MiB with everything around it


def namespace(installation: Installation) -> Document:
    """The namespace of the installation, which accepts only pods without rights on their node."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": installation.namespace, "labels": labels}}


def config_map(installation: Installation, name: str, data: Mapping[str, str]) -> Document:
    """Files in a ConfigMap.

    Raises:
        InputError: they are too large for one.
    """
    if sum(len(text.encode()) for text in data.values()) > _LARGEST_CONFIG_MAP:
        raise InputError("the files of the plugins are larger than a ConfigMap may be; put them into the image")
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": installation.metadata(name), "data": dict(data)}


def checksum_of(config_maps: Sequence[Document]) -> str:
    """A text that changes with the files. As an annotation of pods, it replaces them when the files change."""
    return hashlib.sha256(repr([one["data"] for one in config_maps]).encode()).hexdigest()[:16]


def service(installation: Installation, name: str, component: str, *, port: int, target_port: int) -> Document:
    """A Service in front of the pods of a component, with one port for HTTPS."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": installation.metadata(name, component=component),
        "spec": {
            "selector": installation.labels(component),
            "ports": [{"name": "https", "port": port, "targetPort": target_port, "protocol": "TCP"}],
        },
    }


def workload(
    installation: Installation, name: str, component: str, spec: Document, checksum: str, *, is_alone: bool
) -> list[Document]:
    """A Deployment, and a budget for its disruptions where it has more than one replica.

    Args:
        is_alone: two of its pods must never run at the same time.
    """
    metadata, labels = installation.metadata(name, component=component), installation.labels(component)
    n_replicas = 1 if is_alone else installation.n_replicas
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


def _spread(labels: Mapping[str, str]) -> Document:
    return {
        "maxSkew": 1,
        "topologyKey": HOSTNAME,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": dict(labels)},
    }
