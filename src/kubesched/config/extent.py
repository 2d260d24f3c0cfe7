"""How deep and how large a YAML document is, found from its events before anything is built of it.

What is nested deeply would cost PyYAML the stack of C code and the process its life; aliases of aliases would grow
beyond any memory.
"""

from typing import Final

import yaml

from kubesched.errors import ConfigError

__all__ = ["Parser", "check_extent"]

Parser: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's reader, in C where it is built so."""

_MAX_DEPTH: Final = 200
_MAX_ALIASED: Final = 100_000  # values that the aliases of a document may stand for


def check_extent(text: str) -> None:
    """Refuse a text whose first document is nested too deeply or stands for too much.

    Raises:
        ConfigError: one of the two; upstream's words.
        yaml.YAMLError: the text is no YAML.
    """
    reader = Parser(text)
    extent = _Extent()
    try:
        while not isinstance(event := reader.get_event(), yaml.DocumentEndEvent | yaml.StreamEndEvent):
            extent.add(event)
    finally:
        reader.dispose()


class _Extent:
    """What the events so far come to."""

    def __init__(self) -> None:
        self._values = 0  # aliases count for what they stand for
        self._aliased = 0
        self._sizes: dict[str, int] = {}  # anchor -> how many values it stands for
        self._open: list[tuple[str | None, int]] = []  # lists and mappings: anchor, and the values before it

    def add(self, event: yaml.Event) -> None:
        """Count one event."""
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, before = self._open.pop()
            self._size(anchor, self._values - before)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(self._sizes.get(event.anchor or "", 0))
        elif isinstance(event, yaml.ScalarEvent):
            self._values += 1
            self._size(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, self._values))
            self._values += 1
            if len(self._open) > _MAX_DEPTH:
                raise ConfigError("yaml: exceeded max depth")

    def _size(self, anchor: str | None, n: int) -> None:
        if anchor is not None:
            self._sizes[anchor] = n

    def _alias(self, n: int) -> None:
        self._values += n
        self._aliased += n
        if self._aliased > _MAX_ALIASED:
            raise ConfigError("yaml: document contains excessive aliasing")
