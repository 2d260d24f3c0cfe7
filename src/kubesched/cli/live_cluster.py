"""Where a command reads the cluster: files, or the API server of a kubeconfig context."""

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from kubesched.cli.completion import complete_files
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import not_empty, option_group

if TYPE_CHECKING:
    from kubesched.cluster import Access
    from kubesched.snapshot import ClusterObjects

_REQUESTS_PER_SECOND: Final = 20.0


class LiveSource(NamedTuple):
    """--kubeconfig and --context; empty where they are not given."""

    kubeconfig: str = ""
    context: str = ""


live_source_options: Final = option_group(
    click.option(
        "--kubeconfig",
        metavar="FILE",
        callback=not_empty,
        shell_complete=complete_files,
        help="The cluster to read if there is no SNAPSHOT.  [default: as kubectl; in a pod, its service account]",
    ),
    click.option(
        "--context",
        metavar="NAME",
        callback=not_empty,
        help="Context in the kubeconfig, if there is no SNAPSHOT.  [default: the current one]",
    ),
)
"""--kubeconfig and --context."""


def read_live(
    source: LiveSource,
    manifests: Sequence[str] = (),
    *,
    kinds: Collection[str] = (),
    skip_bad_objects: bool = False,
    on_wait: Callable[[str], None] | None = None,
) -> "tuple[ClusterObjects, Access]":
    """Read the cluster of a kubeconfig context, or of the pod that this process runs in.

    Args:
        kinds: what plugins read, as in `reads`, in addition to what a scheduler reads.
        on_wait: as for `ApiClient`.
    Raises:
        InputError: there is no kubeconfig, or it or a manifest is not valid.
        ClusterError: the API server did not answer, or this user may not list nodes or pods.
    """
    import asyncio

    from kubesched.capture import read_live_cluster
    from kubesched.cluster import ApiClient
    from kubesched.signals import leaving_on_sigterm
    from kubesched.snapshot import ListedObjects

    access = _find_access(source)
    listed = ListedObjects(manifests=manifests, kinds=kinds, skip_bad_objects=skip_bad_objects)

    async def read() -> "ClusterObjects":
        qps = _REQUESTS_PER_SECOND
        async with ApiClient(access, pool_size=1, qps=qps, burst=int(qps), on_wait=on_wait) as client:
            with progress_bar("reading") as progress:
                return await read_live_cluster(client, listed, progress=progress)

    with leaving_on_sigterm():  # a plugin of the kubeconfig may run
        return asyncio.run(read()), access


def _find_access(source: LiveSource) -> "Access":
    from kubesched.cluster import find_access
    from kubesched.errors import ConfigError

    try:
        return find_access(source.kubeconfig or None, source.context)
    except ConfigError as error:
        if source.kubeconfig or source.context:
            raise
        raise ConfigError(f"{error}; or name a SNAPSHOT file") from error
