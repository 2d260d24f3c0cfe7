"""Reads the results of Ginkgo, and lays those of two schedulers side by side."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Result:
    """What came of one test.

    Attributes:
        name: without the group.
        state: Ginkgo's word, such as "passed".
        seconds: that it took.
        reason: the first line of what it says about its failure, or "".
    """

    name: str
    state: str
    seconds: float
    reason: str


def read_results(file: Path) -> list[Result]:
    """The tests that ran, by name; none if the file is missing."""
    if not file.exists():
        return []
    specs = json.loads(file.read_text())[0]["SpecReports"]
    tests = [spec for spec in specs if spec["LeafNodeType"] == "It" and spec["State"] not in ("skipped", "pending")]
    return sorted(map(_result, tests), key=lambda result: result.name)


def _result(spec: dict) -> Result:
    name = " ".join((*spec["ContainerHierarchyTexts"], spec["LeafNodeText"])).removeprefix("[sig-scheduling] ")
    reason = spec.get("Failure", {}).get("Message", "").partition("\n")[0]
    return Result(name, spec["State"], spec["RunTime"] / 1e9, reason)


def lost_tests(theirs: list[Result], ours: list[Result]) -> list[str]:
    """The tests that kube-scheduler passes and kubesched does not."""
    passed = {result.name for result in ours if result.state == "passed"}
    return [result.name for result in theirs if result.state == "passed" and result.name not in passed]


def table(theirs: list[Result], ours: list[Result]) -> str:
    """One row for each test, in Markdown."""
    left, right = ({result.name: result for result in results} for results in (theirs, ours))
    rows = ["| test | kube-scheduler | kubesched | first line of the failure |", "|---|---|---|---|"]
    for name in sorted(left.keys() | right.keys()):
        both = [results.get(name) for results in (left, right)]
        states = [f"{result.state}, {result.seconds:.0f} s" if result else "did not run" for result in both]
        reason = next((result.reason for result in both if result and result.reason), "").replace("|", "\\|")
        rows.append(f"| {name} | {' | '.join(states)} | {reason} |")
    return "\n".join(rows)


def with_entry(page: str, section: str) -> str:
    """A page with one more section, before the older ones."""
    head, heading, older = page.partition("\n## ")
    return f"{head}\n{section}{heading}{older}"
