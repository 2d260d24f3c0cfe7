"""The objects in the files that were given: documents, and the items of Lists among them."""

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.documents import YamlDocument, read_yaml

LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""What YAML counts as the end of a line."""


class Input(msgspec.Struct, frozen=True):
    """A file that was given.

    Attributes:
        name: how messages call it.
    """

    name: str
    text: str


class InputObject(msgspec.Struct, frozen=True, eq=False):
    """One object of an input.

    Attributes:
        value: plain values; its texts are PlacedTexts.
        text: the document that it is, or is in.
        line: where the document begins in the file, from 1.
        is_document: whether it is the whole document, not an item of a List.
    """

    file: Input
    value: Any
    text: str
    line: int
    is_document: bool

    @property
    def kind(self) -> str:
        """Its kind; empty where it has none."""
        return text_at(self.value, "kind")

    @property
    def namespace(self) -> str:
        """Its namespace; empty where it names none."""
        return text_at(self.value, "metadata", "namespace")

    @property
    def name(self) -> str:
        """Its name; empty where it has none."""
        return text_at(self.value, "metadata", "name")

    @property
    def title(self) -> str:
        """Kind and name, such as `ConfigMap kube-system/my-scheduler`."""
        return one_line(f"{self.kind} {'/'.join(part for part in (self.namespace, self.name) if part)}")

    @property
    def data(self) -> dict[str, Any]:
        """The data of a ConfigMap."""
        return map_at(self.value, "data")


def one_line(text: str) -> str:
    """A text as one line, for a name or path in a message."""
    return " ".join(text.split())


def read_objects(file: Input) -> list[InputObject]:
    """The objects of a file, in their order.

    Raises:
        YamlError: the file is not valid YAML.
    """
    documents = list(read_yaml(file.text, places=True))
    objects = []
    for i, document in enumerate(documents):
        begin, line = _begin(file.text, document) if i else (0, 1)
        end = documents[i + 1].start if i + 1 < len(documents) else len(file.text)
        items = list(_items(document.value))
        objects += [InputObject(file, item, file.text[begin:end], line, item is document.value) for item in items]
    return objects


def value_at(value: Any, *path: str) -> Any:
    """What is at a path of keys; None where something else is on the way."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *path: str) -> str:
    """The text at a path of keys; empty where there is none."""
    text = value_at(value, *path)
    return str(text) if isinstance(text, str) else ""


def map_at(value: Any, *path: str) -> dict[str, Any]:
    """The mapping at a path of keys; empty where there is none."""
    mapping = value_at(value, *path)
    return mapping if isinstance(mapping, dict) else {}


def list_at(value: Any, *path: str) -> list[Any]:
    """The list at a path of keys; empty where there is none."""
    entries = value_at(value, *path)
    return entries if isinstance(entries, list) else []


def _begin(text: str, document: YamlDocument) -> tuple[int, int]:
    """The index and line where a further document begins: below its `---` if that line has nothing else."""
    end = text.find("\n", document.start) + 1
    if end and text[document.start : end].strip() == "---":
        return end, document.line + 1
    return document.start, document.line


def _items(value: Any) -> Iterator[Any]:
    """The value, or the objects in it if it is a List."""
    items = list_at(value, "items") if text_at(value, "kind").endswith("List") else []
    for item in items:
        yield from _items(item)
    if not items:
        yield value
