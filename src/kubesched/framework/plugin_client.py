"""Requests of plugins to the API server. In runs without one, every request fails with a sentence."""

import re
from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_ROOT: Final = re.compile(r"/apis?(/[^?#]*)?")
_DOTS: Final = (".", "..")
_ASCII_CODE: Final = re.compile("%([0-7][0-9a-fA-F])")
_MERGE: Final = "application/merge-patch+json"


class ApiRequest(msgspec.Struct, frozen=True):
    """One request of a plugin, as the arguments of `PluginClient.request` say it."""

    method: str
    path: str
    body: object
    query: Mapping[str, str | int]
    content_type: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


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
            path: from the root of the API server: `/api/v1/...` or `/apis/GROUP/VERSION/...`, as it is sent: what a
                name may not have in a path is percent-encoded.
            body: plain values, or structs of msgspec.
        Returns: the answer as plain values; None if it has no body.
        Raises:
            ClusterError: refused, or not answered; `status` has the code.
            RuntimeError: there is no API server.
            ValueError: it is not a request that can be sent.
        """
        _check_request(method, path, query, content_type)
        return await self._send(ApiRequest(method, path, body, query or {}, content_type))

    async def _send(self, request: ApiRequest) -> Any:
        """Send a request that has been checked."""
        ...

    async def patch(self, path: str, body: object, *, content_type: str = _MERGE) -> Any:
        """Change some fields of an object: a merge patch by default."""
        return await self.request("PATCH", path, body, content_type=content_type)


class NoClient(PluginClient):
    """Fails, because a run has no API server."""

    def __bool__(self) -> bool:
        return False

    async def _send(self, request: ApiRequest) -> Any:
        raise RuntimeError(
            f"{request}: this run has no API server; a live scheduler has one, and an extender with --kubeconfig "
            "or --in-cluster. `if self.handle.client:` skips the request in other runs"
        )


def _check_request(method: object, path: object, query: object, content_type: object) -> None:
    """Check what a plugin asks for, so that what is sent is what the plugin wrote.

    Raises:
        ValueError: it cannot be sent, or another path would be: HTTP clients resolve `..`.
    """
    if method not in _METHODS:
        raise ValueError(f"method: found {method!r:.80}; expected one of {', '.join(_METHODS)}")
    if not isinstance(path, str) or not _ROOT.fullmatch(path):
        raise ValueError(f"path: found {path!r:.200}; expected one below /api/ or /apis/, without ? and #")
    decoded = _ASCII_CODE.sub(lambda code: chr(int(code[1], 16)), path)
    if not (path.isprintable() and decoded.isprintable()):
        raise ValueError(f"path: found {path!r:.200}; expected no control characters")
    if any(segment in _DOTS for segment in decoded.split("/")):
        raise ValueError(f"path: found {path!r:.200}; expected no segment . or ..")
    if query is not None and not _is_query(query):
        raise ValueError(f"query: found {query!r:.200}; expected texts and integers by name")
    if not (isinstance(content_type, str) and content_type.isascii() and content_type.isprintable()):
        raise ValueError(f"content_type: found {content_type!r:.80}; expected one such as application/json")


def _is_query(query: object) -> bool:
    if not isinstance(query, Mapping):
        return False
    values = (*query, *(value for value in query.values() if type(value) is not int))
    return all(isinstance(value, str) and _is_utf8(value) for value in values)


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
