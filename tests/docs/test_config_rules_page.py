"""The page of the rules has a section for each rule of `kubesched config check`, under its severity."""

import re
import tomllib

from kubesched.config import RULES
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "config-rules.md").read_text(encoding="utf-8")
SEVERITIES = {"Errors": "error", "Warnings": "warning", "Notes": "note"}


def test_every_rule_has_a_section_in_the_order_of_the_rules():
    sections = [
        (heading, SEVERITIES[title])
        for title, body in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
        for heading in re.findall(r"^### (\S+)$", body, re.MULTILINE)
    ]
    assert sections == [(rule.name, rule.severity) for rule in RULES.values()]


def test_every_section_says_something():
    bodies = re.split(r"^### \S+\n", PAGE, flags=re.MULTILINE)[1:]
    assert all(len(body.partition("\n## ")[0].split()) >= 8 for body in bodies)


def test_every_address_leads_to_a_section():
    """SARIF demands an absolute address."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    headings = set(re.findall(r"^### (\S+)$", PAGE, re.MULTILINE))
    for rule in RULES.values():
        page, _, anchor = rule.help_uri.partition("#")
        home, _, path = page.partition("/blob/main/")
        assert home == project["urls"]["Homepage"]
        assert (ROOT / path).is_file()
        assert anchor in headings
