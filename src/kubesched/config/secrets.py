"""Hides passwords and private keys where a configuration is shown to people, in logs or over HTTP."""

import re
from typing import Any, Final

_PASSWORD: Final = re.compile(r"(//[^/:@]*):[^/]*@")  # of a URL
_HIDDEN: Final = "***"
_PRIVATE_KEY: Final = "keyData"


def without_password(url: str) -> str:
    """A URL, or a text with one, with *** in place of a password."""
    return _PASSWORD.sub(rf"\1:{_HIDDEN}@", url)


def without_secrets(value: Any, path: str = "") -> Any:
    """A copy of plain values, as `effective` returns them, with *** for the password of a URL and for a private key.

    Args:
        path: where the value is in a configuration, such as `extenders[http://devices].tlsConfig.keyData`.
    """
    if isinstance(value, dict):
        return {key: without_secrets(entry, key) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_secrets(entry) for entry in value]
    if not isinstance(value, str):
        return value
    return _HIDDEN if value and path.endswith(_PRIVATE_KEY) else without_password(value)
