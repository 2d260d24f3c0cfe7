"""Reads the cluster of a kubeconfig context, or of the pod that this process runs in."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from kubesched.cli.output import progress_bar
from kubesched.cli.release_options import named_release

if TYPE_CHECKING:
    from kubesched.cli.inputs import InputOptions
    from kubesched.cluster import Access
    from kubesched.snapshot import ClusterObjects

_REQUESTS_PER_SECOND: Final = 20.0


def read_live(
    inputs: "InputOptions", *, kinds: Collection[str] = (), on_wait: Callable[[str], None] | None = None
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

    access = _find_access(inputs)
    listed = ListedObjects(
        manifests=inputs.manifests,
        kinds=kinds,
        skip_bad_objects=inputs.skip_bad_objects,
        release=named_release(inputs.setup),
    )

    async def read() -> "ClusterObjects":
        qps = _REQUESTS_PER_SECOND
        async with ApiClient(access, pool_size=1, qps=qps, burst=int(qps), on_wait=on_wait) as client:
            with progress_bar("reading") as progress:
                return await read_live_cluster(client, listed, progress=progress)

    with leaving_on_sigterm():  # a plugin of the kubeconfig may run
        return asyncio.run(read()), access


def _find_access(inputs: "InputOptions") -> "Access":
    from kubesched.cluster import find_access
    from kubesched.errors import ConfigError

    try:
        return find_access(inputs.kubeconfig, inputs.context or "")
    except ConfigError as error:
        if inputs.kubeconfig or inputs.context:
            raise
        raise ConfigError(f"{error}; or name a SNAPSHOT file") from error
