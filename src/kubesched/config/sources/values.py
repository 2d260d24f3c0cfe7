"""Finds configurations inside other objects, such as the values of a Helm chart: texts and mappings at any depth."""

from collections.abc import Iterator
from typing import Any, Final

from kubesched.config.sources.given_objects import LINE_BREAK, Input, read_objects, value_at
from kubesched.config.sources.recognition import holds_configuration, is_configuration, may_hold_configurations
from kubesched.config.sources.source import ConfigSource, bare_source, nested_source, text_source
from kubesched.documents import PlacedText, read_yaml, write_yaml
from kubesched.errors import YamlError

_HEADS: Final = ("kind", "apiVersion")
_EXTENDERS: Final = {"extenders"}  # alone in the values of a chart, they are not a Policy


def sources_inside(value: Any, file: Input, title: str) -> Iterator[ConfigSource]:
    """The configurations in a value, in its order, named by their paths.

    Args:
        title: the object in the file; empty for one without a kind.
    """
    before = f"{file.name}: {title}, " if title else f"{file.name}: "
    for path, held in _inside(value, ""):
        if isinstance(held, PlacedText):
            yield from text_sources(f"{before}{path}", file, held)
        else:
            yield _mapping_source(f"{before}{path}", file, held)


def text_sources(name: str, file: Input, text: PlacedText) -> Iterator[ConfigSource]:
    """The configuration that a text is, or those in it, if it is YAML, such as the values of a chart in an Application.

    Args:
        name: of the text.
    """
    outer = text_source(name, file, text)
    if holds_configuration(str(text)):
        yield outer
        return
    inner = Input(name, str(text))
    try:
        objects = read_objects(inner)
    except YamlError:
        return
    for one in objects:
        if is_configuration(one.value):
            yield nested_source(outer, bare_source(f"{name}: line {one.line}", one))
        elif not isinstance(one.value, str):
            for source in sources_inside(one.value, inner, one.title):
                yield nested_source(outer, source)


def _inside(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The configurations in a value, each with its path."""
    if isinstance(value, PlacedText):
        if may_hold_configurations(value):
            yield path, value
    elif path and is_configuration(value) and value.keys() != _EXTENDERS:
        yield path, value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from _inside(entry, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield from _inside(entry, f"{path}[{i}]")


def _mapping_source(name: str, file: Input, mapping: dict[str, Any]) -> ConfigSource:
    """A configuration that is a mapping: its lines, if they are YAML without the rest of the file."""
    head = next((text for key in _HEADS if isinstance(text := value_at(mapping, key), PlacedText)), None)
    line, column = (head.line, head.column) if head is not None else (1, 1)
    block = _block(file.text, line)
    if block is not None and _reads_as(block[0], mapping):
        text, first, indentation = block
        return ConfigSource(name, text, file.name, first, indentation + 1)
    return ConfigSource(name, write_yaml(mapping), file.name, line, column, is_verbatim=False)


def _block(text: str, line: int) -> tuple[str, int, int] | None:
    """The block of lines around a line that are indented as far, or farther, without their indentation.

    Returns: the text, its first line from 1, and the indentation.
    """
    lines = LINE_BREAK.split(text)
    if line > len(lines):
        return None
    indentation = _indentation(lines[line - 1])
    first = last = line - 1
    while first > 0 and _belongs(lines[first - 1], indentation):
        first -= 1
    while last + 1 < len(lines) and _belongs(lines[last + 1], indentation):
        last += 1
    return "\n".join(one[indentation:] for one in lines[first : last + 1]) + "\n", first + 1, indentation


def _belongs(line: str, indentation: int) -> bool:
    return not line.strip() or _indentation(line) >= indentation


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _reads_as(text: str, value: Any) -> bool:
    try:
        return [document.value for document in read_yaml(text)] == [value]
    except YamlError:
        return False
