"""A version of Kubernetes is in the tables of versions, or beside the rule that names it, and nowhere else in src."""

import ast
import re
from collections.abc import Iterator

from tests.architecture.sources import DEFINITIONS, Module, check_all, parse_module

TABLES = (
    "kubesched.release",
    "kubesched.api.ignored_fields",
    "kubesched.admission.known_fields",
)
"""Rooms and modules that say which version has what."""
MINOR = re.compile(r"(?<![\d.])1\.(3[3-9])(?!\d)")


def is_table(module: Module) -> bool:
    return any(module.name == table or module.name.startswith(table + ".") for table in TABLES)


def rules(text: str | None) -> set[int]:
    """The minor versions that the `Rule:` of a docstring names."""
    _, found, rule = (text or "").partition("Rule:")
    return {int(number) for number in MINOR.findall(rule)} if found else set()


def stray_versions(module: Module) -> Iterator[str]:
    """The switches and texts of a module that name a version which no rule around them names."""
    if not is_table(module):
        yield from (f"{module.name}:{line}: v1.{minor}" for line, minor in _stray(module.tree, set()))


def _stray(node: ast.AST, named: set[int]) -> Iterator[tuple[int, int]]:
    """(line, minor) below a node; `named` are the versions that the rules around it name."""
    if isinstance(node, DEFINITIONS | ast.Module):
        named = named | rules(ast.get_docstring(node))
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue  # a docstring
        for minor in _versions(child):
            if not {minor, minor - 1} & named:
                yield child.lineno, minor
        yield from _stray(child, named)


def _versions(node: ast.AST) -> Iterator[int]:
    """The minor versions in a text; in `before(36)`, `minor < 36` and `Release(36)`."""
    numbers: list[ast.expr] = []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from map(int, MINOR.findall(node.value))
    elif isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        numbers = [*node.args, *(keyword.value for keyword in node.keywords)] if name in ("before", "Release") else []
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        numbers = sides if any(_name(side).endswith("minor") for side in sides) else []
    for number in numbers:
        if isinstance(number, ast.Constant) and isinstance(number.value, int):
            yield number.value


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_a_version_is_named_beside_its_rule():
    check_all(stray_versions)


SWITCH = "def score(self): return 1 if self.release.before(36) else 2"
"""A rule with two variants."""


def test_a_switch_without_a_rule_is_found():
    found = {
        "": SWITCH,
        "Rule: kube-scheduler v1.36 has 2.": SWITCH,
        "Rule: kube-scheduler has 1 until v1.35.": SWITCH,
        "Rule: kube-scheduler v1.33.": SWITCH,
        "In v1.36.": SWITCH,
    }
    stray = {
        docs: list(stray_versions(parse_module("kubesched.plugins.x", f'"""X.\n\n{docs}\n"""\n{text}\n')))
        for docs, text in found.items()
    }
    assert [docs for docs, lines in stray.items() if lines] == ["", "Rule: kube-scheduler v1.33.", "In v1.36."]


def test_texts_comparisons_and_releases_are_found():
    lines = (
        'A = "as v1.36 does"',
        "B = x.release.minor >= 37",
        'C = f"since 1.35 {A}"',
        "D = Release(34)",
        'E = "11.36, 1.360, 1.29"',
    )
    text = "\n".join(lines)
    stray = list(stray_versions(parse_module("kubesched.cli.x", text)))
    assert stray == [f"kubesched.cli.x:{line}: v1.{minor}" for line, minor in ((1, 36), (2, 37), (3, 35), (4, 34))]
    assert list(stray_versions(parse_module("kubesched.release.x", text))) == []
