"""What must not reach a log: credentials in headers, and secrets in Kubernetes objects."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

__all__ = ["redacted_headers", "redacted_json"]

_HIDDEN: Final = "[hidden]"
_LAST_APPLIED: Final = (
    "kubectl.kubernetes.io/last-applied-configuration"  # may repeat anything, a Secret's data included
)
_SECRET_NAME: Final = re.compile(
    r"authori[sz]ation|cookie|credential|passw(or)?d|passphrase|secret|token|api[-_]?key|private[-_]?key|access[-_]?key",
    re.IGNORECASE,
)
_NAMES_ONLY: Final = {"secretname", "secretref", "secretkeyref", "secret", "secrets", "imagepullsecrets"}  # no values


def redacted_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Copy the headers with the values of those that carry credentials hidden."""
    return {name: _HIDDEN if _SECRET_NAME.search(name) else value for name, value in headers.items()}


def redacted_json(text: str | bytes) -> str:
    """Return the JSON with its secrets hidden; of text that is no JSON only its length, since nobody can tell.

    Hidden are the data of Secrets, values under names such as `token` or `password`, environment variables with such a
    name, and the annotation in which kubectl repeats the whole object.
    """
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return f"[{len(text)} bytes that are no JSON]"
    return msgspec.json.encode(_hide(document)).decode()


def _hide(value: object, *, in_secrets: bool = False) -> object:
    if isinstance(value, list):
        return [_hide(item, in_secrets=in_secrets) for item in value]
    if isinstance(value, dict):
        return _hide_object(value, in_secrets)
    return value


def _hide_object(found: dict[str, object], in_secrets: bool) -> dict[str, object]:
    fields = {key.lower(): value for key, value in found.items()}
    kind, name = fields.get("kind"), fields.get("name")
    is_secret = in_secrets or kind == "Secret"
    is_variable = "value" in fields and isinstance(name, str) and _SECRET_NAME.search(name) is not None
    hidden: dict[str, object] = {}
    for key, value in found.items():
        low = key.lower()
        if (is_secret and low in {"data", "stringdata"}) or (is_variable and low == "value") or _is_secret(low, value):
            hidden[key] = _hide_values(value)
        else:
            hidden[key] = _hide(value, in_secrets=kind == "SecretList" and low == "items")
    return hidden


def _is_secret(key: str, value: object) -> bool:
    if key == _LAST_APPLIED:
        return True
    return isinstance(value, str) and key not in _NAMES_ONLY and _SECRET_NAME.search(key) is not None


def _hide_values(value: object) -> object:
    """Hide what is said and keep under which keys."""
    return dict.fromkeys(value, _HIDDEN) if isinstance(value, dict) else _HIDDEN
