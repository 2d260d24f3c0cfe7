"""Configurations with what is to be found in them: `checked/*.txt`.

A case begins with `=== name`. Two lines with apiVersion and kind are put in front of its text, unless its name ends
with `(whole)`. A comment `# <- rule token` marks its line with an expected finding, which points at the first `token`
of the line; `;` separates several.
"""

import re
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "checked"
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
_MARK = re.compile(r" *# <- (.*)$")


class CheckedCase(NamedTuple):
    """A configuration.

    Attributes:
        expected: rule, line and column of each finding, from 1, sorted.
    """

    text: str
    expected: list[tuple[str, int, int]]


def _case(name: str, body: str) -> CheckedCase:
    lines, expected = [], []
    marked = (body if name.endswith("(whole)") else HEADER + body).splitlines()
    for number, line in enumerate(marked, 1):
        mark = _MARK.search(line)
        text = line[: mark.start()] if mark else line
        for one in mark[1].split("; ") if mark else ():
            rule, _, token = one.partition(" ")
            if token not in text:
                text = line  # the finding is about the comment itself
            expected.append((rule, number, 1 + text.index(token)))
        lines.append(text)
    return CheckedCase("".join(f"{line}\n" for line in lines), sorted(expected))


def cases(file: str) -> dict[str, CheckedCase]:
    """The cases of a file by name."""
    found = {}
    for part in f"\n{(FOLDER / file).read_text(encoding='utf-8')}".split("\n=== ")[1:]:
        name, _, body = part.partition("\n")
        assert name not in found, name
        found[name] = _case(name, body)
    return found
