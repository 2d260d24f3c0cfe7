"""Reads a cluster from its API server: all kinds that a scheduler reads, in pages, one request at a time."""

from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Final

import msgspec

from kubesched.api import KINDS
from kubesched.cluster import ApiClient, list_path, list_raw
from kubesched.errors import ClusterError, NotFoundError
from kubesched.snapshot import ClusterObjects, ListedObjects

__all__ = ["Progress", "read_live_cluster"]

Progress = Callable[[int, int], None]  # kinds listed so far, kinds in all

_NEEDED: Final = ("Node", "Pod")
_FORBIDDEN: Final = 403


class _Resource(msgspec.Struct):
    name: str = ""


class _Resources(msgspec.Struct):
    """What an API server has of one API version, for everyone who may log in."""

    resources: tuple[_Resource, ...] = ()


async def read_live_cluster(
    client: ApiClient, into: ListedObjects, *, progress: Progress | None = None
) -> ClusterObjects:
    """List every kind that a scheduler reads. Finished pods are left out.

    Nodes and pods are needed. Another kind that this user may not list is left out, and a note says what is decided
    without it. A kind that the API server does not have is empty.

    Args:
        client: should have a rate limit.
        into: nothing has been added to it yet.
    Raises:
        ClusterError: the API server did not answer, or refused nodes or pods.
        ObjectError: a bad object, unless `into` leaves those out.
        InputError: a manifest cannot be read, or is not valid.
    """
    taken_at = datetime.fromtimestamp(int(client.timing.now()), UTC)
    refused: dict[str, str] = {}
    for n_listed, kind in enumerate(KINDS):
        if progress is not None:
            progress(n_listed, len(KINDS))
        label = f"{client.access.server}{list_path(kind)}"
        try:
            async with aclosing(list_raw(client, kind)) as pages:
                async for items in pages:
                    into.add(kind, items, label)
        except ClusterError as error:
            if kind in _NEEDED or not _is_refusal(error):
                raise
            if error.status == _FORBIDDEN and await _is_served(client, kind):
                refused[kind] = f"{error.status} {error.reason}"
    return into.finish(refused=refused, taken_at=taken_at)


async def _is_served(client: ApiClient, kind: str) -> bool:
    """Whether the API server has a kind that it does not list: it refuses, too, what it does not have."""
    if not KINDS[kind].is_optional:
        return True
    version, _, plural = list_path(kind).rpartition("/")
    try:
        served = await client.request("GET", version, type=_Resources)
    except NotFoundError:
        return False
    except ClusterError:
        return True
    return any(resource.name == plural for resource in served.resources)


def _is_refusal(error: ClusterError) -> bool:
    """Whether only this kind is affected."""
    return error.status == _FORBIDDEN or isinstance(error, NotFoundError)
