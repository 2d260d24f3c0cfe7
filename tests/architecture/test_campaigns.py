"""Tests may import campaigns. A campaign takes a few builders from the tests, and these import no campaign."""

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.architecture.sources import ROOT, Module, parse_module

BUILDERS = {
    *("tests.extender.asking", "tests.extender.programmable"),
    *("tests.integration.api_client", "tests.integration.audit_log", "tests.integration.build"),
    *("tests.integration.cleaning", "tests.integration.control_plane", "tests.integration.extender_process"),
    *("tests.integration.live_process", "tests.integration.processes", "tests.integration.scheduler_process"),
    *(
        "tests.live.fake_cluster",
        "tests.reference.evaluate",
        "tests.review.checked_cases",
        "tests.serving.certificates",
    ),
}


def file_of(name: str) -> Path:
    return ROOT.joinpath(*name.split(".")).with_suffix(".py")


def parsed(file: Path) -> Module:
    return parse_module(".".join(file.relative_to(ROOT).with_suffix("").parts), file.read_text(encoding="utf-8"))


def targets(module: Module, folder: str) -> Iterator[str]:
    """The modules of a top-level folder that a module imports, or has names of."""
    for line in module.imports:
        if line.module.partition(".")[0] == folder:
            inner = [f"{line.module}.{name}" for name in line.names]
            yield from [name for name in inner if file_of(name).is_file()] or [line.module]


@cache
def of_campaigns(folder: str) -> dict[str, set[str]]:
    """What each module of campaigns/ imports from a folder."""
    files = sorted((ROOT / "campaigns").rglob("*.py"))
    return {module.name: set(targets(module, folder)) for module in map(parsed, files)}


def test_campaigns_take_nothing_but_builders_from_the_tests():
    others = {name: found - BUILDERS for name, found in of_campaigns("tests").items() if found - BUILDERS}
    assert others == {}


def test_each_builder_is_needed():
    assert set().union(*of_campaigns("tests").values()) >= BUILDERS


def test_builders_import_no_campaign():
    reached, todo = set(), sorted(BUILDERS)
    while todo:
        name = todo.pop()
        if name not in reached and file_of(name).is_file():
            reached.add(name)
            module = parsed(file_of(name))
            assert list(targets(module, "campaigns")) == [], name
            todo += targets(module, "tests")
    assert reached > BUILDERS


def names_of_campaigns() -> list[str]:
    return sorted(file.parent.name for file in (ROOT / "campaigns").glob("*/campaign.py"))


def test_each_campaign_is_described():
    page = (ROOT / "campaigns" / "README.md").read_text(encoding="utf-8")
    names = names_of_campaigns()
    assert len(names) > 10
    assert [name for name in names if f"\n| `{name}` |" not in page and f"\n| [`{name}`](" not in page] == []


def test_each_campaign_runs_at_night():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8"))
    nightly = workflow["jobs"]["campaign"]["strategy"]["matrix"]["include"]
    assert list(dict.fromkeys(entry["name"] for entry in nightly)) == names_of_campaigns()


@pytest.mark.parametrize("folder", ["benchmarks", "campaigns"])
def test_every_program_that_is_run_by_hand_can_be_loaded(folder: str):
    for file in sorted((ROOT / folder).rglob("*.py")):
        if "-" not in file.stem:
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
