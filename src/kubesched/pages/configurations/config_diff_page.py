"""The page of `kubesched config diff`: each field that differs between two configurations."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from kubesched.config import FieldChange
from kubesched.documents import count
from kubesched.pages.formats import Cell, Check, Column, Level, Page, Paragraph, Table
from kubesched.release import ReadingVersion, Release

_LEVELS: Final = {"added": Level.GOOD, "enabled": Level.GOOD, "removed": Level.BAD, "disabled": Level.BAD}


def config_diff_page(old: str, new: str, changes: Sequence[FieldChange], release: Release) -> Page:
    """What differs between two configurations.

    Args:
        old, new: what they are called.
        release: the version that reads them.
    """
    n = len(changes)
    verdict = f"{new} differs from {old} in {count(n, 'place')}." if n else f"{new} is equal to {old}."
    columns = (Column("path", "FIELD"), Column("kind", is_wide=True), Column("change"))
    rows = [
        [change.path, change.kind.value, Cell(change.in_words, level=_LEVELS.get(change.kind.value, Level.WARNING))]
        for change in changes
    ]
    documents = _as_documents(changes)
    return Page(
        "config-diff",
        Paragraph(verdict, Level.WARNING if changes else Level.GOOD),
        (Table("changes", "", columns, rows),),
        versions=(ReadingVersion(release),),
        document={"old": old, "new": new, "changes": documents},
        lines=documents,
        checks=[Check("config-diff", f"{new} is equal to {old}", "\n".join(map(str, changes)))],
    )


def _as_documents(changes: Iterable[FieldChange]) -> list[dict[str, Any]]:
    return [msgspec.to_builtins(change) for change in changes]
