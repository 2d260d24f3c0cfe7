"""The rules that documentation is checked by without running it: `python -m tests.docs.lint`, a part of `make lint`.

- No page, help text, message, docstring or comment has a phrase that has confused readers (`wording.py`).
- Each link between pages leads to a file, and to a heading of it.
- Each public function has an example in its docstring.

It prints each finding as `file:line: what is wrong`, and ends with 1 if there are any.
"""

import ast
import importlib
import inspect
import io
import re
import sys
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from kubesched.cli import main
from tests.docs.pages import ROOT, pages
from tests.docs.wording import Place, confusing, without_code

LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
FOR_USERS = ("kubesched", "kubesched.testing")
"""The modules whose functions have examples."""


def texts() -> list[Path]:
    """All that is written for readers: the pages, and what no test runs."""
    others = [ROOT / name for name in ("CHANGELOG.md", "benchmarks/README.md", "campaigns/README.md")]
    return [*pages(), *others, *sorted((ROOT / "changelog.d").glob("*.md"))]


def prose(page: Path) -> Place:
    return Place(_name(page), 1, without_code(page.read_text(encoding="utf-8")))


def help_texts() -> Iterator[Place]:
    for name, command in _commands(main, "kubesched"):
        context = click.Context(command, info_name=name, terminal_width=10_000, max_content_width=10_000)
        yield Place(f"{name} --help", 1, command.get_help(context))


def source_texts(path: Path) -> Iterator[Place]:
    """What calls are given, docstrings and comments: f-strings without their values, and no code."""
    name, source = _name(path), path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield Place(name, argument.lineno, _text_of(argument))
        elif isinstance(node, ast.Expr):
            yield Place(name, node.lineno, without_code(_text_of(node.value)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Place(name, token.start[0], without_code(token.string))


def broken_links(page: Path) -> Iterator[str]:
    """Links to files and headings that do not exist; what is in code is not a link."""
    text = prose(page)
    for match in LINK.finditer(text.text):
        target, _, heading = match["target"].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = page.parent / target if target else page
        if not file.exists():
            yield text.finding(match.start(), f"the link leads to {target}, which does not exist")
        elif heading and file.suffix == ".md" and heading not in anchors(file):
            yield text.finding(
                match.start(), f"the link leads to #{heading}, which {target or 'the page'} does not have"
            )


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them, and the anchors that are written in it."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    found = list(re.findall(r'<a (?:id|name)="([^"]+)"', text))
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        n_before = sum(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other) is not None for other in found)
        found.append(f"{anchor}-{n_before}" if n_before else anchor)
    return set(found)


def without_example(modules: Iterable[str] = FOR_USERS) -> Iterator[str]:
    """Functions that a module lists, and whose docstring has no example."""
    for module in map(importlib.import_module, modules):
        for function in filter(inspect.isfunction, (getattr(module, name) for name in module.__all__)):
            if not example_of(function):
                code = function.__code__
                where = Place(_name(Path(code.co_filename)), code.co_firstlineno, "")
                yield where.finding(0, f"{module.__name__}.{function.__name__} has no example in its docstring")


def example_of(known: object) -> str:
    """The Example section of a docstring; empty if there is none."""
    _, found, rest = (inspect.getdoc(known) or "").partition("Example:\n")
    lines = []
    for line in rest.splitlines() if found else ():
        if line and not line.startswith(" "):
            break
        lines.append(line)
    return textwrap.dedent("\n".join(lines))


def findings() -> Iterator[str]:
    """All that is wrong in this clone."""
    yield from confusing(map(prose, texts()))
    yield from confusing(help_texts())
    for path in sorted((ROOT / "src").rglob("*.py")):
        yield from confusing(source_texts(path))
    for page in texts():
        yield from broken_links(page)
    yield from without_example()


def _commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    for child, found in getattr(command, "commands", {}).items():
        yield from _commands(found, f"{name} {child}")


def _text_of(expression: ast.expr) -> str:
    if isinstance(expression, ast.Constant):
        return expression.value if isinstance(expression.value, str) else ""
    if isinstance(expression, ast.JoinedStr):
        return "".join(_text_of(value) if isinstance(value, ast.Constant) else "{}" for value in expression.values)
    return ""


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name


if __name__ == "__main__":
    if found := list(findings()):
        sys.exit("\n".join(found))
