"""Requests of plugins to the API server."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kubesched.cluster.client import ApiClient
from kubesched.errors import ClusterError, NotSentError
from kubesched.framework import PluginClient

__all__ = ["PluginRequests"]

_READS: Final = ("GET", "HEAD")
_METHODS: Final = (*_READS, "POST", "PUT", "PATCH", "DELETE")


class PluginRequests(PluginClient):
    """What `handle.client` is where there is an API server.

    Args:
        client: one for plugins alone where the process writes Bindings, so that their requests do not hold these up.
        read_only: why nothing is written, as the end of a sentence; empty where plugins may write.
    """

    def __init__(self, client: ApiClient, read_only: str = "") -> None:
        self._client = client
        self._read_only = read_only

    def __bool__(self) -> bool:
        return True

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str | int] | None = None,
        content_type: str = "application/json",
    ) -> Any:
        """Send a request, once."""
        if method not in _METHODS:
            raise ValueError(f"method: found {method!r:.80}; expected one of {', '.join(_METHODS)}")
        if not path.startswith("/"):
            raise ValueError(f"path: found {path!r:.200}; expected one that begins with /api/ or /apis/")
        if self._read_only and method not in _READS:
            raise NotSentError(f"{method} {path}: not sent, because {self._read_only}")
        answer = await self._client.request(method, path, query=query or {}, body=body, content_type=content_type)
        try:
            return msgspec.json.decode(answer) if answer.strip() else None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ClusterError(f"{method} {path}: the answer is not JSON; expected an object", status=200) from error
