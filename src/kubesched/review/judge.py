"""Goes through all stages of a configuration, and on to what kube-scheduler accepts, but a reviewer would not."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from kubesched.api import as_int64
from kubesched.config import (
    ConfigSource,
    Duration,
    Finding,
    KubeSchedulerConfiguration,
    Reading,
    ReadingStage,
    ToV1,
    entry_path,
    profile_document,
    read_stages,
    written_entries,
)
from kubesched.review.arguments import argument_advice
from kubesched.review.extender_advice import extender_advice
from kubesched.review.plugin_sets import plugin_set_advice
from kubesched.review.process import process_advice
from kubesched.review.reviewed import Review, review_of
from kubesched.review.scoring import scoring_advice
from kubesched.setup import Registry, enable_loaded, profile_findings

_ENTRY: Final = re.compile(r"profiles\[(\d+)\]\.(plugins\.\w+\.enabled|pluginConfig)\[(\d+)\](.*)")


class Judged(msgspec.Struct, frozen=True):
    """A configuration after all stages.

    Attributes:
        configuration: with the plugins that the user brings; None if the text is not a configuration of v1.
        findings: of all stages, in their order.
    """

    reading: Reading
    configuration: KubeSchedulerConfiguration | None
    findings: tuple[Finding, ...]

    @property
    def located(self) -> tuple[Finding, ...]:
        """The findings as a reviewer needs them: where the text has their fields, with advice on units."""
        return tuple(_in_original(_with_unit(finding), self.reading) for finding in self.findings)


def judge(source: ConfigSource, registry: Registry, to_v1: ToV1) -> Judged:
    """Read a configuration to its end, however many faults it has.

    Advice on what is left out is left out, too.

    Args:
        registry: the plugins of the scheduler that is to read it.
        to_v1: converts an older version.
    """
    *_, (_, reading) = read_stages(
        Reading(source.text, registry.args_types, source.flags, to_v1=to_v1, release=registry.release)
    )
    if reading.fields is None:
        return Judged(reading, None, reading.findings)
    configuration = enable_loaded(reading.configuration, registry)
    wrong = [finding.path for finding in reading.findings]
    of_profiles = profile_findings(configuration, registry, [], document=reading.document, wrong=wrong)
    further = (*of_profiles, *_advice_on(review_of(configuration, reading.document, registry)))
    sound = (finding for finding in further if not reading.is_broken(finding.path))
    return Judged(reading, configuration, (*reading.findings, *sound))


def _advice_on(review: Review) -> Iterator[Finding]:
    yield from process_advice(review)
    yield from plugin_set_advice(review)
    yield from scoring_advice(review)
    yield from argument_advice(review)
    yield from extender_advice(review)


def _with_unit(finding: Finding) -> Finding:
    """What to write instead of a number; the author of a file may mean nanoseconds."""
    if finding.rule != "wrong-type" or not finding.path.endswith("httpTimeout") or "found" not in finding.message:
        return finding
    value = finding.message.rpartition(" ")[2]
    number = as_int64(value)
    meant = f'; as nanoseconds, {value} is "{Duration(number / 10**9)}"' if number is not None and number >= 0 else ""
    return msgspec.structs.replace(finding, help=f'write a number with a unit, such as "5s"{meant}')


def _in_original(finding: Finding, reading: Reading) -> Finding:
    """The finding at the same field of an older version, where the lists of plugins are shorter."""
    original: Mapping[str, Any] = reading.written
    if not reading.is_converted or finding.line or finding.stage <= ReadingStage.CONVERSION:
        return finding
    path = finding.path
    if entry := _ENTRY.fullmatch(path):
        number, field, index, rest = entry.groups()
        names = [name for _, name, _ in written_entries(profile_document(reading.document, int(number)), field)]
        profile = (original.get("profiles") or [original])[int(number)]
        own = entry_path(profile, field, names[int(index)])
        path = f"profiles[{number}].{own}{rest}" if own else f"profiles[{number}].{field}"
    if "profiles" not in original:  # v1alpha1 has one, at the top
        path = path.removeprefix("profiles[0].")
    return msgspec.structs.replace(finding, path=path)
