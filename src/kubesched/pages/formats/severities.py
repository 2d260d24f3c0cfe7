"""How findings are shown wherever they are: the colour of a severity, and how many there are of each."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from kubesched.config import Finding, Severity
from kubesched.documents import count
from kubesched.pages.formats.model import Cell, Level

_LEVELS: Final[dict[Severity, Level]] = {"error": Level.BAD, "warning": Level.WARNING, "note": Level.DETAIL}


def severity_cell(finding: Finding) -> Cell:
    """The severity of a finding as the entry of a table."""
    return Cell(finding.severity, level=_LEVELS[finding.severity])


def worst_level(findings: Iterable[Finding]) -> Level:
    """The colour of a verdict on all of them."""
    found = {finding.severity for finding in findings}
    return Level.BAD if "error" in found else Level.WARNING if "warning" in found else Level.GOOD


def severity_counts(findings: Iterable[Finding], n_silenced: int) -> str:
    """How many there are: `2 errors, 1 note; 3 silenced`."""
    found = Counter(finding.severity for finding in findings)
    counts = [count(found[severity], severity) for severity in _LEVELS if found[severity]]
    silenced = f"; {n_silenced} silenced" if n_silenced else ""
    return f"{', '.join(counts) or 'no findings'}{silenced}"


def finding_text(finding: Finding) -> str:
    """What is found, and on the next line what to do."""
    return "\n".join(filter(None, [finding.message, finding.help]))
