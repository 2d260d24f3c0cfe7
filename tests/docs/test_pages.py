"""Every code block of the documentation works, and every link leads somewhere."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, Reader, is_shown, pages, read_blocks, read_links, read_session


def each_page(test):
    return pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))(test)


@each_page
def test_every_code_block_works(page: Path, tmp_path: Path):
    reader = Reader(tmp_path)
    for block in read_blocks(page.read_text(encoding="utf-8")):
        try:
            reader.follow(block)
        except AssertionError as failure:
            pytest.fail(f"{page.relative_to(ROOT)}:{block.line}: {failure}", pytrace=False)


@each_page
def test_every_link_leads_to_a_file(page: Path):
    missing = [t for t in read_links(page.read_text(encoding="utf-8")) if not (page.parent / t).exists()]
    assert missing == []


def test_blocks_are_found_with_their_options():
    text = "a\n```bash needs=cluster\nls\n```\n\n  ```python\n  x = 1\n    y\n  ```\n"
    assert read_blocks(text) == [
        Block("bash", {"needs": "cluster"}, "ls\n", 2),
        Block("python", {}, "x = 1\n  y\n", 6),
    ]


def test_a_block_that_is_never_closed_is_an_error():
    with pytest.raises(ValueError, match="line 1"):
        read_blocks("```bash\nls\n")


def test_links_are_found_outside_code():
    text = "[a](docs/a.md#x) `[b](b.md)` [c](https://example.com) ![d](d.png)\n```text\n[e](e.md)\n```\n"
    assert read_links(text) == ["docs/a.md"]


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
def test_a_block_that_does_not_work_is_found(block, words, tmp_path):
    with pytest.raises(AssertionError, match=words):
        Reader(tmp_path).follow(block)


def test_the_blocks_of_a_page_build_on_each_other(tmp_path):
    reader = Reader(tmp_path)
    reader.follow(Block("python", {"file": "zone.py"}, "NAME = 'z1'\n", 1))
    reader.follow(Block("python", {}, "import zone\n", 4))
    reader.follow(Block("python", {}, "print(zone.NAME)\n", 7))
    reader.follow(Block("console", {}, "$ python page.py\nz1\n", 10))
