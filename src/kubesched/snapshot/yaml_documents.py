"""YAML files, document by document, as plain values ready to be encoded as JSON.

Values are built from libyaml's events, not through PyYAML's nodes: that is faster, and deep nesting costs no C stack.
Stricter than kubectl in one point: a key that stands twice in a map is refused, as an API server does with strict
validation.
"""

import base64
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

import yaml

from kubesched.errors import InputError
from kubesched.snapshot.yaml_scalars import parse_boolean, parse_number, resolve_plain

__all__ = ["read_yaml"]

_MAX_DEPTH: Final = 200
_MAX_ALIASED: Final = 1_000_000  # values that the aliases of a document may stand for; more is a mistake or an attack
_MERGE: Final = object()  # the key `<<`


def read_yaml(data: bytes, label: str) -> Iterator[Any]:
    """Yield the value of every document, None for an empty one.

    Raises:
        InputError: what stands there is no YAML, or says what JSON cannot; with line and column.
    """
    loader = yaml.CSafeLoader(data)
    try:
        while not isinstance(event := loader.get_event(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                yield _Builder(label).build(loader.get_event)
    except yaml.YAMLError as error:
        raise InputError(_sentence(error, label)) from error
    finally:
        loader.dispose()


def _sentence(error: yaml.YAMLError, label: str) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    return f"{label}: {_position(mark) if mark else ''}this is no YAML: {problem}"


def _position(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: "


class _Frame:
    """A list or map that is being filled.

    Attributes:
        value: the list or dict.
        key: of a map, the key that waits for its value, or _MERGE; None while a key is due.
        merged: of a map, the maps that its `<<` keys bring in.
        anchor: the name under which aliases may refer to the value.
        began: how many values the document had before this one.
    """

    __slots__ = ("anchor", "began", "is_map", "key", "merged", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, began: int) -> None:
        self.value: Any = value
        self.is_map = isinstance(value, dict)
        self.key: Any = None
        self.merged: list[Any] = []
        self.anchor = anchor
        self.began = began


class _Builder:
    """Builds the value of one document from its events."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}  # value, and how many values it counts for
        self._count = 0
        self._aliased = 0
        self._root: Any = None

    def build(self, get_event: Callable[[], yaml.Event | None]) -> Any:
        """Consume the events up to the end of the document."""
        while True:
            event = get_event()
            if isinstance(event, yaml.ScalarEvent):
                self._on_scalar(event)
            elif isinstance(event, yaml.MappingStartEvent):
                self._open(event, {}, "tag:yaml.org,2002:map")
            elif isinstance(event, yaml.SequenceStartEvent):
                self._open(event, [], "tag:yaml.org,2002:seq")
            elif isinstance(event, yaml.AliasEvent):
                self._on_alias(event)
            elif isinstance(event, yaml.DocumentEndEvent):
                return self._root
            else:
                self._close(event)

    def _on_scalar(self, event: yaml.ScalarEvent) -> None:
        self._count += 1
        try:
            value = resolve_plain(event.value) if event.implicit[0] and event.tag is None else _tagged(event)
        except ValueError as error:
            self._fail(event, str(error))
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        frame = self._stack[-1] if self._stack else None
        if frame is None or not frame.is_map or frame.key is not None:
            self._add(value, event)
        elif event.value == "<<" and event.implicit[0]:
            frame.key = _MERGE
        else:
            self._set_key(frame, value, event)

    def _set_key(self, frame: _Frame, value: Any, event: yaml.Event) -> None:
        if value is None:
            self._fail(event, "a map key is null; write it in quotes if it is meant")
        key = value if isinstance(value, str) else _key_text(value)
        if key in frame.value:
            self._fail(event, f"key {key!r} stands twice in one map")
        frame.key = key

    def _add(self, value: Any, event: yaml.Event | None) -> None:
        """Put a value where the innermost open list or map wants it."""
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        if not frame.is_map:
            frame.value.append(value)
        elif frame.key is None:
            self._fail(event, "a map key is a list or a map; allowed are texts, numbers, true and false")
        else:
            if frame.key is _MERGE:
                frame.merged += self._merge_sources(value, event)
            else:
                frame.value[frame.key] = value
            frame.key = None

    def _merge_sources(self, value: Any, event: yaml.Event | None) -> list[dict[str, Any]]:
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            self._fail(event, "`<<` takes a map or a list of maps")
        return sources

    def _open(self, event: Any, value: dict[str, Any] | list[Any], tag: str) -> None:
        if event.tag not in (None, "!", tag):
            self._fail(event, f"unknown tag {event.tag!r}")
        if len(self._stack) >= _MAX_DEPTH:
            self._fail(event, f"nested deeper than {_MAX_DEPTH} levels")
        if self._stack and self._stack[-1].is_map and self._stack[-1].key is None:
            self._add(value, event)
        self._stack.append(_Frame(value, event.anchor, self._count))
        self._count += 1

    def _close(self, event: yaml.Event | None) -> None:
        frame = self._stack.pop()
        for source in frame.merged:
            for key, value in source.items():
                frame.value.setdefault(key, value)
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, self._count - frame.began)
        self._add(frame.value, event)

    def _on_alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            self._fail(event, f"alias *{event.anchor} refers to nothing that is complete here")
        value, count = self._anchors[event.anchor]
        self._count += count
        self._aliased += count
        if self._aliased > _MAX_ALIASED:
            self._fail(event, f"the aliases of this document stand for more than {_MAX_ALIASED} values")
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.is_map and frame.key is None and not isinstance(value, dict | list):
            self._set_key(frame, value, event)
        else:
            self._add(value, event)

    def _fail(self, event: yaml.Event | None, problem: str) -> NoReturn:
        raise InputError(f"{self._label}: {_position(event.start_mark) if event else ''}{problem}")


def _key_text(value: bool | int | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tagged(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar that is quoted or has a tag."""
    if event.tag is None or event.tag == "!":
        return event.value
    read = _TAGS.get(event.tag)
    if read is None:
        raise ValueError(f"unknown tag {event.tag!r}")
    return read(event.value)


def _parse_binary(text: str) -> str:
    """Base64, which JSON can only carry as text."""
    try:
        return base64.b64decode(text).decode()
    except ValueError:
        raise ValueError("what !!binary stands for is no base64 of UTF-8 text") from None


_TAGS: Final[dict[str, Callable[[str], Any]]] = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:bool": parse_boolean,
    "tag:yaml.org,2002:int": parse_number,
    "tag:yaml.org,2002:float": parse_number,
    "tag:yaml.org,2002:timestamp": str,
    "tag:yaml.org,2002:binary": _parse_binary,
}
