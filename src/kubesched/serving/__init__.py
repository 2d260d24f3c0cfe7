"""HTTP and HTTPS for whoever serves something: certificates that renew, limits, health, metrics, logs, a clean end."""

from kubesched.serving.logs import set_up_logging
from kubesched.serving.redaction import redacted_headers, redacted_json

__all__ = [
    "redacted_headers",
    "redacted_json",
    "set_up_logging",
]
