"""What applies a fix: commands to copy, and sentences about what no command does."""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from kubesched.api import Patch, PatchTarget
from kubesched.pages.formats.model import Level, Paragraph

_MERGES: Final = {"merge": "merge patch", "strategic": "strategic merge patch", "": "patch"}


def with_fix(why: str, fix: str, between: str = "\n") -> str:
    """Why a pod is harmed, and on a second line the best fix, if there is one; empty for a pod that is not."""
    return f"{why}{between}fix: {fix}" if why and fix else why


def hand(title: str, patches: Sequence[Patch]) -> Iterator[Paragraph]:
    """The steps under a heading.

    Args:
        title: for which pods, and the fix.
    """
    yield Paragraph(title, Level.HEADING)
    said = patches[0].text if len({one.text for one in patches}) == 1 else ""  # the title has it
    for one in patches:
        if one.commands:
            if one.text != said:
                yield Paragraph(f"{_sentence(one.text)}:")
            yield Paragraph("\n".join(one.commands), is_code=True, language="shell")
        elif one.target is None or one.patch is None:
            yield Paragraph(f"By hand: {one.text}.")
        else:
            yield Paragraph(_in_words(one, one.target))
        said = one.text


def _in_words(patch: Patch, target: PatchTarget) -> str:
    """A patch that no command makes, such as that of a manifest."""
    where = f"{target.kind} {target.namespace}/{target.name}" if target.namespace else f"{target.kind} {target.name}"
    return f"In the manifest of {where}, as a {_MERGES[patch.type]}: {json.dumps(patch.patch, sort_keys=True)}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
