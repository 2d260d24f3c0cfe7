"""Runs the checks of a plugin without pytest, and describes the outcome as a report."""

import warnings
from collections.abc import Iterable, Sequence

import msgspec

from kubesched.framework import HOOK_FAULTS, located_line
from kubesched.pages.formats import Cell, Check, Column, Level, Page, Paragraph, Row, Table
from kubesched.testing.contract import ContractCheck


class CheckOutcome(msgspec.Struct, frozen=True):
    """What a check of the contract found.

    Attributes:
        name: of the check.
        problem: how the plugin breaks the contract; empty where it keeps it.
        warnings: what the check warned about.
    """

    name: str
    problem: str = ""
    warnings: tuple[str, ...] = ()


def run_checks(checks: Iterable[ContractCheck]) -> list[CheckOutcome]:
    """Call each check. A plugin that raises breaks the contract.

    Example:
        assert not any(outcome.problem for outcome in run_checks(check_plugin(TeamZone)))
    """
    return [_run(check) for check in checks]


def _run(check: ContractCheck) -> CheckOutcome:
    problem = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check()
        except AssertionError as error:
            problem = str(error)
        except HOOK_FAULTS as error:
            problem = located_line(error)
    return CheckOutcome(check.name, problem, tuple(dict.fromkeys(str(warning.message) for warning in caught)))


def contract_page(plugin: str, outcomes: Sequence[CheckOutcome], *, next_command: str = "") -> Page:
    """Describe what the checks of a plugin found.

    Example:
        page = contract_page("TeamZone", [CheckOutcome("scores are whole numbers")])
        assert page.verdict.text == "TeamZone passes all 1 checks of the contract."
    """
    broken = [outcome for outcome in outcomes if outcome.problem]
    verdict = (
        Paragraph(f"{plugin} fails {len(broken)} of {len(outcomes)} checks of the contract.", Level.BAD)
        if broken
        else Paragraph(f"{plugin} passes all {len(outcomes)} checks of the contract.", Level.GOOD)
    )
    rows: list[Row] = [
        [outcome.name, Cell("failed", level=Level.BAD) if outcome.problem else Cell("passed", level=Level.GOOD)]
        for outcome in outcomes
    ]
    table = Table("checks", "", (Column("check"), Column("result")), rows)
    names: dict[str, list[str]] = {}
    for outcome in broken:
        names.setdefault(outcome.problem, []).append(outcome.name)
    problems = [Paragraph(f"{', '.join(found_by)}:\n{problem}", Level.BAD) for problem, found_by in names.items()]
    warned = [Paragraph(f"Warning: {text}", Level.WARNING) for outcome in outcomes for text in outcome.warnings]
    checks = [
        {"name": outcome.name, "passed": not outcome.problem}
        | ({"problem": outcome.problem} if outcome.problem else {})
        | ({"warnings": list(outcome.warnings)} if outcome.warnings else {})
        for outcome in outcomes
    ]
    return Page(
        "plugin-check",
        verdict,
        (table, *problems, *warned),
        next_command="" if broken else next_command,
        document={"plugin": plugin, "checks": checks},
        lines=checks,
        checks=[Check(plugin, outcome.name, outcome.problem) for outcome in outcomes],
    )
