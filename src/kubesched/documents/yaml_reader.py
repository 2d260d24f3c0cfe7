"""Reads YAML as kubectl does, document by document, into plain values that can be encoded as JSON.

Values are built from libyaml's events, not through PyYAML's nodes: that is faster, and deep nesting costs no C stack.
The words of a fault are those of Go's YAML reader where it has any.

Rule: sigs.k8s.io/yaml: YAML 1.1 with y/n booleans, no timestamps, no base-60 numbers; keys become texts.
"""

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

import msgspec
import yaml

from kubesched.documents.slash_comments import advice_on_comments
from kubesched.documents.yaml_scalars import parse_boolean, parse_number, resolve_plain
from kubesched.errors import YamlError

_Parser: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH: Final = 200
_MAX_ALIASED: Final = 1_000_000  # values that the aliases of a text may expand to; more is a mistake or an attack
_LONG: Final = 32  # characters of a scalar that count as one more value
MERGE: Final = object()  # the key `<<`


class RepeatedKey(msgspec.Struct, frozen=True):
    """A key that is in its map already.

    Attributes:
        line, column: where it is repeated, from 1.
        text: upstream's words.
        is_merged: whether the map has it from a `<<` only.
    """

    line: int
    column: int
    text: str
    is_merged: bool


class PlacedText(str):
    """A text that a YAML document holds, and its place there.

    Attributes:
        line, column: where it begins, from 1: at its quote, or at the `|` or `>` above it.
        offset: the same as an index of the whole text.
        is_literal: whether it is below a `|`: its lines are those of the document, without their indentation.
    """

    __slots__ = ("column", "is_literal", "line", "offset")

    line: int
    column: int
    offset: int
    is_literal: bool


class YamlDocument(msgspec.Struct, frozen=True):
    """One document.

    Attributes:
        value: dicts, lists, texts, numbers, booleans, None; an empty document is None.
        repeated_keys: in their order; the last value of a key counts.
        start: the index of its first character in the text: of its `---`, where it has one.
        line: the line of that character, from 1.
    """

    value: Any
    repeated_keys: tuple[RepeatedKey, ...]
    start: int = 0
    line: int = 1


def read_yaml(text: str | bytes, *, sort_keys: bool = False, places: bool = False) -> Iterator[YamlDocument]:
    """Yield every document, each read when it is asked for.

    Args:
        sort_keys: whether maps come out with sorted keys, as they do upstream.
        places: whether texts come out as PlacedText.
    Raises:
        YamlError: the text is not valid YAML, or has what JSON cannot express.
    """
    yield from build_documents(text, lambda start: DocumentBuilder(sort_keys, places, start))


def build_documents(text: str | bytes, new_builder: Callable[[int], "DocumentBuilder"]) -> Iterator[YamlDocument]:
    """Yield every document, each from a new builder.

    Args:
        new_builder: takes the index of the first character of the document in the text.
    Raises:
        YamlError: as from read_yaml.
    """
    try:
        parser = _Parser(str(text) if isinstance(text, str) else text)  # it refuses subclasses, such as PlacedText
        n_aliased = 0
        try:
            while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
                if isinstance(event, yaml.DocumentStartEvent):
                    mark: Any = event.start_mark
                    builder = new_builder(mark.index)
                    builder.n_aliased = n_aliased
                    document = builder.build(parser.get_event)
                    n_aliased = builder.n_aliased
                    yield msgspec.structs.replace(document, line=mark.line + 1)
        finally:
            parser.dispose()
    except yaml.YAMLError as error:
        raise _syntax_error(error, text) from error


