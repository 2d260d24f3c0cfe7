"""Reading Ginkgo's results, and comparing those of two schedulers."""

import json
from pathlib import Path

from campaigns.e2e.report import Result, lost_tests, read_results, table, with_entry

PASSED, FAILED = Result("Pods are placed", "passed", 2.4, ""), Result("Pods are placed", "failed", 9.6, "not placed")


def spec(name: str, state: str, **fields: object) -> dict[str, object]:
    containers = ["[sig-scheduling] Pods [Serial]", "in zones"]
    names = {"ContainerHierarchyTexts": containers, "LeafNodeType": "It", "LeafNodeText": name}
    return {**names, "State": state, "RunTime": 1_500_000_000, **fields}


def test_results_are_those_of_the_tests_that_ran_by_name(tmp_path: Path) -> None:
    specs = [
        spec("go", "failed", Failure={"Message": "Timed out.\nExpected ..."}),
        spec("come", "passed"),
        spec("rest", "skipped"),
        spec("", "passed", LeafNodeType="BeforeSuite"),
    ]
    (tmp_path / "results.json").write_text(json.dumps([{"SpecReports": specs}]))
    assert read_results(tmp_path / "results.json") == [
        Result("Pods [Serial] in zones come", "passed", 1.5, ""),
        Result("Pods [Serial] in zones go", "failed", 1.5, "Timed out."),
    ]


def test_a_run_that_did_not_end_has_no_results(tmp_path: Path) -> None:
    assert read_results(tmp_path / "results.json") == []


def test_a_test_is_lost_if_only_kube_scheduler_passes_it() -> None:
    assert lost_tests([PASSED], [PASSED]) == []
    assert lost_tests([PASSED], [FAILED]) == ["Pods are placed"]
    assert lost_tests([PASSED], []) == ["Pods are placed"]
    assert lost_tests([FAILED], [FAILED]) == []


def test_the_table_gives_the_reason_of_a_failure() -> None:
    assert table([PASSED], [FAILED]).splitlines()[2] == "| Pods are placed | passed, 2 s | failed, 10 s | not placed |"
    assert table([PASSED], []).splitlines()[2] == "| Pods are placed | passed, 2 s | did not run |  |"


def test_a_reason_does_not_end_its_cell() -> None:
    failed = Result("Pods are placed", "failed", 0, "expected a|b")
    assert table([failed], []).endswith(" | expected a\\|b |")


def test_the_newest_entry_of_the_page_is_the_first() -> None:
    page = with_entry("# Title\n\nText.\n", "## Monday\n\nFine.\n")
    assert page == "# Title\n\nText.\n\n## Monday\n\nFine.\n"
    newest = "# Title\n\nText.\n\n## Tuesday\n\nFine.\n\n## Monday\n\nFine.\n"
    assert with_entry(page, "## Tuesday\n\nFine.\n") == newest
