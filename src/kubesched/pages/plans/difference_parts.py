"""What the page of a simulation says about a change: the difference that it makes, before everything else."""

from collections.abc import Sequence

import msgspec

from kubesched.documents import count, listed
from kubesched.pages.formats import Level, Page, Paragraph, Part
from kubesched.planning import Difference


def with_difference(page: Page, found: Difference) -> Page:
    """The page of a simulation, which begins with what a change makes of it."""
    own: list[Part] = [page.verdict]
    if found.displaced:
        own.append(Paragraph(f"{_displaced(found.displaced)}.", Level.WARNING))
    own += [Paragraph(f"{note[0].upper()}{note[1:]}.", Level.DETAIL) for note in found.notes]
    level = Level.WARNING if found.pending + found.failed > found.pending_before + found.failed_before else Level.GOOD
    is_bad = page.verdict.level is Level.BAD or bool(found.lost or found.may_be_lost)
    verdict = Paragraph(found.text, Level.BAD if is_bad else level)
    document = {**page.document, "whatIf": msgspec.to_builtins(found)}
    return msgspec.structs.replace(
        page, verdict=verdict, parts=(*own, *page.parts), document=document, notes=found.notes
    )


def _displaced(pods: Sequence[str]) -> str:
    lost = f"{count(len(pods), 'pod')} would be placed without this change, and would stay pending with it"
    return f"{lost}: {listed(pods)}"
