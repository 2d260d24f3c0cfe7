from pathlib import Path

import pytest

from kubesched.cli.reports import print_report
from kubesched.pages.formats import ROWS_ALONE, WITHOUT_SENTENCES, Column, Format, Page, Paragraph, Table

PAGE = Page(
    "fit",
    Paragraph("Nothing fits."),
    (Table("pods", "", (Column("pod"),), [["web-1"]]), Paragraph("The manifest has no replicas.")),
    document={"pods": ["web-1"], "notes": ["The manifest has no replicas."]},
    lines=[{"pod": "web-1"}],
    faults=["TeamZone broke"],
)


@pytest.mark.parametrize("output", Format)
def test_a_format_has_the_sentences_of_a_page_unless_it_is_listed(output, capsys):
    print_report(PAGE, output.value)
    printed = capsys.readouterr()
    assert ("The manifest has no replicas." in printed.out) == (output not in WITHOUT_SENTENCES)
    assert ("TeamZone broke" in printed.err) == (output in ROWS_ALONE)


def test_the_format_of_an_option_is_found_by_its_name():
    assert "csv" in WITHOUT_SENTENCES
    assert "summary" not in WITHOUT_SENTENCES


def test_the_reference_describes_each_format():
    page = (Path(__file__).parents[3] / "docs/reference/output.md").read_text(encoding="utf-8")
    assert [each for each in Format if f"\n| `{each}`" not in page] == []
