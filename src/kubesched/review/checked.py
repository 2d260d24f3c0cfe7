"""All findings about one text, with their lines: what is wrong, what is risky, and what comments silence."""

import re
from collections.abc import Iterable

import msgspec

from kubesched.config import Finding, KubeSchedulerConfiguration, ReadingStage
from kubesched.documents import TextPlaces
from kubesched.review.silencing import Silences


class Checked(msgspec.Struct, frozen=True):
    """What is to be said about a configuration; each finding has its line, in the order of the text.

    Attributes:
        error: what kube-scheduler, or kubesched, prints when it rejects the configuration, our help on indented
            lines; empty if it accepts it. It is about the first stage with a fault, the findings are about all.
        configuration: complete, of what could be decoded; None if there is no configuration of v1, or
            of an older version that kubesched reads.
        reported: what is to be reported about the configuration.
        silenced: findings that comments silence.
    """

    error: str
    configuration: KubeSchedulerConfiguration | None
    _places: TextPlaces
    _silences: Silences
    reported: tuple[Finding, ...] = ()
    silenced: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is to be reported, also about comments that silence nothing.

        If kube-scheduler rejects the configuration, advice is left out, so comments for it are not judged.
        """
        if self.has_error:
            return self.reported
        return _sorted((*self.reported, *self._silences.unused(self.silenced)))

    @property
    def has_error(self) -> bool:
        """Whether something that is reported is an error."""
        return any(finding.severity == "error" for finding in self.reported)

    def with_further(self, further: Iterable[Finding]) -> "Checked":
        """The same with more findings; one without a line gets that of its field, or of the nearest parent."""
        located = [_located(finding, self._places) for finding in further]
        silenced = [finding for finding in located if self._silences.silence(finding)]
        reported = [finding for finding in located if not self._silences.silence(finding)]
        return msgspec.structs.replace(
            self, reported=_sorted((*self.reported, *reported)), silenced=_sorted((*self.silenced, *silenced))
        )


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    distinct = {(finding.line, finding.column, finding.rule, finding.message): finding for finding in findings}
    return tuple(sorted(distinct.values(), key=lambda finding: (finding.line, finding.column, finding.rule)))


def _located(finding: Finding, places: TextPlaces) -> Finding:
    if finding.line:
        return finding
    place, is_there = places.root.nearest(finding.path)
    line, column = place.key if finding.at_key and is_there and place.key else place.shown
    if finding.stage is ReadingStage.SYNTAX:
        line, column = places.fault or _json_position(finding.message)
    return msgspec.structs.replace(finding, line=line, column=column)


def _json_position(message: str) -> tuple[int, int]:
    """Python's JSON decoder ends its message with `line 3 column 5 (char 40)`."""
    place = re.search(r"line (\d+) column (\d+)", message)
    return (int(place[1]), int(place[2])) if place else (1, 1)
