"""URLs of objects, by kind."""

from typing import Final
from urllib.parse import quote

from kubesched.api import KINDS, Kind

FIELD_SELECTORS: Final = {"Pod": "status.phase!=Succeeded,status.phase!=Failed"}
"""What a scheduler watches of a kind, where it is not everything: pods that are over take no room."""


def list_path(kind: str | Kind, namespace: str = "") -> str:
    """The path of all objects of a kind in KINDS, or of one that a server told of; or of those in one namespace."""
    known = KINDS[kind] if isinstance(kind, str) else kind
    within = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{version_path(known)}{within}/{known.plural}"


def object_path(kind: str, namespace: str, name: str, subresource: str = "") -> str:
    """The path of one object, or of a part of it such as `binding`; the namespace counts for namespaced kinds only."""
    path = f"{list_path(kind, namespace if KINDS[kind].namespaced else '')}/{quote(name, safe='')}"
    return f"{path}/{subresource}" if subresource else path


def version_path(kind: Kind) -> str:
    """The path of the API version of a kind."""
    return f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