def _syntax_error(error: yaml.YAMLError, text: str | bytes) -> YamlError:
    """Rule: goyaml.v2 reports what its parser misses one line early, and does not name line 0."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return YamlError("", problem, line="", is_syntax=True)
    line = mark.line if isinstance(error, yaml.parser.ParserError) else mark.line + 1
    at = (mark.line + 1, mark.column + 1)
    advice = advice_on_comments(text, at[0])
    shown = f"line {line}: " if line else ""
    return YamlError(_position(mark), problem, line=shown, is_syntax=True, at=at, advice=advice)


def _position(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: "


class Frame:
    """A list or map that is being filled.

    Attributes:
        value: the list or dict.
        key: of a map, the key that waits for its value, or MERGE; None while a key is due.
        merged: of a map, what its `<<` keys bring in.
        anchor: the name under which aliases may refer to the value.
        began: how many values the document had before this one.
    """

    __slots__ = ("anchor", "began", "is_map", "key", "merged", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, began: int) -> None:
        self.value: Any = value
        self.is_map = isinstance(value, dict)
        self.key: Any = None
        self.merged: dict[str, Any] = {}
        self.anchor = anchor
        self.began = began


class DocumentBuilder:
    """Builds the value of one document from its events.

    Attributes:
        n_aliased: how many values the aliases of the text have expanded to, up to here.
    """

    def __init__(self, sort_keys: bool, places: bool = False, start: int = 0) -> None:
        self._sort_keys = sort_keys
        self._places = places
        self._start = start
        self._repeated: list[RepeatedKey] = []
        self._stack: list[Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}  # value, and how many values it counts for
        self._count = 0
        self.n_aliased = 0
        self._root: Any = None

    def build(self, get_event: Callable[[], yaml.Event | None]) -> YamlDocument:
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
                return YamlDocument(self._root, tuple(self._repeated), self._start)
            else:
                self._close(event)

    def _on_scalar(self, event: yaml.ScalarEvent) -> None:
        size = 1 + len(event.value) // _LONG
        self._count += size
        try:
            value = resolve_plain(event.value) if event.implicit[0] and event.tag is None else _tagged(event)
        except ValueError as error:
            self._fail(event, str(error))
        if self._places and isinstance(value, str):
            value = _placed(value, event)
        if event.anchor:
            self._anchors[event.anchor] = (value, size)
        frame = self._stack[-1] if self._stack else None
        if frame is None or not frame.is_map or frame.key is not None:
            self._add(value, event)
        elif event.value == "<<" and event.implicit[0]:
            frame.key = MERGE
        else:
            self._set_key(frame, value, event)

    def _set_key(self, frame: Frame, value: Any, event: yaml.Event) -> None:
        if value is None:
            self._fail(event, "a map key is null; put it in quotes if it is text")
        frame.key = value if isinstance(value, str) else _key_text(value)
        if frame.key in frame.value or frame.key in frame.merged:
            self._repeat(event, value, is_merged=frame.key not in frame.value)

    def _repeat(self, event: Any, key: Any, *, is_merged: bool) -> None:
        shown = json.dumps(key, ensure_ascii=False) if isinstance(key, str) else _key_text(key)
        mark = event.start_mark
        text = f"key {shown} already set in map"
        self._repeated.append(RepeatedKey(mark.line + 1, mark.column + 1, text, is_merged))

    def _add(self, value: Any, event: yaml.Event | None) -> None:
        """Add a value to the innermost open list or map."""
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        if not frame.is_map:
            frame.value.append(value)
        elif frame.key is None:
            self._fail(event, "a map key is a list or a map; expected a string, a number, true or false")
        else:
            if frame.key is MERGE:
                self._merge(frame, value, event)
            else:
                frame.value[frame.key] = value
            frame.key = None

    def _merge(self, frame: Frame, value: Any, event: yaml.Event | None) -> None:
        for source in value if isinstance(value, list) else [value]:
            if not isinstance(source, dict):
                self._fail(event, "map merge requires map or sequence of maps as the value")
            for key in source:
                if key in frame.value or key in frame.merged:
                    self._repeat(event, key, is_merged=True)
                frame.merged.setdefault(key, source[key])

    def _open(self, event: Any, value: dict[str, Any] | list[Any], tag: str) -> None:
        if event.tag not in (None, "!", tag):
            self._fail(event, f"unknown tag {event.tag!r}")
        if len(self._stack) >= _MAX_DEPTH:
            self._fail(event, f"exceeded max depth of {_MAX_DEPTH}")
        if self._stack and self._stack[-1].is_map and self._stack[-1].key is None:
            self._add(value, event)
        self._stack.append(Frame(value, event.anchor, self._count))
        self._count += 1

    def _close(self, event: yaml.Event | None) -> None:
        frame = self._stack.pop()
        value = frame.value
        for key, merged in frame.merged.items():
            value.setdefault(key, merged)
        if frame.is_map and self._sort_keys:
            value = dict(sorted(value.items()))
        if frame.anchor:
            self._anchors[frame.anchor] = (value, self._count - frame.began)
        self._add(value, event)

    def _on_alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            is_open = any(frame.anchor == event.anchor for frame in self._stack)
            problem = "anchor {!r} value contains itself" if is_open else "unknown anchor {!r} referenced"
            self._fail(event, problem.format(event.anchor))
        value, count = self._anchors[event.anchor]
        self._count += count
        self.n_aliased += count
        if self.n_aliased > _MAX_ALIASED:
            self._fail(event, "document contains excessive aliasing")
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.is_map and frame.key is None and not isinstance(value, dict | list):
            self._set_key(frame, value, event)
        else:
            self._add(value, event)

    def _fail(self, event: yaml.Event | None, problem: str) -> NoReturn:
        mark = event.start_mark if event else None
        place, line = (_position(mark), f"line {mark.line + 1}: ") if mark else ("", "")
        raise YamlError(place, problem, line=line, at=(mark.line + 1, mark.column + 1) if mark else None)


def _placed(value: str, event: Any) -> PlacedText:
    text = PlacedText(value)
    mark = event.start_mark
    text.line, text.column, text.offset = mark.line + 1, mark.column + 1, mark.index
    text.is_literal = event.style == "|"
    return text


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
        raise ValueError("!!binary is not base64 of UTF-8 text") from None


_TAGS: Final[dict[str, Callable[[str], Any]]] = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:bool": parse_boolean,
    "tag:yaml.org,2002:int": parse_number,
    "tag:yaml.org,2002:float": parse_number,
    "tag:yaml.org,2002:timestamp": str,
    "tag:yaml.org,2002:binary": _parse_binary,
}
