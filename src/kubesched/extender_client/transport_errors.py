"""Why a request to an extender got no answer, in the words of Go's HTTP client: users search for them.

Rule: net/http of Go 1.26, with which kube-scheduler v1.36 is built. Some details that Go adds are not available in
Python and are left out: the resolver's address, both ends of a connection that was reset, the names in a certificate.
Errors that this module does not know keep Python's words, in one line.
"""

import errno
import os
import re
import socket
import ssl
from typing import Final

import aiohttp
from aiohttp.http_exceptions import ContentEncodingError, HttpProcessingError

_FAILED_CALL: Final = re.compile(r"\[Errno (\d+)\] Connect call failed \('([^']+)', (\d+)")
_QUOTED: Final = re.compile(r"'([^']*)'")
_NO_SUCH_HOST: Final = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
_NOT_TLS: Final = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "PACKET_LENGTH_TOO_LONG")
_EXPIRED, _NOT_YET_VALID, _OTHER_NAME, _OTHER_ADDRESS = 10, 9, 62, 64  # of X509_verify_cert_error_string
_UNKNOWN_AUTHORITY: Final = (18, 19, 20, 21)


def transport_error(error: Exception) -> str:
    """What Go says after the method and the URL.

    Args:
        error: of a request, before the body of the answer. A timeout is not one of them.
    """
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"tls: failed to verify certificate: x509: {_certificate_error(error.certificate_error)}"
        case aiohttp.ClientConnectorDNSError():
            reason = "no such host" if error.os_error.errno in _NO_SUCH_HOST else error.os_error.strerror
            return f"dial tcp: lookup {error.host}: {reason}"
        case aiohttp.ClientProxyConnectionError():
            return f"proxyconnect tcp: {_connector_error(error)}"
        case aiohttp.ClientConnectorError():
            return _connector_error(error)
        case aiohttp.ClientHttpProxyError():
            return error.message
        case aiohttp.TooManyRedirects():
            return "stopped after 10 redirects"
        case aiohttp.NonHttpUrlClientError():
            return f'unsupported protocol scheme "{str(error).partition(":")[0]}"'
        case aiohttp.ServerDisconnectedError() if isinstance(error.message, str):
            return "EOF"
        case aiohttp.ServerDisconnectedError():  # in the middle of the headers
            return "net/http: HTTP/1.x transport connection broken: unexpected EOF"
        case (
            aiohttp.ClientResponseError() | HttpProcessingError()
        ):  # its text has the URL of a proxy, perhaps with a password
            return f"net/http: HTTP/1.x transport connection broken: {_in_one_line(error.message)}"
        case OSError():
            return _socket_error(error)
    return _in_one_line(str(error)) or type(error).__name__


def body_error(error: aiohttp.ClientError) -> str:
    """What Go says of an answer that broke off in its body; Go has neither method nor URL here."""
    if "ConnectionResetError" in str(error):
        return "read tcp: read: connection reset by peer"
    if isinstance(error, aiohttp.ClientPayloadError) and not isinstance(error.__cause__, ContentEncodingError):
        return "unexpected EOF"
    return _in_one_line(getattr(error.__cause__, "message", str(error)))


def _connector_error(error: aiohttp.ClientConnectorError) -> str:
    cause = error.os_error
    if isinstance(cause, ssl.SSLError | ConnectionResetError | BrokenPipeError):
        return _socket_error(cause)
    host, port, code = error.host, error.port, cause.errno
    if call := _FAILED_CALL.search(str(cause)):  # of several addresses, the first
        code, host, port = int(call[1]), call[2], int(call[3])
    reason = os.strerror(code).lower() if code else _in_one_line(str(cause))
    return f"dial tcp {f'[{host}]' if ':' in host else host}:{port}: connect: {reason}"


def _socket_error(error: OSError) -> str:
    cause = error.__cause__ if isinstance(error.__cause__, ssl.SSLError) else error
    if isinstance(cause, ssl.SSLEOFError) or (isinstance(error, ConnectionError) and not error.errno):
        return "EOF"
    if isinstance(cause, ssl.SSLError):
        if cause.reason in _NOT_TLS:
            return "http: server gave HTTP response to HTTPS client"
        alert = (cause.reason or "").partition("_ALERT_")[2].lower().replace("_", " ")
        alert = alert.replace("unknown ca", "unknown certificate authority")
        return f"remote error: tls: {alert}" if alert else f"tls: {_in_one_line(str(cause))}"
    if not error.errno or error.errno < 0:
        return _in_one_line(str(error)) or type(error).__name__
    done = "write" if error.errno == errno.EPIPE else "read"
    return f"{done} tcp: {done}: {os.strerror(error.errno).lower()}"


def _certificate_error(error: Exception) -> str:
    code, reason = getattr(error, "verify_code", 0), getattr(error, "verify_message", "") or str(error)
    if code in _UNKNOWN_AUTHORITY:
        return "certificate signed by unknown authority"
    if code in (_OTHER_NAME, _OTHER_ADDRESS):
        return f"certificate is valid for other names, not {_QUOTED.findall(reason)[0]}"
    if code in (_EXPIRED, _NOT_YET_VALID):
        return f"certificate has expired or is not yet valid: {reason}"
    return _in_one_line(reason)


def _in_one_line(text: str) -> str:
    return " ".join(text.replace("^", "").split())
