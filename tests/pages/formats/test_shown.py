"""Results show their report: as text where Python prints them, as HTML in notebooks; nothing in it acts."""

import re

import pytest

from kubesched import Candidate, Simulator, compare, drain, explain, fit, packed
from kubesched.pages.formats import Align, Cell, Column, Level, Page, Paragraph, Table, as_fragment, as_text, page_of
from kubesched.testing import make_node, make_pod

CLUSTER = [
    make_node("n1", allocatable={"cpu": "4", "memory": "8Gi", "pods": 10}),
    make_node("n2", allocatable={"cpu": "2", "memory": "4Gi", "pods": 10}),
    make_pod("old", node="n1", requests={"cpu": "1"}),
    make_pod("web", requests={"cpu": "3"}),
    make_pod("huge", requests={"cpu": "64"}),
]


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (lambda: Simulator(CLUSTER).run(), "2 pending pods: 1 would be placed, 1 would stay pending."),
        (lambda: explain(CLUSTER, "default/web"), "Pod default/web fits on 1 of 2 nodes and would go to n1."),
        (lambda: fit(CLUSTER, {"cpu": "1"}, replicas=2), "2 of 2 would fit."),
        (lambda: drain(CLUSTER, ["n2"]), "n2 could be drained: no pod would have to move."),
        (
            lambda: compare(CLUSTER, None, packed(Candidate("MostAllocated")), seeds=5),
            "MostAllocated differs from A in no figure beyond chance.",
        ),
    ],
    ids=["Report", "Explanation", "Fit", "Drain", "Comparison"],
)
def test_a_result_is_shown_as_its_report(result, verdict, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    shown = result()
    text, html = repr(shown), shown._repr_html_()  # which load the pages
    first = page_of(shown).verdict.text
    assert re.match(verdict, first)
    assert " ".join(text.split()).startswith(first)
    assert max(map(len, text.splitlines())) <= 100
    assert f"<strong>{first}</strong>" in html
    tables = [table for table in page_of(shown).tables if table.rows and not table.is_wide]
    assert html.count("<table>") == len(tables)
    for table in tables:
        assert table.columns[0].heading in text


def table(n: int, *notes: str) -> Table:
    columns = (Column("node", "NODE", Align.NODE), Column("cpu", "CPU"), Column("extra", "EXTRA", is_wide=True))
    rows = [[f"n{i}", Cell("5", bar=(0.1, 0.5), level=Level.BAD), "hidden"] for i in range(n)]
    return Table("nodes", "Nodes", columns, [*rows, ["all", "9", "hidden"]], n_totals=1, notes=notes)


def test_a_long_table_ends_early_in_a_notebook_and_says_so():
    html = as_fragment(Page("fit", Paragraph("Yes."), (table(60),)))
    assert html.count("<tr>") == 1 + 50 + 1  # the headings, the first rows, the sum
    assert "The first 50 of 60 rows are shown." in html
    assert "<td>all" in html.replace(' class="w"', "")


def test_a_short_table_is_whole():
    html = as_fragment(Page("fit", Paragraph("Yes."), (table(50),)))
    assert "rows are shown" not in html


def test_what_belongs_to_wide_is_left_out():
    html = as_fragment(Page("fit", Paragraph("Yes."), (table(2, "-o wide also shows pods.", "Rounded."),)))
    assert "EXTRA" not in html
    assert "hidden" not in html
    assert "-o wide" not in html
    assert "Rounded." in html


def test_names_are_text_and_no_script_runs():
    page = Page("fit", Paragraph("<script>alert(1)</script>\x1b[2J"), (Paragraph("<img src=x>"),), limits=("<i>",))
    html = as_fragment(page)
    assert "<script" not in html
    assert "<img" not in html
    assert "<i>" not in html
    assert "\x1b" not in html


def test_the_style_concerns_the_report_alone():
    style = re.search("<style>(.*?)</style>", as_fragment(Page("fit", Paragraph("Yes."))), re.DOTALL)
    assert style is not None
    selectors = [one for rule in style[1].split("}") if "{" in rule for one in rule.split("{")[0].split(",")]
    assert selectors
    assert all(one.strip().startswith(".kubesched ") for one in selectors)


def test_text_has_no_control_characters_and_the_width_that_is_asked_for():
    text = as_text(Page("fit", Paragraph("a\x1b[31m " + "word " * 30)), 40)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 46  # one escape is longer than the character


def test_what_has_no_report_is_an_error():
    with pytest.raises(TypeError, match="int objects have no report"):
        page_of(3)
