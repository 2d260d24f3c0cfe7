"""The fixes of a report as lines for a shell: commands of kubectl, and comments for what no command does."""

import json
from collections.abc import Iterator

from kubesched.api import Patch, PatchTarget
from kubesched.documents import on_one_line
from kubesched.pages.formats.model import Hand, Page


def as_patch(page: Page) -> str:
    """The commands that apply the best fix of each group of pods, each under a comment with the pods and the fix.

    Every line that deletes something or opens a node says so behind it.
    """
    lines = [_comment(page.verdict.text)]
    for hand in page.hands:
        lines += ["", _comment(hand.title), *_steps(hand)]
    return "".join(f"{line}\n" for line in lines)


def _steps(hand: Hand) -> Iterator[str]:
    said = hand.patches[0].text if len({one.text for one in hand.patches}) == 1 else ""  # it is in the title
    for one in hand.patches:
        if one.commands and one.text != said:
            said = one.text
            yield _comment(said)
        if one.commands:
            yield from one.commands
        elif one.target is None or one.patch is None:
            yield _comment(f"by hand: {one.text}")
        else:
            yield _comment(_in_words(one, one.target))


def _in_words(patch: Patch, target: PatchTarget) -> str:
    """A patch that no command makes, such as that of a manifest."""
    where = f"{target.kind} {target.namespace}/{target.name}" if target.namespace else f"{target.kind} {target.name}"
    return f"in the manifest of {where}, as a {patch.type} merge patch: {json.dumps(patch.patch, sort_keys=True)}"


def _comment(text: str) -> str:
    return f"# {on_one_line(text)}"
