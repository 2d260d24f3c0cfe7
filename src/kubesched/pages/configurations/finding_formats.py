"""Prints findings about configurations: as text with source lines, as SARIF, as commands of GitHub workflows, and as a
report, which has all other formats.

SARIF: version 2.1.0. Both SARIF and GitHub have the severities error, warning and note or notice.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec

from kubesched.config import RULES, ConfigSource, Finding
from kubesched.pages.formats import (
    Align,
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Table,
    fields,
    finding_text,
    severity_cell,
    severity_counts,
    version_fields,
    worst_level,
)
from kubesched.release import DEFAULT_RELEASE, ReadingVersion, Release
from kubesched.review import Checked
from kubesched.version import VERSION

_MAX_OF_RULE: Final = 50  # findings of one rule, in text
_MAX_SHOWN: Final = 100  # characters of a source line
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


class CheckedFile(msgspec.Struct, frozen=True):
    """The result for one configuration.

    Attributes:
        calls: of --probe; None without it.
        release: the version that reads it.
    """

    source: ConfigSource
    checked: Checked
    calls: list[dict[str, Any]] | None = None
    release: Release = DEFAULT_RELEASE

    @property
    def name(self) -> str:
        """The file, with the place of the configuration in it where that is not the whole file."""
        return str(self.source)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """In the order of the text."""
        return self.checked.findings

    @property
    def silenced(self) -> tuple[Finding, ...]:
        """Findings that comments silence."""
        return self.checked.silenced

    def with_further(self, findings: Iterable[Finding]) -> "CheckedFile":
        """The same with more findings."""
        return msgspec.structs.replace(self, checked=self.checked.with_further(findings))

    @property
    def error(self) -> str:
        """What kube-scheduler prints, and where; empty if it accepts the configuration."""
        return f"{self.checked.error}\n  in {self.source}" if self.checked.error else ""


def as_text(file: CheckedFile) -> str:
    """kube-scheduler's sentence, the calls of --probe, and each finding with its source line."""
    by_rules = "" if file.release == DEFAULT_RELEASE else f" by the rules of {file.release}"
    lines = [file.error or f"{file.name}: accepted{by_rules}", *_calls(file)]
    inner = re.split(r"\r\n|[\r\n]", file.source.text)
    shown = Counter[str]()
    for finding in file.findings:
        shown[finding.rule] += 1
        if shown[finding.rule] <= _MAX_OF_RULE:
            lines += ["", *_finding_lines(file, finding, inner)]
    lines += [f"... and {n - _MAX_OF_RULE} more [{rule}]" for rule, n in shown.items() if n > _MAX_OF_RULE]
    if file.findings or file.silenced:
        lines += ["", _counted([file])]
    return "".join(f"{line}\n" for line in lines)


def _document(file: CheckedFile) -> dict[str, Any]:
    """The result as JSON."""
    message, *advice = file.error.split("\n  ") if file.error else [None]
    document: dict[str, Any] = {
        "accepted": not file.error,
        "error": message,
        "file": file.name,
        "findings": [_finding_document(file, finding) for finding in file.findings],
        "help": advice,
        "silenced": len(file.silenced),
    }
    if file.calls is not None:
        document["extenders"] = file.calls
    return document


def findings_page(files: Sequence[CheckedFile], failing: Collection[str]) -> Page:
    """The results as a report.

    Args:
        failing: the severities with which the command fails.
    """
    rejected = [file for file in files if file.error]
    level = worst_level(finding for file in files for finding in file.findings)
    accepted = f"{len(files) - len(rejected)} of {len(files)} accepted"
    if len(files) == 1:
        accepted = f"{files[0].name}: {'not ' if rejected else ''}accepted"
    documents = [_document(file) for file in files]
    return Page(
        "config-check" if len(files) == 1 else "config-check-files",
        Paragraph(f"{accepted}; {_counted(files)}.", level),
        (
            *(Paragraph(file.error, Level.BAD) for file in rejected),
            *(Paragraph(line) for file in files for line in _calls(file)),
            _findings_table(files),
        ),
        versions=tuple(dict.fromkeys(ReadingVersion(file.release) for file in files)),
        document=documents[0] if len(files) == 1 else {"files": documents},
        lines=[{"file": file.name, **_finding_document(file, one)} for file in files for one in file.findings],
        checks=[check for file in files for check in _checks(file, failing)],
    )


