"""docs/guides/save-a-snapshot.md has the rights that a snapshot needs, and what is decided without each."""

import re

import yaml

from kubesched.api import KINDS
from kubesched.snapshot import READ_ANNOTATIONS
from tests.docs.pages import ROOT, read_blocks

PAGE = (ROOT / "docs/guides/save-a-snapshot.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> set[str]:
    """What is in backticks in the first cells of a table."""
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_the_role_lists_every_kind_and_allows_nothing_else():
    (role,) = [block for block in read_blocks(PAGE) if block.options.get("file") == "snapshot-reader.yaml"]
    rules = yaml.safe_load(role.text)["rules"]
    (status,) = [rule for rule in rules if rule.pop("resourceNames", None) == ["cluster-autoscaler-status"]]
    assert (status["resources"], status["verbs"]) == (["configmaps"], ["list"])
    rules.remove(status)
    granted = {(rule["apiGroups"][0], resource, *rule["verbs"]) for rule in rules for resource in rule["resources"]}
    assert granted == {(kind.group, kind.plural, "list") for kind in KINDS.values()}
    assert all(len(rule["apiGroups"]) == 1 for rule in rules)
    assert f"`list` for {len(KINDS)} kinds and for one ConfigMap" in PAGE


def test_every_kind_that_may_be_missing_has_its_effect():
    needed = {"nodes", "pods"}
    assert first_cells(section("The rights that it needs")) == {kind.plural for kind in KINDS.values()} - needed


def test_the_contents_name_every_kind_and_an_annotation_that_is_kept():
    contents = section("What it contains")
    assert first_cells(contents) == {kind.name for kind in KINDS.values()}
    assert any(f"`{annotation}`" in contents for annotation in READ_ANNOTATIONS)
