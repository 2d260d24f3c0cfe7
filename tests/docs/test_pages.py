"""Every code block of the documentation works."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, Reader, Section, is_shown, pages, read_blocks, read_sections, read_session
from tests.forks import Forks

SECTIONS = [(page, section) for page in pages() for section in read_sections(page.read_text(encoding="utf-8"))]


@pytest.mark.timeout(180)  # a page may ask for several comparisons, and other work may go on
@pytest.mark.parametrize(
    ("page", "section"), SECTIONS, ids=[f"{page.relative_to(ROOT)}: {section.heading}" for page, section in SECTIONS]
)
def test_every_code_block_works(page: Path, section: Section, tmp_path: Path, forks: Forks):
    reader = Reader(tmp_path, forks.bin)
    for block in section.before:
        reader.take_over(block)
    for block in section.blocks:
        try:
            reader.follow(block)
        except AssertionError as failure:
            pytest.fail(f"{page.relative_to(ROOT)}:{block.line}: {failure}", pytrace=False)


def test_blocks_are_found_with_their_options():
    text = "a\n```bash needs=cluster\nls\n```\n\n  ```python\n  x = 1\n    y\n  ```\n"
    assert read_blocks(text) == [
        Block("bash", {"needs": "cluster"}, "ls\n", 2),
        Block("python", {}, "x = 1\n  y\n", 6),
    ]


def test_a_block_that_is_never_closed_is_an_error():
    with pytest.raises(ValueError, match="line 1"):
        read_blocks("```bash\nls\n")


def test_a_session_is_commands_and_their_output():
    assert read_session("$ a \\\n> b\nout\n$ c\n") == [("a \\\nb", ["out"]), ("c", [])]


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        (["one", "two"], True),
        (["one"], False),
        (["one", "..."], True),
        (["...", "two"], True),
        (["...", "t...o"], True),
        (["...", "three"], False),
        (["...", "two", "..."], True),
        (["..."], True),
        (["o..."], False),
    ],
)
def test_dots_stand_for_what_a_page_leaves_out(expected, shown):
    assert is_shown(expected, ["one", "two"]) is shown


@pytest.mark.parametrize(
    ("printed", "shown"),
    [("  NAME      AGE", True), (" NAME   AGE", False), ("  NAME AGE", False), ("  NAME  3", False)],
)
def test_a_page_may_show_a_table_narrower(printed, shown):
    assert is_shown(["  NAME   AGE", " ───"], [printed, " ─────────"]) is shown


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (Block("bash", {}, "exit 3\n", 1), "exit code 3"),
        (Block("bash", {}, "false | true\n", 1), "exit code 1"),
        (Block("console", {}, "$ echo a\nb\n", 1), "other output"),
        (Block("console", {"exit": "2"}, "$ echo a\na\n", 1), "exit code 0"),
        (Block("python", {}, "raise SystemExit(4)\n", 1), "exit code 4"),
        (Block("", {}, "x\n", 1), "needs a language"),
        (Block("bash", {"needs": "patience"}, "x\n", 1), "needs=patience"),
    ],
)
def test_a_block_that_does_not_work_is_found(block, words, tmp_path, forks):
    with pytest.raises(AssertionError, match=words):
        Reader(tmp_path, forks.bin).follow(block)


def test_sections_begin_at_headings_and_know_what_was_before():
    text = "```yaml\na: 1\n```\n## One\n```text\n## no heading\n```\n## Two\nNothing.\n## Three\n```json\n3\n```\n"
    a, one, three = (
        Block("yaml", {}, "a: 1\n", 1),
        Block("text", {}, "## no heading\n", 5),
        Block("json", {}, "3\n", 11),
    )
    assert read_sections(text) == [
        Section("top", [a], []),
        Section("One", [one], [a]),
        Section("Three", [three], [a, one]),
    ]


def test_a_section_has_the_files_and_the_python_of_the_sections_before(tmp_path, forks):
    reader = Reader(tmp_path, forks.bin)
    reader.take_over(Block("python", {"file": "zone.py"}, "NAME = 'z1'\n", 1))
    reader.take_over(Block("python", {"needs": "cluster"}, "raise SystemExit(1)\n", 4))
    reader.take_over(Block("python", {}, "import zone\n", 7))
    reader.take_over(Block("bash", {}, "touch made\n", 10))
    reader.follow(Block("python", {}, "assert zone.NAME == 'z1'\n", 13))
    reader.follow(Block("bash", {}, "test ! -e made\n", 16))


def test_the_blocks_of_a_section_build_on_each_other(tmp_path, forks):
    reader = Reader(tmp_path, forks.bin)
    reader.follow(Block("python", {"file": "zone.py"}, "NAME = 'z1'\n", 1))
    reader.follow(Block("python", {}, "import zone\n", 4))
    reader.follow(Block("python", {}, "print(zone.NAME)\n", 7))
    reader.follow(Block("console", {}, "$ python page.py\nz1\n", 10))
