"""Reads configurations of versions before v1: finds the Policy that one names, and logs that one was converted."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from kubesched.config import Conversion, OlderVersions
from kubesched.errors import ConfigError, InputError

__all__ = ["log_conversion", "older_versions"]

_LOG: Final = logging.getLogger("kubesched.config")


def older_versions(source: object, on_conversion: Callable[[Conversion], None]) -> OlderVersions:
    """How to read a configuration that may be of an older version.

    Args:
        source: its file if it is a Path. A Policy that is not where the configuration says is read from its folder.
        on_conversion: is called with the conversion.
    """
    folder = source.parent if isinstance(source, Path) else Path()
    return OlderVersions(lambda path: _read_policy(path, folder), on_conversion)


def log_conversion(source: object) -> Callable[[Conversion], None]:
    """Log one line on a conversion, however much has changed."""

    def log(conversion: Conversion) -> None:
        name = source if isinstance(source, Path) else "FILE"
        _LOG.warning(
            "%s: converted from %s; its plugins decide as in v1.36. See: kubesched config convert %s",
            "configuration" if name == "FILE" else name,
            conversion.origin,
            name,
        )

    return log


def _read_policy(path: str, folder: Path) -> str:
    """The text of a Policy file.

    Raises:
        ConfigError: it is not there; upstream's words.
        InputError: it cannot be read.
    """
    places = (Path(path), folder / Path(path).name)
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise ConfigError(f"missing policy config file {path}\n  looked for {places[0]} and {places[1]}")
    try:
        return file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"couldn't read policy config: {file}: {error}") from error
