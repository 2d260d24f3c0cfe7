"""Phrases that have confused readers do not come back: in the documentation, help texts, messages and the source.

Each pattern has the wording to use instead. kube-scheduler's own words do not match any of them.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
import pytest

from kubesched.cli import main
from tests.docs.pages import ROOT, pages

INSTEAD = {
    r"\b(that|which) comes? along\b": "bundled",
    r"\b(a|an) [\w ]{0,30}\bof yours\b": "your ...",
    r"\bof (your|its|their|our) own\b": "your ..., a separate ...",
    r"\banew\b": "again",
    r"\bagain and again\b": "repeatedly",
    r"\bseldom\b": "rarely",
    r"\bin vain\b": "without effect",
    r"\bbesides\b": "also",
    r"\bfor ever\b": "forever",
    r"\bmend(s|ed|ing)?\b": "fix",
    r"\bheeds?\b": "follow",
    r"\bpeople trip over\b": "common mistakes",
    r"\bexclude each other\b": "are mutually exclusive",
    r"\b(this|it|that) is no \w": "is not a ...",
    r"\bis no (YAML|JSON|UTF-8|base64|plugin|file|folder|duration|pod|text|number|result)\b": "is not ...",
    r"\ballowed (is|are|here)\b": "expected ...",
    r"\bsource of chance\b": "random seed",
    r"\b(under its|from one) feet\b": "say what happens",
    r"\bone may name\b": "can refer to",
    r"\bis for who\b": "is for people who",
    r"\bwhoever\b": "name the actor: every client, the caller",
    r"\bnobody\b": "no client, no plugin, ...",
    r"\b(is|are|was|were) told\b": "is reported, gets a message",
    r"\b(stands?|stood|standing) (in|beside|side by side|at|on|there)\b": "is in, is next to",
    r"\bread again when\b": "reloaded when",
    r"\bmade again\b": "re-created",
    r"\bnever seen\b": "not confirmed",
}
"""Pattern, in any case -> what to write."""

CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for child, found in getattr(command, "commands", {}).items():
        yield from commands(found, f"{name} {child}")


def help_texts() -> Iterator[tuple[str, int, str]]:
    for name, command in commands(main, "kubesched"):
        context = click.Context(command, info_name=name, terminal_width=10_000, max_content_width=10_000)
        yield f"{name} --help", 1, command.get_help(context)


def messages() -> Iterator[tuple[str, int, str]]:
    """File, line and text of every string that a call is given; f-strings without their values."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call):
                for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
                    yield str(path.relative_to(ROOT)), argument.lineno, text_of(argument)


def source_texts(path: Path) -> Iterator[tuple[str, int, str]]:
    """Every docstring and comment of a file, without the code in it."""
    name, source = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for statement in ast.walk(ast.parse(source)):
        if isinstance(statement, ast.Expr) and (text := text_of(statement.value)):
            yield name, statement.lineno, without_code(text)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield name, token.start[0], without_code(token.string)


def text_of(expression: ast.expr) -> str:
    if isinstance(expression, ast.Constant):
        return expression.value if isinstance(expression.value, str) else ""
    if isinstance(expression, ast.JoinedStr):
        return "".join(text_of(value) if isinstance(value, ast.Constant) else "{}" for value in expression.values)
    return ""


def prose(page: Path) -> tuple[str, int, str]:
    """A page without its code; the lines stay where they are."""
    return str(page.relative_to(ROOT)), 1, without_code(page.read_text(encoding="utf-8"))


def without_code(text: str) -> str:
    return CODE.sub(lambda code: "\n" * code[0].count("\n"), text)


def findings(places: Iterable[tuple[str, int, str]]) -> list[str]:
    return [
        f"{name}:{first + text.count(chr(10), 0, match.start())}: {' '.join(match[0].split())!r}; write: {instead}"
        for name, first, text in places
        for pattern, instead in INSTEAD.items()
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE)
    ]


@pytest.mark.parametrize(
    "page",
    [*pages(), ROOT / "benchmarks/README.md", ROOT / "campaigns/README.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_a_page_has_no_phrase_that_confused_readers(page: Path):
    assert not (found := findings([prose(page)])), "\n".join(found)


def test_help_texts_have_no_phrase_that_confused_readers():
    assert not (found := findings(help_texts())), "\n".join(found)


def test_messages_have_no_phrase_that_confused_readers():
    assert not (found := findings(messages())), "\n".join(found)


def test_docstrings_and_comments_have_no_phrase_that_confused_readers():
    package = ROOT / "src/kubesched"
    paths = sorted(package.rglob("*.py"))
    assert not (found := findings(text for path in paths for text in source_texts(path))), "\n".join(found)


def test_a_phrase_is_found_in_docstrings_and_comments_but_not_in_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.docs.test_wording.ROOT", tmp_path)
    module = tmp_path / "module.py"
    module.write_text(
        '"""Fine: `anew`."""\n\nanew = 1\n"""Not fine:\nread anew."""\nb = 2  # seldom\n', encoding="utf-8"
    )
    assert findings(source_texts(module)) == [
        "module.py:5: 'anew'; write: again",
        "module.py:6: 'seldom'; write: rarely",
    ]


def test_a_phrase_is_found_with_with_its_line_also_across_a_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.docs.test_wording.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("Fine. `anew`\n\n```text\nseldom\n```\nA cluster that comes\nalong.\n", encoding="utf-8")
    assert findings([prose(page)]) == ["page.md:6: 'that comes along'; write: bundled"]
