"""The pages of the rules have a section for each rule of `config check` and of `check`, under its severity."""

import re
import tomllib

import pytest

from kubesched.config import CLUSTER_RULES, RULES
from tests.docs.pages import ROOT

SEVERITIES = {"Errors": "error", "Warnings": "warning", "Notes": "note"}
PAGES = {"config-rules": RULES, "cluster-rules": CLUSTER_RULES}


def text_of(page):
    return (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_rule_has_a_section_in_the_order_of_the_rules(page):
    sections = [
        (heading, SEVERITIES.get(title, RULES[heading].severity if heading in RULES else ""))
        for title, body in re.findall(r"^## ([\w ]+)\n(.*?)(?=^## |\Z)", text_of(page), re.MULTILINE | re.DOTALL)
        for heading in re.findall(r"^### (\S+)$", body, re.MULTILINE)
    ]
    assert sections == [(rule.name, rule.severity) for rule in PAGES[page].values()]


@pytest.mark.parametrize("page", PAGES)
def test_every_section_says_something(page):
    bodies = re.split(r"^### \S+\n", text_of(page), flags=re.MULTILINE)[1:]
    assert all(len(body.partition("\n## ")[0].split()) >= 8 for body in bodies)


def test_every_address_leads_to_a_section():
    """SARIF demands an absolute address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    headings = {page: set(re.findall(r"^### (\S+)$", text_of(page), re.MULTILINE)) for page in PAGES}
    for rule in (*RULES.values(), *CLUSTER_RULES.values()):
        page, _, anchor = rule.help_uri.partition("#")
        home, _, path = page.partition("/blob/main/")
        assert home == project["urls"]["Homepage"]
        assert (ROOT / path).is_file()
        assert anchor in headings[rule.page]
