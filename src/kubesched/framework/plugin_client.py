"""Requests of plugins to the API server. In runs without one, every request fails with a sentence."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

__all__ = ["NoClient", "PluginClient"]

_MERGE: Final = "application/merge-patch+json"


class PluginClient(Protocol):
    """Requests of a plugin to the API server: from `start`, a task that it makes, and hooks of the binding cycle.

    The account of the process needs the rights. A plugin lists them as `rbac`, and the commands that print manifests
    grant them. Nothing is sent twice. A live scheduler sends writes only while it leads. `start` runs before that, so
    write in a task that it makes, which tries again after a ClusterError.

    True where there is an API server, so that a plugin can do without: `if handle.client: ...`.

    Example:
        rbac = ({"apiGroups": [""], "resources": ["pods"], "verbs": ["patch"]},)

        async def post_bind(self, state, pod, node_name):
            path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
            await self.handle.client.patch(path, {"metadata": {"annotations": {"example.com/node": node_name}}})
    """

    def __bool__(self) -> bool:
        """Whether there is an API server."""
        ...

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str | int] | None = None,
        content_type: str = "application/json",
    ) -> Any:
        """Send a request and wait for the answer, 30 seconds at most.

        Args:
            method: GET, POST, PUT, PATCH or DELETE.
            path: from the root of the API server: `/api/v1/...` or `/apis/GROUP/VERSION/...`.
            body: plain values, or structs of msgspec.
        Returns: the answer as plain values; None if it has no body.
        Raises:
            ClusterError: refused, or not answered; `status` has the code.
            RuntimeError: there is no API server.
        """
        ...

    async def patch(self, path: str, body: object, *, content_type: str = _MERGE) -> Any:
        """Change some fields of an object: a merge patch by default."""
        return await self.request("PATCH", path, body, content_type=content_type)


class NoClient(PluginClient):
    """Fails, because a run has no API server."""

    def __bool__(self) -> bool:
        return False

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str | int] | None = None,
        content_type: str = "application/json",
    ) -> Any:
        """Fail."""
        raise RuntimeError(
            f"{method} {path}: this run has no API server; a live scheduler has one, and an extender with --kubeconfig "
            "or --in-cluster. `if self.handle.client:` skips the request in other runs"
        )
