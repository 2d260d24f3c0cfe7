"""Each finding of `kubesched config check` with its line and column, and none on what is right."""

import pytest

from kubesched.config import RULES
from kubesched.setup import check_configuration
from tests.config.test_load import CASES, LEADS_ELSEWHERE, OUR_WORDS
from tests.setup.checked_cases import FOLDER, CheckedCase, cases

FAULTY = {
    f"{file}: {name}": case
    for file in ("fields.txt", "arguments.txt", "plugins.txt", "risks.txt")
    for name, case in cases(file).items()
}
CLEAN = cases("clean.txt")
NEED_MORE = {"rejected", "extender-probe", "shared-lease", "plugin-init", "unreachable-bind"}
"""Rules that no text alone can break."""


@pytest.mark.parametrize("case", FAULTY.values(), ids=FAULTY)
def test_every_finding_has_its_line_and_column(case: CheckedCase):
    checked = check_configuration(case.text)
    assert sorted((one.rule, one.line, one.column) for one in checked.findings) == case.expected
    assert bool(checked.error) == any(one.severity == "error" for one in checked.findings)
    assert all(one.message for one in checked.findings)


@pytest.mark.parametrize("case", CLEAN.values(), ids=CLEAN)
def test_nothing_is_found_in_a_clean_file(case: CheckedCase):
    checked = check_configuration(case.text)
    assert (checked.error, checked.findings, case.expected) == ("", (), [])


def test_there_are_enough_cases_and_every_rule_has_one():
    assert len(FAULTY) >= 150
    broken = {rule for case in FAULTY.values() for rule, _, _ in case.expected}
    assert broken | NEED_MORE == set(RULES)
    assert sorted(path.name for path in FOLDER.iterdir()) == [
        "arguments.txt",
        "clean.txt",
        "fields.txt",
        "plugins.txt",
        "risks.txt",
    ]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if not case["accepted"] and case["name"] not in {*LEADS_ELSEWHERE, *OUR_WORDS}],
    ids=lambda case: case["name"],
)
def test_a_finding_has_the_words_of_kube_scheduler(case):
    errors = [one for one in check_configuration(case["config"]).findings if one.severity == "error"]
    plugin = 'initializing plugin "NodeResourcesFit": '  # upstream has it once for several faults
    assert any(one.message.removeprefix(plugin) in case["error"] for one in errors)
