# ruff: noqa: ASYNC109 - the timeout is for one try of several
"""Binds a pod to its node exactly once, even if the answer is lost."""

from collections.abc import Mapping

import msgspec

from kubesched.api import ObjectMeta, Value
from kubesched.cluster.api_client import ApiClient
from kubesched.cluster.resources import object_path
from kubesched.errors import ClusterError, ConflictError, NotFoundError


class _Target(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    api_version: str = "v1"
    kind: str = "Node"


class _Binding(msgspec.Struct, frozen=True, rename="camel"):
    metadata: ObjectMeta
    target: _Target
    api_version: str = "v1"
    kind: str = "Binding"


class _Spec(Value, frozen=True, gc=False):
    node_name: str = ""


class _Pod(msgspec.Struct, frozen=True):
    metadata: ObjectMeta
    spec: _Spec = _Spec()


async def bind_pod(
    client: ApiClient,
    namespace: str,
    name: str,
    uid: str,
    node: str,
    annotations: Mapping[str, str] | None = None,
    *,
    may_be_bound: bool = False,
    timeout: float | None = None,
) -> None:
    """Bind a pod to a node. Returns when it is bound there, by this or by another request.

    The request carries the uid, so that a pod re-created under the same name is not bound. A try whose answer
    is lost is repeated. From then on only the pod itself shows whether it is bound, so it is read; a refusal of a later
    try proves nothing.

    Args:
        annotations: added to those of the pod.
        may_be_bound: whether the answer of an earlier Binding of this pod was lost.
        timeout: seconds for one try.
    Raises:
        NotFoundError: the pod is gone.
        ConflictError: it is bound to another node, or is another pod than the one meant.
        ClusterError: anything else that the server refused. With status 0 the pod may be bound: there was no answer, or
            the pod cannot be read.
    """
    path = object_path("Pod", namespace, name)
    metadata = ObjectMeta(name, namespace, uid, annotations=dict(annotations) if annotations else None)
    binding = _Binding(metadata, _Target(node))
    try:
        await client.request("POST", f"{path}/binding", body=binding, timeout=timeout, retry=True)
    except NotFoundError as error:
        raise _gone(f"{namespace}/{name}", node, error) from error
    except ClusterError as error:
        is_open = may_be_bound or error.may_be_done or error.status == 409  # 409: bound, perhaps by another process
        if not is_open or not await _is_bound(client, path, uid, node, timeout):
            raise


async def _is_bound(client: ApiClient, path: str, uid: str, node: str, timeout: float | None) -> bool:
    """Whether the pod is bound to this node; false where it is bound to none.

    Raises:
        NotFoundError, ConflictError: as with `bind_pod`.
        ClusterError: the pod cannot be read; status 0, because it may be bound.
    """
    key = "/".join(path.split("/")[-3::2])
    try:
        pod = await client.request("GET", path, type=_Pod, timeout=timeout)
    except NotFoundError as error:
        raise _gone(key, node, error) from error
    except ClusterError as error:
        raise ClusterError(str(error), reason=error.reason) from error
    if pod.metadata.uid != uid:
        raise ConflictError(
            f"pod {key} was not bound to node {node!r}: it was re-created in the meantime, with uid {pod.metadata.uid} "
            f"instead of {uid}",
            status=409,
            reason="Conflict",
        )
    if pod.spec.node_name not in ("", node):
        raise ConflictError(
            f"pod {key} was not bound to node {node!r}: it is already bound to node {pod.spec.node_name!r}",
            status=409,
            reason="Conflict",
        )
    return pod.spec.node_name == node


def _gone(key: str, node: str, error: NotFoundError) -> NotFoundError:
    return NotFoundError(
        f"pod {key} was not bound to node {node!r}: it does not exist any more", status=404, reason=error.reason
    )
