"""HTTP and HTTPS for whoever serves something: certificates that renew, limits, health, metrics, logs, a clean end."""

from kubesched.serving.bodies import Bodies, Buffer, ByteBudget
from kubesched.serving.logs import set_up_logging
from kubesched.serving.redaction import redacted_headers, redacted_json
from kubesched.serving.server import Server, ServerOptions
from kubesched.serving.tls import Certificates, TlsFiles, allow_clients, peer_common_name

__all__ = [
    "Bodies",
    "Buffer",
    "ByteBudget",
    "Certificates",
    "Server",
    "ServerOptions",
    "TlsFiles",
    "allow_clients",
    "peer_common_name",
    "redacted_headers",
    "redacted_json",
    "set_up_logging",
]
