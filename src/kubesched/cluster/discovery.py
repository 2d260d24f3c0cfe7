"""Asks an API server where it has a kind, and whether the kind can be watched."""

import msgspec

from kubesched.api import Kind, plural_of
from kubesched.cluster.api_client import ApiClient
from kubesched.cluster.resources import version_path
from kubesched.errors import ClusterError, NotFoundError


class ServedKind(msgspec.Struct, frozen=True):
    """A kind as an API server has it.

    Attributes:
        kind: with its name and plural.
        is_watchable: whether the server tells changes; else the kind has to be listed repeatedly.
    """

    kind: Kind
    is_watchable: bool


class _Resource(msgspec.Struct):
    name: str = ""
    kind: str = ""
    namespaced: bool = False
    verbs: tuple[str, ...] = ()


class _Resources(msgspec.Struct):
    """What an API server has of one API version, for everyone who may log in."""

    resources: tuple[_Resource, ...] = ()


async def find_served(client: ApiClient, kind: Kind) -> ServedKind:
    """Find a kind by its name, or by its plural where it has no name.

    Raises:
        NotFoundError: the server has no such kind, or one that cannot be listed.
        ClusterError: the server refused, or did not answer.
    """
    path = version_path(kind)
    found = await client.request("GET", path, type=_Resources)
    for one in found.resources:
        if "/" not in one.name and (one.kind == kind.name if kind.name else one.name == kind.plural):
            return _served(kind, one, f"GET {client.access.server}{path}")
    missing = f"the API server has no {kind.name or kind.plural} in {kind.api_version}"
    raise NotFoundError(f"GET {client.access.server}{path}: {missing}", status=404, reason="NotFound")


async def is_served(client: ApiClient, kind: Kind) -> bool:
    """Whether the API server has a kind that it does not list: it refuses, too, what it does not have."""
    if not kind.is_optional:
        return True
    try:
        await find_served(client, kind)
    except NotFoundError:
        return False
    except ClusterError:
        return True
    return True


async def in_other_version(client: ApiClient, kind: Kind) -> Kind | None:
    """A kind in the first of its other versions that an API server has; None where it has none of them."""
    versions = await versions_of(client, kind.group) if kind.other_versions else []
    other = next((one for one in kind.other_versions if one in versions), "")
    return msgspec.structs.replace(kind, version=other) if other else None


class _Version(msgspec.Struct):
    version: str = ""


class _Group(msgspec.Struct):
    """What an API server has of one API group."""

    versions: tuple[_Version, ...] = ()


async def versions_of(client: ApiClient, group: str) -> list[str]:
    """The versions of a group that an API server has; none where it does not have the group, or does not answer."""
    try:
        found = await client.request("GET", f"/apis/{group}", type=_Group)
    except ClusterError:
        return []
    return [one.version for one in found.versions]


def _served(kind: Kind, found: _Resource, label: str) -> ServedKind:
    if "list" not in found.verbs:
        text = f"{label}: {found.kind} of {kind.api_version} cannot be listed"
        raise NotFoundError(text, status=404, reason="NotFound")
    if not kind.name and plural_of(found.kind, kind.group) != kind.plural:
        advice = f"write {kind.api_version}/{found.kind}, because this plural does not show the kind"
        raise ClusterError(f"{label}: {kind.plural}: {advice}", status=404, reason="NotFound")
    named = msgspec.structs.replace(kind, name=found.kind, plural=found.name, namespaced=found.namespaced)
    return ServedKind(named, "watch" in found.verbs)
