"""Comments that silence rules: `# kubesched: ignore RULE[, RULE] [reason]`.

Such a comment counts for its own line and the next one; above the first key it counts for the whole file. Only YAML has
comments. What kube-scheduler rejects cannot be silenced.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

import msgspec

from kubesched.config import RULES, Finding, silencing_fault

_COMMENT: Final = re.compile(r"(?:^|(?<=\s))# *kubesched: *ignore\b[ \t:]*(?P<rest>.*)")
_NAMES: Final = re.compile(r"[\w-]+(?:\s*,\s*[\w-]+)*")
_UNUSED: Final = "unused-silence"
_NEVER_UNUSED: Final = (_UNUSED, "shared-lease")
"""Another configuration, which is not checked now, may have the same lease."""


class _Comment(msgspec.Struct, frozen=True):
    """A comment that silences rules.

    Attributes:
        is_for_all: whether it counts for the whole file.
    """

    rules: tuple[str, ...]
    line: int
    column: int
    is_for_all: bool

    def silences(self, finding: Finding) -> bool:
        return finding.rule in self.rules and (self.is_for_all or finding.line in (self.line, self.line + 1))


class Silences(msgspec.Struct, frozen=True):
    """What the comments of a file silence.

    Attributes:
        comments: in the order of the file.
        findings: comments that are not right.
    """

    comments: tuple[_Comment, ...]
    findings: tuple[Finding, ...]

    def silence(self, finding: Finding) -> bool:
        """Whether a comment silences a finding that is located."""
        return finding.severity != "error" and any(comment.silences(finding) for comment in self.comments)

    def unused(self, silenced: Collection[Finding]) -> Iterator[Finding]:
        """A note for each comment with rules that silence nothing, unless that is silenced as well.

        Args:
            silenced: everything that the comments silence.
        """
        for comment in self.comments:
            used = {finding.rule for finding in silenced if comment.silences(finding)}
            idle = [rule for rule in comment.rules if rule not in used and _can_be_unused(rule)]
            message = f"the comment silences no {' and no '.join(idle)}: nothing is found"
            note = Finding(_UNUSED, "", message, "remove what is not needed any more", comment.line, comment.column)
            if idle and not self.silence(note):
                yield note


def _can_be_unused(rule: str) -> bool:
    return rule in RULES and RULES[rule].severity != "error" and rule not in _NEVER_UNUSED


def read_silences(text: str, first_key_line: int) -> Silences:
    """Read the comments of a YAML text.

    Args:
        first_key_line: comments before this line count for the whole file.
    """
    comments: list[_Comment] = []
    findings: list[Finding] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        names = _NAMES.match(comment["rest"])
        rules = re.split(r"\s*,\s*", names[0]) if names else []
        findings += _wrong(rules, number, comment.start() + 1)
        comments.append(_Comment(tuple(rules), number, comment.start() + 1, number < first_key_line))
    return Silences(tuple(comments), tuple(findings))


def _wrong(rules: Iterable[str], line: int, column: int) -> list[Finding]:
    faults = (silencing_fault(rule, RULES) for rule in rules)
    findings = [Finding("unknown-rule", "", *fault, line, column) for fault in faults if fault is not None]
    if not rules:
        message = "the comment names no rule, so it silences nothing"
        findings.append(Finding("unknown-rule", "", message, "write # kubesched: ignore RULE", line, column))
    return findings
