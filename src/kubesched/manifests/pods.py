"""Pods and containers as documents: mounts, volumes, and settings that a restricted namespace accepts."""

from collections.abc import Mapping, Sequence
from typing import Final

from kubesched.manifests.base_installation import PLUGIN_FOLDER, Document, Installation

_NOBODY: Final = 65532


def pod_spec(
    account: str, containers: list[Document], volumes: list[Document], sidecars: Sequence[Document] = ()
) -> Document:
    """The pod of a component of the cluster, which runs as a user without rights on its node."""
    return {
        "serviceAccountName": account,
        "priorityClassName": "system-cluster-critical",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "fsGroup": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        **({"initContainers": list(sidecars)} if sidecars else {}),
        "containers": containers,
        "volumes": volumes,
    }


def container(
    name: str,
    image: str,
    *,
    command: list[str],
    ports: list[Document],
    mounts: list[Document],
    probes: Mapping[str, Document],
    resources: Document,
    env: Sequence[Document] = (),
) -> Document:
    """A container that may do nothing but run. Memory is limited, CPU is not: a throttled answer comes too late."""
    return {
        "name": name,
        "image": image,
        "command": command,
        **({"env": list(env)} if env else {}),
        "ports": ports,
        **probes,
        "resources": resources,
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }


def python_environment(installation: Installation) -> list[Document]:
    """Variables of a container with kubesched: no files of bytecode, and where the plugins' modules are."""
    return [
        {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
        *([{"name": "PYTHONPATH", "value": PLUGIN_FOLDER}] if installation.imports_files else []),
    ]


def mount(volume: str, path: str) -> Document:
    """A volume at a path of a container, read-only."""
    return {"name": volume, "mountPath": path, "readOnly": True}


def config_map_volume(name: str, config_map: str) -> Document:
    """All keys of a ConfigMap."""
    return {"name": name, "configMap": {"name": config_map}}


def secret_volume(name: str, secret: str, keys: Sequence[str]) -> Document:
    """Some keys of a secret: no container gets a private key that it does not use."""
    items = [{"key": key, "path": key} for key in keys]
    return {"name": name, "secret": {"secretName": secret, "items": items, "defaultMode": 0o440}}
