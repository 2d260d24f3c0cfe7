"""Text of a cluster has no meaning in the format of a report."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from html import escape

import pytest
from markdown_it import MarkdownIt

from kubesched.pages.formats import (
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Table,
    as_csv,
    as_json,
    as_jsonl,
    as_junit,
    as_markdown,
    as_text,
)

FENCE = "x\n```\n<img src=http://evil/x.png>\n````\n# heading"
CONTROLS = "\x1b]0;pwn\x07\x9b2J\u202e"


def cells(*texts: Cell | str | int) -> Page:
    columns = tuple(Column(f"c{i}", f"C{i}") for i in range(len(texts)))
    return Page("fit", Paragraph("Yes."), (Table("t", "", columns, [texts]),))


def row_of(page: Page) -> list[str]:
    return list(csv.reader(io.StringIO(as_csv(page))))[1]


# --- Markdown ---


@pytest.mark.parametrize("is_command", [True, False])
def test_a_block_of_code_ends_only_with_its_own_fence(is_command: bool) -> None:
    parts = () if is_command else (Paragraph(FENCE, is_code=True),)
    lines = as_markdown(Page("fit", Paragraph("Yes."), parts, next_command=FENCE if is_command else "")).splitlines()
    opened = lines.index("`````shell" if is_command else "`````yaml")
    assert lines[opened + 1 :] == [*FENCE.splitlines(), "`````"]


def test_a_line_of_text_stays_one_line() -> None:
    text = "a\n\n# b"
    table = Table("t", text, (Column("c", "C"),), [["x"]], notes=(text,))
    page = Page("fit", Paragraph(text), (table, Paragraph(text, Level.HEADING)), limits=(text,))
    assert not any(line.startswith(("#", "\\#")) for line in as_markdown(page).splitlines() if line[:3] != "###")


def test_markdown_has_no_control_characters() -> None:
    page = Page("fit", Paragraph(CONTROLS), (Paragraph(CONTROLS, is_code=True),), next_command=CONTROLS)
    written = as_markdown(page)
    assert written.count("]0;pwn") == 3
    assert written.isprintable() or all(one.isprintable() or one == "\n" for one in written)


@pytest.mark.parametrize(
    "text",
    [
        *("- a", "+ a", "1. a", "12) a", "===", "---", "    a", "~~a~~", "&lt;b&gt;", "&#60;", "> a", "# a", "#a"),
        *("<b>a</b>", "<!-- a -->", "<http://a.b>", "[a](b)", "![a](b)", "[a]: b", "_a_ __b__", "*a*", "`a`", "a|b"),
    ],
)
def test_a_text_is_a_paragraph_that_shows_it(text: str) -> None:
    rendered = MarkdownIt("gfm-like", {"linkify": False}).render(
        as_markdown(Page("fit", Paragraph("Yes."), (Paragraph(text),)))
    )
    assert rendered.splitlines()[1:] == [f"<p>{escape(text.strip())}</p>"]


@pytest.mark.parametrize(
    "text",
    ["fix: a (2 of 4) -> 2 nodes", "a_b is short by 1 - 2", "gates: [corp.io/approval] & more", "1 < 2 > 0 #3", "4. a"],
)
def test_what_markdown_does_not_read_is_not_escaped(text: str) -> None:
    assert "\\" not in as_markdown(Page("fit", Paragraph(f"Text {text}"), ()))


# --- text ---


def test_a_further_line_of_a_text_does_not_look_like_one_of_the_report() -> None:
    text = "a\nNext: rm -rf x\n\nPod b fits."
    table = Table("t", text, (Column("c", "C"),), [[text]], notes=(text,))
    page = Page("fit", Paragraph(text), (table, Paragraph(text), Paragraph(text, Level.HEADING)), limits=(text,))
    lines = as_text(page).splitlines()
    assert sum("Next: rm -rf x" in line for line in lines) == 7
    assert not any(line.startswith(("Next:", "Pod b")) for line in lines)


# --- CSV ---


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|'/C calc'!A0", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1", "-a"]
)
def test_a_spreadsheet_reads_no_formula_from_text(text: str) -> None:
    (cell,) = row_of(cells(text))
    assert cell.startswith(("'", "\\r"))


@pytest.mark.parametrize("text", ["-1", "+1.5", "-", "1e3", "-0.5", "n1", "", "a=b", "+3", "-2e-5", "+5%"])
def test_numbers_and_other_text_stay(text: str) -> None:
    assert row_of(cells(text, "x")) == [text, "x"]


def test_values_of_cells_stay_numbers() -> None:
    assert row_of(cells(Cell("-5%", -0.05), -3)) == ["-0.05", "-3"]


def test_csv_has_no_control_characters() -> None:
    assert row_of(cells(CONTROLS)) == ["\\x1b]0;pwn\\x07\\x9b2J\\u202e"]


# --- documents ---


def test_json_has_no_raw_control_characters_and_the_same_text() -> None:
    page = Page("fit", Paragraph("Yes."), document={"a": CONTROLS}, lines=({"a": CONTROLS},))
    for written in (as_json(page), as_jsonl(page)):
        assert json.loads(written)["a"] == CONTROLS
        assert all(one.isprintable() or one == "\n" for one in written)


def test_junit_has_no_raw_control_characters_and_the_text_that_xml_can_have() -> None:
    page = Page("fit", Paragraph("Yes."), checks=(Check("a", CONTROLS, CONTROLS),))
    written = as_junit(page)
    assert all(one.isprintable() or one == "\n" for one in written)
    (case,) = ET.fromstring(written).iter("testcase")
    assert case.get("name") == "\ufffd]0;pwn\ufffd\x9b2J\u202e"
    assert case[0].text == case.get("name")
