"""All findings about one text, with their lines: what is wrong, what is risky, and what comments silence."""

from collections.abc import Sequence

import msgspec

from kubesched.config.checks.extenders import extender_advice
from kubesched.config.checks.plugin_sets import plugin_set_advice
from kubesched.config.checks.process import process_advice
from kubesched.config.checks.review import Review
from kubesched.config.checks.rules import Finding
from kubesched.config.checks.scoring import scoring_advice
from kubesched.config.checks.silencing import read_silences
from kubesched.config.checks.written import Written
from kubesched.documents import Places

__all__ = ["advice_on", "locate_finding", "sort_findings"]


def advice_on(review: Review) -> list[Finding]:
    """What kube-scheduler accepts, but a reviewer would not."""
    return [
        *process_advice(review),
        *plugin_set_advice(review),
        *scoring_advice(review),
        *extender_advice(review),
    ]


def sort_findings(
    text: str, written: Written, further: Sequence[Finding]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Locate all findings, and put them in the order of the text. Where kube-scheduler rejects a field, advice on the
    field is left out.

    Args:
        further: findings that the text does not show by itself: about plugins, and advice.
    Returns: the findings to report, and those that comments silence.
    """
    silences = read_silences(text, written.places.root.line)
    rejected = {finding.path for finding in (*written.findings, *further) if finding.severity == "error"}
    sound = [
        finding
        for finding in further
        if not written.is_broken(finding.path) and (finding.severity == "error" or finding.path not in rejected)
    ]
    located = {
        (finding.rule, finding.line, finding.column, finding.message): finding
        for finding in (
            *(locate_finding(finding, written.places) for finding in (*written.findings, *sound)),
            *silences.findings,
        )
    }
    ordered = sorted(located.values(), key=lambda finding: (finding.line, finding.column, finding.rule))
    silenced = tuple(finding for finding in ordered if silences.silence(finding))
    return tuple(finding for finding in ordered if not silences.silence(finding)), silenced


def locate_finding(finding: Finding, places: Places) -> Finding:
    """The finding with the line and column of its field, or of the nearest parent in the text."""
    if finding.line:
        return finding
    place, is_there = places.root.nearest(finding.path)
    line, column = place.key if finding.at_key and is_there and place.key else place.shown
    return msgspec.structs.replace(finding, line=line, column=column)
