"""TLS of a server: its certificate, the accepted clients, and the reload of both while it runs.

Files of Secrets and ConfigMaps change under a running process (cert-manager, kubelet). Every change builds a whole new
context, so a half-written pair can never be half in force; new connections get it, open ones keep what they have.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kubesched.errors import InputError
from kubesched.framework import LimitedLog
from kubesched.serving.cipher_suites import openssl_names

_SHOWN: Final = 100  # characters of a path
_LOG: Final = logging.getLogger(__name__)

_Stamp = tuple[int, int, int] | None  # of one file: modified, size, inode; None for a missing file


class TlsFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The files a server's certificates are read from, all in PEM, and what the server expects of its clients.

    Attributes:
        certificate: the server's certificate, then the intermediate ones.
        key: its private key, not encrypted.
        client_ca: authorities of client certificates; None asks clients for none.
        requires_client: with `client_ca`, whether a client without a certificate is refused.
        min_version: of TLS.
        cipher_suites: allowed for TLS 1.2, by their IANA names; OpenSSL's choice where empty. Those of TLS 1.3 are
            always allowed; if only those are given, TLS 1.3 is required.
    """

    certificate: Path
    key: Path
    client_ca: Path | None = None
    requires_client: bool = True
    min_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    cipher_suites: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        """All files that are named."""
        return tuple(path for path in (self.certificate, self.key, self.client_ca) if path is not None)


class Certificates:
    """A context for `create_server` that follows its files.

    Attributes:
        context: hand this one to the listening socket; it passes each new connection on to the newest files.
        n_refused: connections so far whose TLS handshake failed.
    """

    def __init__(self, files: TlsFiles) -> None:
        """Read the files.

        Raises:
            InputError: a file is missing, unreadable or not PEM of its kind, or certificate and key are not a pair.
        """
        self._files = files
        self._stamps = _stamps(files)  # taken before reading: a change in between is seen as one at the next look
        self.context = _build_context(files)
        self._newest = self.context
        self.context.sni_callback = self._use_newest  # called for clients that send no server name, too
        self.context.sslobject_class = _noting_faults(self._note_refused)
        self.n_refused = 0
        self._refusals = LimitedLog(_LOG, "%d more failed TLS handshakes were not logged", time.monotonic)

    def reload_if_changed(self) -> bool:
        """Read the files again if one of them changed; return whether new ones are in force.

        Files that are not valid leave the old certificates in force and are logged once per change.
        """
        stamps = _stamps(self._files)
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        try:
            self._newest = _build_context(self._files)
        except InputError as error:
            _LOG.error("%s; the earlier certificates stay in use", error)
            return False
        _LOG.info("certificates reloaded from %s", ", ".join(map(str, self._files.paths)))
        return True

    async def watch(self, seconds: float = 2.0) -> None:
        """Look at the files every `seconds`, until cancelled."""
        while True:
            await asyncio.sleep(seconds)
            self.reload_if_changed()

    def _note_refused(self, error: ssl.SSLError) -> None:
        self.n_refused += 1
        self._refusals.note(f"a client could not connect, because its TLS handshake failed: {_why_refused(error)}")

    def _use_newest(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _front: ssl.SSLContext) -> None:
        connection.context = self._newest


def peer_common_names(request: web.BaseRequest) -> list[str]:
    """Return the common names in the client's certificate; none for a client without one."""
    return _subject(request, "commonName")


def peer_organizations(request: web.BaseRequest) -> list[str]:
    """Return the organizations in the client's certificate, which are its groups in Kubernetes."""
    return _subject(request, "organizationName")


def _subject(request: web.BaseRequest, field: str) -> list[str]:
    certificate = request.get_extra_info("peercert") or {}
    return [value for part in certificate.get("subject", ()) for key, value in part if key == field]


