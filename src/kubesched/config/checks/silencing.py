"""Comments that silence rules: `# kubesched: ignore RULE[, RULE] [reason]`.

Such a comment counts for its own line and the next one; above the first key it counts for the whole file. Only YAML has
comments. What kube-scheduler rejects cannot be silenced.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from kubesched.config.checks.rules import RULES, Finding
from kubesched.config.field_errors import did_you_mean

__all__ = ["Silences", "read_silences"]

_COMMENT: Final = re.compile(r"(?:^|(?<=\s))# *kubesched: *ignore\b[ \t:]*(?P<rest>.*)")
_NAMES: Final = re.compile(r"[\w-]+(?:\s*,\s*[\w-]+)*")


class Silences(msgspec.Struct, frozen=True):
    """What the comments of a file silence.

    Attributes:
        everywhere: rules for the whole file.
        lines: rules by line.
        findings: comments that are not right.
    """

    everywhere: frozenset[str]
    lines: dict[int, frozenset[str]]
    findings: tuple[Finding, ...]

    def silence(self, finding: Finding) -> bool:
        """Whether a comment silences a finding that is located."""
        if finding.severity == "error":
            return False
        return finding.rule in self.everywhere or finding.rule in self.lines.get(finding.line, ())


def read_silences(text: str, first_key_line: int) -> Silences:
    """Read the comments of a YAML text.

    Args:
        first_key_line: comments before this line count for the whole file.
    """
    everywhere: set[str] = set()
    lines: dict[int, frozenset[str]] = {}
    findings: list[Finding] = []
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        comment = _COMMENT.search(line)
        if comment is None:
            continue
        names = _NAMES.match(comment["rest"])
        rules = re.split(r"\s*,\s*", names[0]) if names else []
        findings += _wrong(rules, number, comment.start() + 1)
        if number < first_key_line:
            everywhere.update(rules)
        for there in (number, number + 1):
            lines[there] = lines.get(there, frozenset()) | frozenset(rules)
    return Silences(frozenset(everywhere), lines, tuple(findings))


def _wrong(rules: Iterable[str], line: int, column: int) -> list[Finding]:
    findings = []
    for rule in rules:
        if rule not in RULES:
            advice = did_you_mean(rule, RULES) or "docs/reference/config-rules.md lists the rules"
            findings.append(Finding("unknown-rule", "", f'there is no rule "{rule}"', advice, line, column))
        elif RULES[rule].severity == "error":
            message = f"{rule} cannot be silenced"
            findings.append(Finding("unknown-rule", "", message, "correct what it finds", line, column))
    if not rules:
        message = "the comment names no rule, so it silences nothing"
        findings.append(Finding("unknown-rule", "", message, "write # kubesched: ignore RULE", line, column))
    return findings
