"""What one installation in a cluster chooses: names, image, files, replicas."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

Document = dict[str, Any]
"""A Kubernetes object, or a part of one, as plain values."""

PLUGIN_FOLDER: Final = "/etc/kubesched"
"""Where a container has the files of its plugins."""


class Grant(msgspec.Struct, frozen=True):
    """A rule of a role, and why it is needed."""

    rule: Document
    why: str


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from one installation to the next, whatever is installed.

    Attributes:
        image: has kubesched, and Python as `python3`.
        name: of the scheduler and most objects; cluster-wide objects have it too, so two installations need two names.
        namespace: of everything that has one.
        creates_namespace: whether the namespace is among the documents.
        scheduler_names: what pods write into spec.schedulerName.
        arguments: of the command that name plugins and their arguments, with paths as the container has them.
        files: what the plugins need, by the name that it has in PLUGIN_FOLDER.
        imports_files: whether some of them are modules that the plugins import.
        n_replicas: of the scheduler.
        plugin_grants: what the plugins may do with `handle.client`.
    """

    image: str
    name: str = "kubesched"
    namespace: str = "kube-system"
    creates_namespace: bool = False
    scheduler_names: tuple[str, ...] = ("kubesched",)
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = {}
    imports_files: bool = False
    n_replicas: int = 1
    plugin_grants: tuple[Grant, ...] = ()

    def labels(self, component: str = "") -> dict[str, str]:
        """Labels of an object; those of a component select its pods."""
        labels = {"app.kubernetes.io/name": "kubesched", "app.kubernetes.io/instance": self.name}
        return labels | ({"app.kubernetes.io/component": component} if component else {})

    def metadata(self, name: str, *, namespace: str | None = None, component: str = "") -> Document:
        """The metadata of an object.

        Args:
            namespace: "" for a cluster-wide object; None for the namespace of the installation.
        """
        place = self.namespace if namespace is None else namespace
        return {"name": name, **({"namespace": place} if place else {}), "labels": self.labels(component)}
