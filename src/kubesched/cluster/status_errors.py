"""Turns a failed request to the API server into a kubesched error with one clear sentence."""

import os
from typing import Final

import aiohttp
import msgspec

from kubesched.errors import ClusterError, ConfigError, ConflictError, GoneError, NotFoundError, UnauthorizedError

EXPIRED: Final = ("Expired", "Gone")
"""Reasons for a resource version or a continue token that is too old."""

UNUSABLE: Final = "UnusableCredentials"
"""Our reason for a request that was not sent, because one of our files or certificates is not valid at the moment."""

UNTRUSTED: Final = "UntrustedServer"
"""Our reason for a request that was not sent, because no authority of ours has signed the server's certificate."""

_ERRORS: Final[dict[int, type[ClusterError]]] = {
    401: UnauthorizedError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
}
_NOT_KNOWN: Final = "; the credentials are missing or no longer valid"
_NOT_ALLOWED: Final = "; this user or service account needs a role that allows it"
_MAX_SHOWN: Final = 300
_MAX_WAIT: Final = 30.0  # after an hour of waiting, a scheduler has placed nothing for an hour


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: float | None = None


class StatusObject(msgspec.Struct):
    """The object with which an API server refuses."""

    message: str | None = None
    reason: str | None = None
    code: int | None = None
    details: _Details | None = None


def refusal(where: str, response: aiohttp.ClientResponse, body: bytes) -> ClusterError:
    """The error for an answer that is not a success.

    Args:
        where: method and URL.
        response: status and headers.
        body: mostly a Status, sometimes what a proxy has to say.
    """
    try:
        status = msgspec.json.decode(body, type=StatusObject)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        status = StatusObject(body.decode("utf-8", "replace").strip().partition("\n")[0])
    status.code = response.status
    status.reason = status.reason or response.reason
    return status_error(where, status, _seconds(response.headers.get("Retry-After")))


def status_error(where: str, status: StatusObject, retry_after: float | None = None) -> ClusterError:
    """The error for a Status, of the class that fits its code or reason. It asks for half a minute at most."""
    code, reason = status.code or 500, status.reason or ""
    if retry_after is None and status.details:
        retry_after = status.details.retry_after_seconds
    if retry_after is not None:
        retry_after = min(retry_after, _MAX_WAIT)
    message = (status.message or "")[:_MAX_SHOWN]
    text = f"{where}: {code} {reason}{': ' if message else ''}{message}{_advice(code, message)}"
    error_class = GoneError if reason in EXPIRED else _ERRORS.get(code, ClusterError)
    return error_class(text, status=code, reason=reason, retry_after=retry_after, message=message)


def _advice(code: int, message: str) -> str:
    """What to do. Authorizers write `User "ann" cannot list resource "pods"`; admission refuses with a 403 too."""
    if code == 401:
        return _NOT_KNOWN
    return _NOT_ALLOWED if code == 403 and '" cannot ' in message else ""


def missing_answer(where: str, error: Exception) -> ClusterError:
    """The error for a request that got no answer, or half of one."""
    if isinstance(error, TimeoutError):
        return ClusterError(f"{where}: no answer in time", reason="Timeout")
    is_untrusted = isinstance(error, aiohttp.ClientConnectorCertificateError)
    return ClusterError(f"{where}: {_describe(error)}", reason=UNTRUSTED if is_untrusted else "NoAnswer")


def unusable(error: ConfigError) -> ClusterError:
    """The error for a request that cannot be sent, for example while a certificate and its key are replaced."""
    return ClusterError(str(error), reason=UNUSABLE)


def _describe(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or str(error.certificate_error)
        return f"the server's certificate is not valid: {why}; check certificate-authority and tls-server-name"
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"cannot connect: {_why(error.os_error)}; check the server's address"
    if isinstance(error, aiohttp.ClientResponseError):  # its text holds the proxy's URL, with a password perhaps
        return f"the answer is not valid HTTP: {error.status} {' '.join(error.message.split())[:_MAX_SHOWN]}"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError | ConnectionError):
        return "the connection was closed before the answer was complete"
    return f"no answer: {str(error) or type(error).__name__}"


def _why(error: OSError) -> str:
    """The system's words; asyncio puts the address in their place."""
    return os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)


def _seconds(header: str | None) -> float | None:
    """Retry-After in seconds; a date, which API servers do not send, is ignored."""
    return float(header) if header and header.strip().isdecimal() else None
