"""What is wrong with an old document: everything in one error, each fault with its line."""

from collections.abc import Sequence

import msgspec

from kubesched.documents import locate
from kubesched.errors import ConfigError


class DocumentFault(msgspec.Struct, frozen=True):
    """One fault of a document.

    Attributes:
        path: the field.
        text: upstream's words where it has some.
        help: our addition.
    """

    path: str
    text: str
    help: str = ""

    @property
    def shown_path(self) -> str:
        """The path and a colon, unless the text begins with it."""
        return "" if self.text.startswith(self.path) else f"{self.path}: "


def faults_error(faults: Sequence[DocumentFault], text: str = "") -> ConfigError:
    """All faults as one exception, in the order of the text; the words of a single one come first.

    Args:
        faults: at least one.
        text: the one that the document is from; without it, there are no lines.
    """
    root = locate(text).root
    placed = sorted(((root.nearest(fault.path)[0].shown, fault) for fault in faults), key=lambda one: one[0])
    lines = [(f"line {place[0]}: " if text else "", fault) for place, fault in placed]
    if len(lines) == 1:
        ((line, fault),) = lines
        rest = f"{line}{fault.shown_path}{fault.help}".removesuffix(": ")
        return ConfigError("\n  ".join(filter(None, (fault.text, rest))))
    shown = [f"{line}{one.shown_path}{one.text}{'; ' if one.help else ''}{one.help}" for line, one in lines]
    return ConfigError("\n  ".join([f"{len(shown)} fields are not valid", *shown]))
