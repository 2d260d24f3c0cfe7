"""The pages about the source name files and functions that exist."""

import re

import pytest

from tests.docs.pages import ROOT

ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PAGES = [ROOT / "docs/architecture.md", ROOT / "docs/upstream-map.md", *sorted((ROOT / "docs/decisions").glob("*.md"))]
PATH = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
STEP = re.compile(r"^\d+\. \*\*`(?P<path>[a-z_/]+\.py)`.*?(?=^\d+\. |\n\n)", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_file_that_a_page_names_exists(page):
    named = set(PATH.findall(page.read_text(encoding="utf-8")))
    assert {path for path in named if not any((top / path).exists() for top in (ROOT, ROOT / "src/kubesched"))} == set()


def test_the_life_of_a_pod_names_functions_of_its_files():
    section = ARCHITECTURE.partition("## The life of one pod")[2].partition("\n## ")[0]
    steps = list(STEP.finditer(section))
    assert len(steps) == 10
    for step in steps:
        source = (ROOT / "src/kubesched" / step["path"]).read_text(encoding="utf-8")
        named = re.findall(r"`([a-z_]+)\(\)`", step[0])
        assert named, step["path"]
        assert {name for name in named if f"def {name}(" not in source} == set(), step["path"]
