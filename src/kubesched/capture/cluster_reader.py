"""Reads a cluster from its API server: all kinds that a scheduler and its plugins read, page by page."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Final

from kubesched.api import AUTOSCALER_STATUS, KINDS, Kind, Unstructured, has_other_fields, kind_named
from kubesched.cluster import (
    ApiClient,
    find_served,
    in_other_version,
    is_served,
    list_path,
    list_raw,
    server_version,
    versions_of,
)
from kubesched.documents import joined
from kubesched.errors import ClusterError, NotFoundError
from kubesched.snapshot import ClusterObjects, ListedObjects

Progress = Callable[[int, int], None]  # kinds listed so far, kinds in all

_NEEDED: Final = ("Node", "Pod")
_FORBIDDEN: Final = 403
_PATIENCE_SECONDS = 10.0  # for each answer about a kind that plugins do without
_NO_ANSWER: Final = "no answer within {:g} s"


async def read_live_cluster(
    client: ApiClient, into: ListedObjects, *, progress: Progress | None = None
) -> ClusterObjects:
    """List every kind that a scheduler reads, and those that plugins read. Finished pods are left out.

    Nodes and pods are needed. Another kind that this user may not list is left out, and a note says what is decided
    without it, and so is one that plugins do without, where the server gives no answer about it within ten seconds, and
    one that the server has only in a version with other fields. A kind that it does not have is empty.

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
    for n_listed, kind in enumerate(into.kinds):
        if progress is not None:
            progress(n_listed, len(into.kinds))
        try:
            await _list_in_any_version(client, kind, into)
        except TimeoutError:
            refused[kind.key] = _NO_ANSWER.format(_PATIENCE_SECONDS)
        except ClusterError as error:
            if kind.type is Unstructured:
                refused[kind.key] = _reason(error)
                continue
            if kind.key in _NEEDED or not _is_refusal(error):
                raise
            if error.status == _FORBIDDEN and await is_served(client, kind):
                refused[kind.key] = _reason(error)
            elif error.status != _FORBIDDEN and (older := await _older_versions(client, kind)):
                refused[kind.key] = f"the API server has {joined(older)}, not {kind.version}"
    notes = await _list_autoscaler_status(client, into)
    version = await server_version(client)
    return into.finish(refused=refused, taken_at=taken_at, server_version=version, notes=notes)


async def _list_in_any_version(client: ApiClient, kind: Kind, into: ListedObjects) -> None:
    """Raises TimeoutError as `_list` does."""
    try:
        await _list(client, kind, into)
    except NotFoundError:
        other = await in_other_version(client, kind)
        if other is None:
            raise
        await _list(client, other, into)


async def _older_versions(client: ApiClient, kind: Kind) -> list[str]:
    """The versions in which an API server has a kind with other fields; none where it does not have the kind."""
    if not has_other_fields(kind.key, ""):
        return []
    versions = await versions_of(client, kind.group)
    return [] if kind.version in versions else versions


async def _list_autoscaler_status(client: ApiClient, into: ListedObjects) -> tuple[str, ...]:
    """Read the one ConfigMap of cluster-autoscaler, unless plugins read all. Returns: a note, if that fails."""
    kind = kind_named("v1/ConfigMap")
    if any(one.key == kind.key for one in into.kinds):
        return ()
    try:
        async with (
            asyncio.timeout(_PATIENCE_SECONDS),
            aclosing(list_raw(client, kind, name=AUTOSCALER_STATUS)) as pages,
        ):
            async for items in pages:
                into.add(kind, items, f"{client.access.server}{list_path(kind)}", client.timing.now())
    except NotFoundError:
        return ()
    except TimeoutError:
        why = _NO_ANSWER.format(_PATIENCE_SECONDS)
    except ClusterError as error:
        why = _reason(error)
    else:
        return ()
    return (f"ConfigMap {AUTOSCALER_STATUS} cannot be read ({why}): which node groups may grow is not known",)


def _reason(error: ClusterError) -> str:
    return f"{error.status} {error.reason}" if error.status >= 300 else "no usable answer"


async def _list(client: ApiClient, kind: Kind, into: ListedObjects) -> None:
    """Raises TimeoutError where plugins do without the kind and the server lets them wait."""
    now = asyncio.get_running_loop().time
    async with asyncio.timeout(_PATIENCE_SECONDS if kind.is_dispensable else None) as patience:
        if kind.type is Unstructured:
            kind = (await find_served(client, kind)).kind
        label = f"{client.access.server}{list_path(kind)}"
        async with aclosing(list_raw(client, kind.key if KINDS.get(kind.key) is kind else kind)) as pages:
            async for items in pages:
                into.add(kind, items, label, client.timing.now())
                if kind.is_dispensable:
                    patience.reschedule(now() + _PATIENCE_SECONDS)


def _is_refusal(error: ClusterError) -> bool:
    """Whether only this kind is affected."""
    return error.status == _FORBIDDEN or isinstance(error, NotFoundError)
