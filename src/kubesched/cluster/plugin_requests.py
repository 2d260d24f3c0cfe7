"""Requests of plugins to the API server."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from kubesched.cluster.api_client import ApiClient
from kubesched.documents import decode_nested
from kubesched.errors import ClusterError, NotSentError
from kubesched.framework import ApiRequest, PluginClient

_READS: Final = ("GET", "HEAD")
_UNENCODED: Final = (TypeError, ValueError, OverflowError, RecursionError, NotImplementedError, msgspec.MsgspecError)


class PluginRequests(PluginClient):
    """What `handle.client` is where there is an API server.

    Args:
        client: one for plugins alone where the process writes Bindings, so that their requests do not hold these up.
        why_read_only: why nothing is written at this moment, as the end of a sentence; empty while plugins may write.
    """

    def __init__(self, client: ApiClient, why_read_only: Callable[[], str] = str) -> None:
        self._client = client
        self._why_read_only = why_read_only

    def __bool__(self) -> bool:
        return True

    async def _send(self, request: ApiRequest) -> Any:
        """Send a request, once."""
        encoded = None if request.body is None else _encoded(request)
        if request.method not in _READS and (reason := self._why_read_only()):
            raise NotSentError(f"{request}: not sent, because {reason}")
        answer = await self._client.request(
            request.method, request.path, query=request.query, body=encoded, content_type=request.content_type
        )
        try:
            return decode_nested(msgspec.json.decode, answer) if answer.strip() else None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ClusterError(f"{request}: the answer is not JSON; expected an object", status=200) from error


def _encoded(request: ApiRequest) -> msgspec.Raw:
    try:
        return msgspec.Raw(msgspec.json.encode(request.body))
    except _UNENCODED as error:
        raise ValueError(f"{request}: the body cannot be written as JSON: {error!s:.200}; give plain values") from error
