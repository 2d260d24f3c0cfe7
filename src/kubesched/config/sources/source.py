"""A configuration with its place in the file that holds it."""

import itertools
from typing import Any, Final

import msgspec

from kubesched.config.sources.flags import FieldFlag
from kubesched.config.sources.given_objects import LINE_BREAK, Input, InputObject
from kubesched.config.types import LeaderElectionFlags
from kubesched.documents import PlacedText, write_yaml

_NO_FLAGS: Final = LeaderElectionFlags()


class ConfigSource(msgspec.Struct, frozen=True):
    """The text of one configuration. It is `Readable`: messages name it as `str()` does.

    Attributes:
        name: the file, with the place in it where that is not the whole file, such as
            `FILE: ConfigMap kube-system/my-scheduler, config.yaml`.
        text: YAML or JSON, as it would be in a separate file.
        file: the name of the file that holds it.
        line, column: where the text begins in that file, from 1.
        is_verbatim: whether the lines of the text are lines of the file, from `column` on.
        is_generated: whether the text is not in the file, because flags alone or a JSON array say the same.
        flags: what the command line of its scheduler says about leader election.
        unknown_flags: the flags of that command line that kube-scheduler does not have, without dashes in front.
        ignored_flags: those that have no effect, because the command line names this file with --config.
        config_maps: the ConfigMaps that were given together with it; one of them may hold its Policy.
        named_files: the texts of files that it names, such as its Policy, by the path that it names.
    """

    name: str
    text: str
    file: str
    line: int = 1
    column: int = 1
    is_verbatim: bool = True
    is_generated: bool = False
    flags: LeaderElectionFlags = _NO_FLAGS
    unknown_flags: tuple[str, ...] = ()
    ignored_flags: tuple[FieldFlag, ...] = ()
    config_maps: tuple[Any, ...] = ()
    named_files: dict[str, str] = {}

    def __str__(self) -> str:
        return self.name

    def read_bytes(self) -> bytes:
        """The text as the bytes of a file."""
        return self.text.encode()

    def position(self, line: int, column: int) -> tuple[int, int]:
        """The line and column in the file of a line and column of the text, all from 1.

        Of a text that is not verbatim, such as one in quotes, it is the place where the text begins.
        """
        if not self.is_verbatim:
            return self.line, self.column
        return self.line + line - 1, self.column + column - 1


def nested_source(outer: ConfigSource, inner: ConfigSource) -> ConfigSource:
    """A configuration inside a text, placed in the file that holds the text.

    Args:
        outer: the whole text.
        inner: the configuration, as if the text were a file.
    """
    line, column = outer.position(inner.line, inner.column)
    is_verbatim = outer.is_verbatim and inner.is_verbatim
    return msgspec.structs.replace(inner, file=outer.file, line=line, column=column, is_verbatim=is_verbatim)


def bare_source(name: str, one: InputObject) -> ConfigSource:
    """A configuration that is an object of an input."""
    if one.is_document:
        return ConfigSource(name, one.text, one.file.name, one.line)
    return ConfigSource(name, write_yaml(one.value), one.file.name, one.line, is_verbatim=False, is_generated=True)


def text_source(name: str, file: Input, text: PlacedText) -> ConfigSource:
    """A configuration that is a text inside a document."""
    plain = str(text)
    if not text.is_literal:
        return ConfigSource(name, plain, file.name, text.line, text.column, is_verbatim=False)
    return ConfigSource(name, plain, file.name, text.line + 1, 1 + _indentation(text, file.text))


def _indentation(text: PlacedText, outer: str) -> int:
    """How many blanks are before each line of a text below a `|`."""
    inner = LINE_BREAK.split(text)
    first = next((i for i, line in enumerate(inner) if line.strip()), 0)
    breaks = LINE_BREAK.finditer(outer, text.offset)
    begins = next(itertools.islice(breaks, first, None), None)
    if begins is None:
        return 0
    ends = next(breaks, None)
    return (ends.start() if ends else len(outer)) - begins.end() - len(inner[first])
