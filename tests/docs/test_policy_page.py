"""The page from Policy to v1 has every predicate and priority, with the plugin that the conversion gives it."""

import re

from kubesched.legacy.dialects.policy_tables import PREDICATES, PRIORITIES
from kubesched.legacy.dialects.replaced import RENAMED, STRATEGIES
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "guides" / "from-policy-to-v1.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, str]:
    """First cell -> second cell of the table below a heading."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| (\w+) \| ([\w, ]+) \|", section, re.MULTILINE)[1:])


def test_every_predicate_is_on_the_page():
    today = {name: ", ".join(RENAMED.get(plugin, plugin) for plugin in plugins) for name, plugins in PREDICATES.items()}
    assert rows("Predicates") == today


def test_every_priority_is_on_the_page():
    strategies = {plugin: f"NodeResourcesFit, strategy {strategy}" for plugin, strategy in STRATEGIES.items()}
    assert rows("Priorities") == {name: strategies.get(plugin, plugin) for name, plugin in PRIORITIES.items()}