def _findings_table(files: Sequence[CheckedFile]) -> Table:
    columns = (
        Column("file"),
        Column("line", align=Align.NUMBER),
        Column("column", align=Align.NUMBER, is_wide=True),
        Column("severity"),
        Column("rule"),
        Column("path", "FIELD", is_wide=True),
        Column("message"),
        Column("help", is_wide=True),
    )
    rows: list[list[Cell | str]] = []
    for file in files:
        for finding in file.findings:
            line, column = file.source.position(finding.line, finding.column)
            place = (file.source.file, Cell(str(line), line), Cell(str(column), column))
            rows.append([*place, severity_cell(finding), finding.rule, finding.path, finding.message, finding.help])
    return Table("findings", "Findings", columns, rows)


def _checks(file: CheckedFile, failing: Collection[str]) -> Iterator[Check]:
    """Whether the file is accepted, and each finding; those with which the command fails are failures."""
    yield Check(file.name, "accepted", file.error)
    for finding in file.findings:
        line, column = file.source.position(finding.line, finding.column)
        first, _, _ = finding.message.partition("\n")
        name = f"{finding.rule} at {line}:{column}: {first}"
        yield Check(file.name, name, finding_text(finding) if finding.severity in failing else "")


def as_github(file: CheckedFile) -> str:
    """A workflow command for each finding, which GitHub shows next to the line."""
    return "".join(f"{_github_command(file, finding)}\n" for finding in file.findings)


def as_sarif(files: Sequence[CheckedFile]) -> dict[str, Any]:
    """One run with the findings of all files; silenced ones are suppressed results."""
    rules = [
        {
            "id": rule.name,
            "shortDescription": {"text": rule.summary},
            "helpUri": rule.help_uri,
            "defaultConfiguration": {"level": rule.severity},
        }
        for rule in RULES.values()
    ]
    numbers = {name: number for number, name in enumerate(RULES)}
    results = [
        _sarif_result(file, finding, numbers[finding.rule], is_silenced=finding in file.silenced)
        for file in files
        for finding in (*file.findings, *file.silenced)
    ]
    driver = {"name": "kubesched", "version": VERSION, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    run["properties"] = version_fields([*dict.fromkeys(ReadingVersion(file.release) for file in files)])
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _calls(file: CheckedFile) -> Iterator[str]:
    for call in file.calls or ():
        answer = call["error"] or f"answered in {1000 * call['seconds']:.0f} ms: {call['answer']}"
        yield f"{call['verb']}  {call['url']}  {answer}"
    configuration = file.checked.configuration
    if file.calls == [] and not (configuration and configuration.extenders):
        yield "there are no extenders to call"


def _finding_lines(file: CheckedFile, finding: Finding, source: list[str]) -> Iterator[str]:
    line, column = file.source.position(finding.line, finding.column)
    yield f"{file.source.file}:{line}:{column}: {finding.severity}: {finding.message} [{finding.rule}]"
    text = source[finding.line - 1] if finding.line <= len(source) else ""
    if text.strip() and not file.source.is_generated:
        first = max(0, finding.column - _MAX_SHOWN) if len(text) > _MAX_SHOWN else 0
        yield f"    {text[first : first + _MAX_SHOWN].replace(chr(9), ' ').rstrip()}"
        yield f"    {' ' * (finding.column - 1 - first)}^"
    for advice in finding.help.splitlines():
        yield f"  {advice}"


def _counted(files: Sequence[CheckedFile]) -> str:
    findings = (finding for file in files for finding in file.findings)
    return severity_counts(findings, sum(len(file.silenced) for file in files))


def _finding_document(file: CheckedFile, finding: Finding) -> dict[str, Any]:
    line, column = file.source.position(finding.line, finding.column)
    return {**fields(finding, "help", "message", "path", "rule", "severity"), "line": line, "column": column}


def _sarif_result(file: CheckedFile, finding: Finding, rule: int, *, is_silenced: bool) -> dict[str, Any]:
    line, column = file.source.position(finding.line, finding.column)
    region = {"startLine": line, "startColumn": column}
    place = {"artifactLocation": {"uri": quote(file.source.file.replace("\\", "/"))}, "region": region}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": {"text": finding_text(finding)},
        "locations": [{"physicalLocation": place}],
    }
    if is_silenced:
        result["suppressions"] = [{"kind": "inSource"}]
    return result


def _github_command(file: CheckedFile, finding: Finding) -> str:
    line, column = file.source.position(finding.line, finding.column)
    properties = {"file": file.source.file, "line": line, "col": column, "title": finding.rule}
    written = ",".join(f"{key}={_escaped(str(value), is_property=True)}" for key, value in properties.items())
    message = _escaped(finding_text(finding))
    return f"::{_COMMANDS[finding.severity]} {written}::{message}"


def _escaped(text: str, *, is_property: bool = False) -> str:
    """Rule: the runner of GitHub Actions unescapes these characters in workflow commands."""
    for character, escape in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(character, escape)
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text
