"""All findings about one text, with their lines: what is wrong, what is risky, and what comments silence."""

from collections.abc import Iterable, Sequence

import msgspec

from kubesched.config.checks.arguments import argument_advice
from kubesched.config.checks.extenders import extender_advice
from kubesched.config.checks.plugin_sets import plugin_set_advice
from kubesched.config.checks.process import process_advice
from kubesched.config.checks.review import Review
from kubesched.config.checks.rules import Finding
from kubesched.config.checks.scoring import scoring_advice
from kubesched.config.checks.silencing import Silences, read_silences
from kubesched.config.checks.written import Written
from kubesched.documents import Places


def advice_on(review: Review) -> list[Finding]:
    """What kube-scheduler accepts, but a reviewer would not."""
    return [
        *process_advice(review),
        *plugin_set_advice(review),
        *scoring_advice(review),
        *argument_advice(review),
        *extender_advice(review),
    ]


class Report(msgspec.Struct, frozen=True):
    """The findings about one text, each with its line, in the order of the text.

    Attributes:
        reported: what is to be reported about the configuration.
        silenced: what comments silence.
    """

    reported: tuple[Finding, ...]
    silenced: tuple[Finding, ...]
    _places: Places
    _silences: Silences

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is to be reported, also about comments that silence nothing.

        If kube-scheduler rejects the configuration, advice is left out, so comments for it are not judged.
        """
        if any(finding.severity == "error" for finding in self.reported):
            return self.reported
        return _sorted((*self.reported, *self._silences.unused(self.silenced)))

    def with_further(self, further: Iterable[Finding]) -> "Report":
        """The report with more findings; one without a line gets that of its field, or of the nearest parent."""
        located = [_locate(finding, self._places) for finding in further]
        silenced = [finding for finding in located if self._silences.silence(finding)]
        reported = [finding for finding in located if not self._silences.silence(finding)]
        return Report(
            _sorted((*self.reported, *reported)), _sorted((*self.silenced, *silenced)), self._places, self._silences
        )


def report_on(text: str, written: Written, further: Sequence[Finding]) -> Report:
    """Report everything about a text. Where kube-scheduler rejects a field, advice on the field is left out.

    Args:
        further: findings that the text does not show by itself: about plugins, and advice.
    """
    silences = read_silences(text, written.places.root.line)
    rejected = {finding.path for finding in (*written.findings, *further) if finding.severity == "error"}
    sound = [
        finding
        for finding in further
        if not written.is_broken(finding.path) and (finding.severity == "error" or finding.path not in rejected)
    ]
    return Report((), (), written.places, silences).with_further((*written.findings, *sound, *silences.findings))


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    distinct = {(one.line, one.column, one.rule, one.message): one for one in findings}
    return tuple(sorted(distinct.values(), key=lambda one: (one.line, one.column, one.rule)))


def _locate(finding: Finding, places: Places) -> Finding:
    if finding.line:
        return finding
    place, is_there = places.root.nearest(finding.path)
    line, column = place.key if finding.at_key and is_there and place.key else place.shown
    return msgspec.structs.replace(finding, line=line, column=column)
