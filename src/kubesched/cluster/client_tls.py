"""TLS as in client-go: trusted authorities, the client certificate, and new contexts when their files change."""

import logging
import ssl
import tempfile

from kubesched.cluster.api_access import Access
from kubesched.cluster.credentials import Auth
from kubesched.errors import ConfigError

_log = logging.getLogger(__name__)


class TlsContexts:
    """Makes the TLS context for a request, and makes a new one only when certificates have changed.

    Connections belong to their context, so that a new certificate is shown on new connections. While files are being
    replaced, a certificate may not belong to its key for a moment, or be half of one: then the earlier context stays in
    use, because a leader that sends nothing until the files are read again loses its lease.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._made_of: tuple[bytes, bytes, bytes] | None = None
        self._context: ssl.SSLContext | None = None

    def context(self, auth: Auth) -> ssl.SSLContext | bool:
        """The context for this certificate; True for a server without TLS.

        Raises:
            ConfigError: a certificate or key is not PEM, or the two do not belong together.
        """
        if not self._access.server.startswith("https:"):
            return True
        material = (self._access.ca.read() if self._access.ca else b"", auth.certificate, auth.key)
        if self._context is None or material != self._made_of:
            self._context = self._made(material)
            self._made_of = material
        return self._context

    def has_new_authority(self) -> bool:
        """Whether the file of the authorities has others than the context trusts; it is read again for that."""
        ca, made_of = self._access.ca, self._made_of
        return ca is not None and made_of is not None and ca.read(fresh=True) != made_of[0]

    def _made(self, material: tuple[bytes, bytes, bytes]) -> ssl.SSLContext:
        access = self._access
        authority = (material[0], access.ca.label) if access.ca else None
        try:
            return client_context(authority, (*material[1:], access.label), is_insecure=access.insecure)
        except ConfigError as error:
            if self._context is None:
                raise
            _log.warning("%s; the earlier certificates stay in use", error)
            return self._context


def client_context(
    authority: tuple[bytes, str] | None, pair: tuple[bytes, bytes, str], *, is_insecure: bool
) -> ssl.SSLContext:
    """The TLS context of a client that trusts what Go would trust; TLS 1.2 and newer, HTTP/1.1.

    Args:
        authority: certificates to trust, and where they are from; None for those of the system.
        pair: the client's certificate and key, empty for none, and where they are from.
        is_insecure: any server is trusted.
    Raises:
        ConfigError: a certificate or key is not PEM, or the two do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    # As Go: an intermediate may be trusted, and authorities made without key usage are good enough.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority:
        _trust(context, *authority)
    else:
        context.load_default_certs()
    if pair[0]:
        _show(context, *pair)
    return context


def _trust(context: ssl.SSLContext, ca: bytes, label: str) -> None:
    try:
        context.load_verify_locations(cadata=ca.decode("latin-1"))
    except (ssl.SSLError, ValueError) as error:
        raise ConfigError(f"{label}: found no certificate; expected certificates in PEM form") from error


def _show(context: ssl.SSLContext, certificate: bytes, key: bytes, label: str) -> None:
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:  # readable by us alone; ssl takes nothing but files
        file.write(certificate + b"\n" + key)
        file.flush()
        try:
            context.load_cert_chain(file.name, password="")  # without it, OpenSSL would ask on the terminal
        except (ssl.SSLError, OSError, ValueError) as error:
            raise ConfigError(
                f"{label}: the client certificate and key cannot be used; expected a certificate and the "
                "unencrypted key that belongs to it, both in PEM form"
            ) from error
