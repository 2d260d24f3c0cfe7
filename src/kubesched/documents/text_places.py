"""Finds the line and column of every key and value of a YAML or JSON text, by the path of the field."""

from collections.abc import Collection
from typing import Any, Final

import yaml

from kubesched.documents.yaml_reader import MERGE, DocumentBuilder, RepeatedKey, build_documents
from kubesched.errors import YamlError

_MAX_DIGITS: Final = 10  # of an index


class TextPlace:
    """Where a value is in a text; lines and columns count from 1.

    Attributes:
        line, column: where the value begins. That of an alias is the alias, that of a merged field is its source.
        key: line and column of the key; None for a list's items and the document itself.
        is_scalar: whether the value is neither a map nor a list.
        children: the places of fields by key, of items by index.
    """

    __slots__ = ("children", "column", "is_scalar", "key", "line")

    def __init__(self, line: int, column: int, *, is_scalar: bool = True) -> None:
        self.line = line
        self.column = column
        self.key: tuple[int, int] | None = None
        self.is_scalar = is_scalar
        self.children: dict[str | int, TextPlace] = {}

    @property
    def shown(self) -> tuple[int, int]:
        """What a message about the field points at: a scalar, a list item, or else the key."""
        return self.key if self.key and not self.is_scalar else (self.line, self.column)

    def nearest(self, path: str) -> tuple["TextPlace", bool]:
        """The place of a field, or of the nearest parent that is in the text.

        Args:
            path: such as `profiles[0].plugins.score`; a key may have dots and brackets. Case counts only where two
                keys differ by nothing else.
        Returns: the place, and whether it is the field itself.
        """
        place, rest = self, path
        while rest:
            step = next_step(place.children, rest)
            if step is None:
                return place, False
            place, rest = place.children[step[0]], step[1]
        return place, True


def next_step(children: Collection[str | int], path: str) -> tuple[str | int, str] | None:
    """Split the first key or index off a path.

    Args:
        children: what is there: keys, or indices. They decide how much of a path is the key, which may have dots.
    Returns: the key or index, and the rest of the path; None if nothing there begins the path.
    """
    if path.startswith("["):
        index, _, rest = path[1:].partition("]")
        number = int(index) if index.isdecimal() and len(index) < _MAX_DIGITS else -1
        return (number, rest.removeprefix(".")) if number in children else None
    keys = [key for key in children if isinstance(key, str)]
    names = [key for key in keys if _begins(path, key)] or [key for key in keys if _begins(path.lower(), key.lower())]
    if not names:
        return None
    name = max(names, key=len)
    return name, path[len(name) :].removeprefix(".")


class TextPlaces:
    """The places of a text.

    Attributes:
        documents: the place of each document that is not empty, and of the first; none after a fault.
        repeated_keys: of the first document, in their order.
        fault: line and column of what is not valid YAML, if something is.
    """

    def __init__(self) -> None:
        self.documents: list[TextPlace] = []
        self.repeated_keys: tuple[RepeatedKey, ...] = ()
        self.fault: tuple[int, int] | None = None

    @property
    def root(self) -> TextPlace:
        """The first document; the beginning of the text if there is none."""
        return self.documents[0] if self.documents else TextPlace(1, 1)


def locate(text: str) -> TextPlaces:
    """Find all places; of a text that is not valid, those that can be found."""
    places = TextPlaces()

    def new_builder(start: int) -> _PlaceBuilder:
        builder = _PlaceBuilder(start)
        places.documents.append(builder.root)
        return builder

    # JSON may be indented with tabs, YAML may not.
    plain = text.replace("\t", " ") if text.lstrip().startswith("{") else text
    try:
        for document in build_documents(plain, new_builder):
            if len(places.documents) == 1:
                places.repeated_keys = document.repeated_keys
            elif document.value is None:
                places.documents.pop()
    except YamlError as error:
        places.fault = error.at or (1, 1)
    return places


def _begins(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))


class _PlaceBuilder(DocumentBuilder):
    """Builds the places of one document next to its value.

    Attributes:
        root: the place of the document; it is filled in as the document is read.
    """

    def __init__(self, start: int) -> None:
        super().__init__(sort_keys=False, start=start)
        self.root = TextPlace(1, 1)
        self._open_places: list[TextPlace] = []  # of the open lists and maps
        self._keys: list[tuple[int, int] | None] = []  # of each, the key that waits for its value
        self._merged: list[dict[str | int, TextPlace]] = []  # of each, what its `<<` brings in
        self._named: dict[str, TextPlace] = {}  # by anchor
        self._closed: TextPlace | None = None

    def _set_key(self, frame: Any, value: Any, event: Any) -> None:
        super()._set_key(frame, value, event)
        self._keys[-1] = _start(event)

    def _open(self, event: Any, value: dict[str, Any] | list[Any], tag: str) -> None:
        super()._open(event, value, tag)
        place = TextPlace(*_start(event), is_scalar=False) if self._open_places else self.root
        if not self._open_places:
            self.root.line, self.root.column = _start(event)
            self.root.is_scalar = False
        self._open_places.append(place)
        self._keys.append(None)
        self._merged.append({})

    def _close(self, event: Any) -> None:
        place = self._open_places.pop()
        self._keys.pop()
        for name, merged in self._merged.pop().items():
            place.children.setdefault(name, merged)
        if anchor := self._stack[-1].anchor:
            self._named[anchor] = place
        self._closed = place
        super()._close(event)

    def _add(self, value: Any, event: Any) -> None:
        place, self._closed = self._closed or self._place_of(event), None
        if self._stack:
            frame = self._stack[-1]
            if not frame.is_map:
                self._open_places[-1].children[len(frame.value)] = place
            elif frame.key is MERGE:
                for source in place.children.values() if isinstance(value, list) else [place]:
                    for name, child in source.children.items():
                        self._merged[-1].setdefault(name, child)
            elif frame.key is not None:
                place.key = self._keys[-1]
                self._open_places[-1].children[frame.key] = place
        elif self.root.is_scalar:
            self.root.line, self.root.column = place.line, place.column
        super()._add(value, event)

    def _place_of(self, event: Any) -> TextPlace:
        place = TextPlace(*_start(event))
        if isinstance(event, yaml.AliasEvent) and (named := self._named.get(str(event.anchor))):
            place.is_scalar, place.children = named.is_scalar, named.children
        elif isinstance(event, yaml.ScalarEvent) and event.anchor:
            self._named[event.anchor] = place
        return place


def _start(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1
