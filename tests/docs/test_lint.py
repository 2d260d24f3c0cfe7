"""Each rule of the linter finds what breaks it."""

import sys
import types
from pathlib import Path

import pytest

from tests.docs.lint import ROOT, broken_links, example_of, texts, without_example


def test_a_link_to_a_file_that_does_not_exist_is_found(tmp_path: Path):
    page = tmp_path / "page.md"
    (tmp_path / "there.md").write_text("# x\n")
    page.write_text(
        "[a](there.md#x) `[b](b.md)` [c](https://example.com) ![d](d.png)\n```text\n[e](e.md)\n```\n[f](f.md#x)\n"
    )
    assert list(broken_links(page)) == ["page.md:5: the link leads to f.md, which does not exist"]


def test_a_link_to_a_heading_that_does_not_exist_is_found(tmp_path: Path):
    page = tmp_path / "page.md"
    (tmp_path / "there.md").write_text("# `fit -o json`, twice\n## Same\n## Same\n```text\n# code\n```\n")
    page.write_text(
        "# Here\n[a](there.md#fit--o-json-twice) [b](#here) [c](there.md#same-1)\n[d](there.md#code) [e](#gone)\n"
    )
    assert list(broken_links(page)) == [
        "page.md:3: the link leads to #code, which there.md does not have",
        "page.md:3: the link leads to #gone, which the page does not have",
    ]


def test_a_public_function_without_an_example_is_found(monkeypatch: pytest.MonkeyPatch):
    def bare() -> None:
        """Do."""

    def shown() -> None:
        """Do.

        Example:
            shown()
        """

    module = types.ModuleType("module")
    vars(module).update(__all__=["bare", "shown", "VALUE"], bare=bare, shown=shown, VALUE=1)
    monkeypatch.setitem(sys.modules, "module", module)
    (found,) = without_example(["module"])
    assert found.endswith(": module.bare has no example in its docstring")
    assert found.startswith(f"tests/docs/test_lint.py:{bare.__code__.co_firstlineno}: ")


def test_what_a_docstring_says_after_its_example_is_not_part_of_it():
    def known() -> None:
        """Do.

        Example:
            a = 1
            if a:
                b = 2
        Rule: none.
        """

    assert example_of(known) == "a = 1\nif a:\n    b = 2"


def test_all_that_is_written_for_readers_is_checked():
    names = {str(page.relative_to(ROOT)) for page in texts()}
    written = {"README.md", "CHANGELOG.md", "changelog.d/README.md", "docs/README.md", "benchmarks/README.md"}
    assert written <= names
    assert all(page.is_file() for page in texts())
