"""What is wrong with an old document: everything in one error, each fault with its line."""

from collections.abc import Sequence

from kubesched.config import Finding, ReadingStage
from kubesched.documents import locate
from kubesched.errors import ConfigError


def fault(path: str, message: str, advice: str = "") -> Finding:
    """A fault of a document that no version after it has."""
    return Finding("not-convertible", path, message, advice, stage=ReadingStage.CONVERSION)


def faults_error(findings: Sequence[Finding], text: str = "") -> ConfigError:
    """All faults as one exception, in the order of the text; the words of a single one come first.

    Args:
        findings: at least one.
        text: the one that the document is from; without it, there are no lines.
    """
    root = locate(text).root
    placed = sorted(((root.nearest(f.path)[0].shown, f) for f in findings), key=lambda pair: pair[0])
    lines = [(f"line {place[0]}: " if text else "", finding) for place, finding in placed]
    if len(lines) == 1:
        ((line, finding),) = lines
        rest = f"{line}{_shown_path(finding)}{finding.help}".removesuffix(": ")
        return ConfigError("\n  ".join(filter(None, (finding.message, rest))))
    shown = [f"{line}{_shown_path(f)}{'; '.join(filter(None, (f.message, f.help)))}" for line, f in lines]
    return ConfigError("\n  ".join([f"{len(shown)} fields are not valid", *shown]))


def _shown_path(finding: Finding) -> str:
    """The path and a colon, unless the message begins with it."""
    return "" if finding.message.startswith(finding.path) else f"{finding.path}: "
