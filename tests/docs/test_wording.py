"""The linter finds phrases that have confused readers, with the line where they are."""

from pathlib import Path

from tests.docs.lint import help_texts, prose, source_texts
from tests.docs.wording import confusing


def test_a_phrase_of_a_page_is_found_also_across_a_break_but_not_in_code(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("Fine. `anew`\n\n```text\nseldom\n```\nA cluster that comes\nalong.\n", encoding="utf-8")
    assert list(confusing([prose(page)])) == ["page.md:6: 'that comes along'; write: bundled"]


def test_a_phrase_is_found_in_docstrings_and_comments_but_not_in_code(tmp_path: Path):
    module = tmp_path / "module.py"
    module.write_text(
        '"""Fine: `anew`."""\n\nanew = 1\n"""Not fine:\nread anew."""\nb = 2  # seldom\n', encoding="utf-8"
    )
    assert list(confusing(source_texts(module))) == [
        "module.py:5: 'anew'; write: again",
        "module.py:6: 'seldom'; write: rarely",
    ]


def test_a_phrase_is_found_in_what_a_call_is_given(tmp_path: Path):
    module = tmp_path / "module.py"
    module.write_text('a = "fine: seldom"\nraise E(\n    f"{a} is read anew", why="in vain")\n', encoding="utf-8")
    assert list(confusing(source_texts(module))) == [
        "module.py:3: 'anew'; write: again",
        "module.py:3: 'in vain'; write: without effect",
    ]


def test_the_help_of_every_command_is_read():
    read = {place.file: place.text for place in help_texts()}
    assert {"kubesched --help", "kubesched fit --help", "kubesched config check --help"} <= set(read)
    assert "Usage: kubesched config check" in read["kubesched config check --help"]