def allow_clients(names: Collection[str], *, open_paths: Collection[str] = ()) -> Middleware:
    """Build the middleware that answers 403 to clients whose certificate does not have one common name of `names`.

    A certificate with several common names is refused: Go takes the last one, others take the first.

    Args:
        names: allowed common names, such as `system:kube-scheduler`.
        open_paths: paths that every client may ask, such as those of health checks.
    """
    warnings = LimitedLog(_LOG, "%d more requests of clients that are not allowed were not logged", time.monotonic)

    @web.middleware
    async def check_client(request: web.Request, handler: Handler) -> web.StreamResponse:
        common_names = peer_common_names(request)
        if request.path in open_paths or (len(common_names) == 1 and common_names[0] in names):
            return await handler(request)
        why = _why_not_allowed(common_names)
        allowed = ", ".join(sorted(names))
        warnings.note(
            f"{request.method} {request.path[:_SHOWN]} from {request.remote}: {why}; expected one of {allowed}"
        )
        raise web.HTTPForbidden(text=f"{why}\n")

    return check_client


def _why_not_allowed(names: list[str]) -> str:
    if len(names) > 1:
        quoted = " and ".join(f'"{name}"' for name in names)
        return f"the client certificate has {len(names)} common names, {quoted}; expected exactly one"
    return f'the client certificate\'s common name "{"".join(names)}" is not allowed here'


def _noting_faults(note: Callable[[ssl.SSLError], None]) -> type[ssl.SSLObject]:
    """Build the class of connections, for asyncio ends one whose handshake fails without a word to anybody."""

    class NotingFaults(ssl.SSLObject):
        def do_handshake(self) -> None:
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError as error:
                note(error)
                raise

    return NotingFaults


def _why_refused(error: ssl.SSLError) -> str:
    """What is wrong, in OpenSSL's words; for a certificate with what was found."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {error.verify_message}"
    return _reason(error)


def _build_context(files: TlsFiles) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = files.min_version
    if files.cipher_suites:
        if ciphers := openssl_names(files.cipher_suites):
            context.set_ciphers(ciphers)
        else:
            context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["http/1.1"])
    # A resumed session would skip the check of the client against today's authorities.
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET
    _load_pair(context, files)
    if files.client_ca is not None:
        _load_client_ca(context, files.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED if files.requires_client else ssl.CERT_OPTIONAL
    return context


def _load_pair(context: ssl.SSLContext, files: TlsFiles) -> None:
    _check_pem(files.certificate, "CERTIFICATE-----", "a certificate")
    key = _check_pem(files.key, "PRIVATE KEY-----", "a private key")
    if "ENCRYPTED" in key:
        raise InputError(f"{files.key}: the private key is encrypted; give a key without a passphrase")
    try:
        context.load_cert_chain(files.certificate, files.key, password="")
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InputError(
                f"{files.key}: the private key does not belong to the certificate in {files.certificate}; "
                "give a certificate and its key"
            ) from error
        raise InputError(
            f"{files.certificate}, {files.key}: cannot be used ({_reason(error)}); "
            "give a certificate and its private key in PEM"
        ) from error
    except OSError as error:  # went away since it was read
        raise _unreadable(files.certificate, error) from error


def _load_client_ca(context: ssl.SSLContext, path: Path) -> None:
    text = _check_pem(path, "CERTIFICATE-----", "a certificate")
    try:
        context.load_verify_locations(cadata=text)
    except ssl.SSLError as error:
        raise InputError(f"{path}: cannot be used ({_reason(error)}); give certificates in PEM") from error


def _check_pem(path: Path, mark: str, kind: str) -> str:
    try:
        text = path.read_text("ascii", errors="replace")
    except OSError as error:
        raise _unreadable(path, error) from error
    if mark not in text:
        raise InputError(f"{path}: has no {mark.strip('-')} block; give {kind} in PEM")
    return text


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path}: cannot be read ({error.strerror}); give a PEM file that this process can read")


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).replace("_", " ").lower()


def _stamps(files: TlsFiles) -> list[_Stamp]:
    return [_stamp(path) for path in files.paths]


def _stamp(path: Path) -> _Stamp:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
