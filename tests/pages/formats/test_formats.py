"""One page in each format."""

import csv
import io
import json
from contextlib import redirect_stdout

import msgspec
import pytest
from rich.console import Console

from kubesched.cli.output import text_console
from kubesched.pages.formats import (
    Align,
    Cell,
    Column,
    Level,
    Page,
    Paragraph,
    Table,
    as_csv,
    as_html,
    as_json,
    as_jsonl,
    as_markdown,
    print_page,
)

COLUMNS = (
    Column("node", "NODE", Align.NODE),
    Column("cpu", "CPU", Align.NUMBER),
    Column("why", "WHY"),
    Column("uid", "UID", is_wide=True),
)
ROWS = (
    ["gke-pool-a1.example", Cell("50%", 0.5, bar=(0.25, 0.5)), "room | to spare", "u1"],
    ["gke-pool-b2.example", Cell("10%", 0.1, bar=(0.1, 0.1)), Cell("full", level=Level.BAD), "u2"],
    ["all", Cell("30%", 0.3), "", ""],
)
TABLE = Table("nodes", "Nodes", COLUMNS, ROWS, n_totals=1, notes=("Shares of allocatable.",))
PAGE = Page(
    "fit",
    Paragraph("1 of 2 would fit.", Level.WARNING),
    (Paragraph("Where", Level.HEADING), TABLE, Paragraph("0/2 nodes", Level.DETAIL, is_wide=True)),
    limits=("Autoscalers are not modelled.",),
    next_command="kubesched explain web-2",
    document={"verdict": {"fit": 1, "of": 2}},
    lines=({"pod": "a", "node": "n"}, {"pod": "b"}),
)


def printed(page: Page, width: int = 120, *, wide: bool = False) -> str:
    console = Console(width=width, markup=False, highlight=False, color_system=None)
    with console.capture() as captured:
        print_page(page, console, wide=wide)
    return captured.get()


def test_text_begins_with_the_verdict_and_ends_with_the_next_command() -> None:
    lines = [line for line in printed(PAGE).splitlines() if line.strip()]
    assert lines[0] == "1 of 2 would fit."
    assert lines[-1] == "Next: kubesched explain web-2"
    assert "Autoscalers are not modelled." in lines


def test_wide_text_has_what_only_wide_has() -> None:
    assert "UID" not in printed(PAGE)
    assert "0/2 nodes" not in printed(PAGE)
    assert "UID" in printed(PAGE, wide=True)
    assert "0/2 nodes" in printed(PAGE, wide=True)


def test_a_narrow_terminal_loses_the_bars_first_and_then_columns_which_are_named() -> None:
    columns, rows = COLUMNS[:3], [row[:3] for row in ROWS]
    page = Page("fit", Paragraph("Yes."), (Table("nodes", "", columns, rows),))
    assert "·" in printed(page, 100)
    assert "·" not in printed(page, 45)
    assert "WHY" in printed(page, 45)
    assert "too narrow: WHY (" in " ".join(printed(page, 30).split())


def test_node_names_lose_what_they_share_and_a_line_says_so() -> None:
    page = Page("fit", Paragraph("Yes."), (Table("nodes", "", COLUMNS[:1], [row[:1] for row in ROWS[:2]]),))
    text = printed(page)
    assert "gke-pool-a1" not in text
    assert " a1" in text.replace("\n", " ")
    assert "Node names are shortened by 'gke-pool-*' and '*.example'." in text


def test_the_only_node_that_is_shown_is_shortened_as_all_nodes_are() -> None:
    column = (Column("node", "NODE", Align.NODE),)
    names = [f"ip-10-0-0-{i}.eu-west-1.compute.internal" for i in range(3)]
    hidden = Table("nodes", "", column, [[name] for name in names], is_wide=True)
    text = printed(Page("x", Paragraph("v"), (Table("victims", "", column, [names[:1]]), hidden)))
    assert "ip-10-0-0-0" in [line.strip() for line in text.splitlines()]


def test_node_names_are_not_shortened_to_numbers() -> None:
    rows = [[f"ip-10-0-0-{n}.example"] for n in (3, 83)]
    text = printed(Page("fit", Paragraph("Yes."), (Table("nodes", "", COLUMNS[:1], rows),)))
    assert "ip-10-0-0-83\n" in text.replace(" ", "")
    assert "Node names are shortened by '*.example'." in text


def test_node_names_are_shortened_in_every_text_even_if_a_table_has_only_one_of_them() -> None:
    why = "pod dev/gke-pool-a1.example on gke-pool-a1.example has kubernetes.io/hostname=gke-pool-a1.example"
    columns = (Column("pod", "POD"), Column("node", "NODE", Align.NODE), Column("why", "WHY"))
    table = Table("victims", "Leave gke-pool-a1.example", columns, [["dev/x", "gke-pool-b2.example", why]])
    names = ("gke-pool-a1.example", "gke-pool-b2.example", "gke-pool-c3.example")
    page = Page("drain", Paragraph("gke-pool-a1.example could go."), (table,), node_names=names)
    lines = [" ".join(line.split()) for line in printed(page, 200).splitlines() if line.strip()]
    assert lines[0] == "a1 could go."
    assert lines[1] == "Leave a1"
    assert lines[4] == "dev/x b2 pod dev/gke-pool-a1.example on a1 has kubernetes.io/hostname=gke-pool-a1.example"
    assert lines[5:] == ["Node names are shortened by 'gke-pool-*' and '*.example'."]


def test_a_sentence_alone_also_says_that_names_are_shortened() -> None:
    page = Page("explain", Paragraph("It fits on n-1.example."), node_names=("n-1.example", "n-2.example"))
    assert printed(page).splitlines() == ["It fits on n-1.", "Node names are shortened by '*.example'."]


def test_nothing_is_said_of_names_that_are_not_printed() -> None:
    page = Page("explain", Paragraph("It fits."), node_names=("n-1.example", "n-2.example"))
    assert "shortened" not in printed(page)


def test_a_mark_stays_with_its_word_and_no_word_is_broken_where_another_column_can_give_way() -> None:
    columns = (Column("pod", "POD"), Column("owner", "OF"), Column("why", "WHY"))
    row = ["- batch/price-recalculation-6w9hj", "Job/price-recalculation", "words that are short can be folded " * 4]
    text = printed(Page("fit", Paragraph("Yes."), (Table("victims", "", columns, [row]),)), 90)
    assert "- batch/price-recalculation-6w9hj   Job/price-recalculation " in text
    assert max(map(len, text.splitlines())) <= 90


def test_short_texts_stay_whole_where_a_long_one_can_be_folded() -> None:
    columns = (Column("plugin", "PLUGIN"), Column("verdict", "VERDICT"), Column("why", "WHY"))
    rows = [["NodeAffinity", "nothing to check", "words that are short can be folded " * 4]]
    assert "nothing to check" in printed(Page("explain", Paragraph("Yes."), (Table("p", "", columns, rows),)), 80)


def test_a_control_character_in_a_name_does_not_reach_the_terminal() -> None:
    page = Page("fit", Paragraph("Yes."), (Table("nodes", "", COLUMNS[2:3], [["\x1b[2J"]]),))
    text = io.StringIO()
    with redirect_stdout(text), text_console() as console:
        print_page(page, console)
    assert "\x1b" not in text.getvalue()
    assert "\\x1b[2J" in text.getvalue()


def test_json_has_its_schema() -> None:
    assert json.loads(as_json(PAGE)) == {"schema": "kubesched/fit/v1", "verdict": {"fit": 1, "of": 2}}
    assert [json.loads(line) for line in as_jsonl(PAGE).splitlines()] == list(PAGE.lines)


def test_csv_has_the_main_table_with_numbers_and_without_sums() -> None:
    rows = list(csv.reader(io.StringIO(as_csv(PAGE))))
    assert rows[0] == ["node", "cpu", "why", "uid"]
    assert rows[1:] == [
        ["gke-pool-a1.example", "0.5", "room | to spare", "u1"],
        ["gke-pool-b2.example", "0.1", "full", "u2"],
    ]


@pytest.mark.parametrize("expected", ["**1 of 2 would fit.**", "| NODE | CPU | WHY |", "room \\| to spare", "```shell"])
def test_markdown_has_verdict_tables_and_next_command(expected: str) -> None:
    assert expected in as_markdown(PAGE)


def test_a_note_on_wide_is_for_the_terminal_alone() -> None:
    noted = msgspec.structs.replace(TABLE, notes=("-o wide also shows pods.", "Shares of allocatable."))
    page = msgspec.structs.replace(PAGE, parts=(noted,))
    assert "-o wide also shows pods." in printed(page)
    assert "-o wide" not in printed(page, wide=True)
    for text in (as_markdown(page), as_html(page)):
        assert "Shares of allocatable." in text
        assert "wide" not in text.partition("</style>")[2] + text.partition("| NODE")[2]


def test_a_text_to_copy_keeps_its_blanks() -> None:
    page = Page("fit", Paragraph("Yes."), (Paragraph("a:\n  - [b]", is_code=True),))
    assert "\na:\n  - [b]\n" in printed(page)
    assert "```yaml\na:\n  - [b]\n```" in as_markdown(page)


def test_long_headings_are_broken_before_a_column_goes() -> None:
    columns = (
        Column("node", "NODE"),
        Column("fit", "NodeResourcesBalancedAllocation", Align.NUMBER),
        Column("n", "NODES THAT FIT"),
    )
    page = Page("fit", Paragraph("Yes."), (Table("scores", "", columns, [["n1", 7, "3"]]),))
    assert " NODE   NodeResourcesBalancedAllocation   NODES THAT FIT " in printed(page, 60)
    narrow = printed(page, 45)
    assert [line.split() for line in narrow.splitlines()[1:6]] == [
        [],
        ["NodeResources"],
        ["Balanced"],
        ["NODE", "Allocation", "NODES", "THAT", "FIT"],
        ["─" * len(line.strip()) for line in narrow.splitlines() if "─" in line],
    ]
    assert "too narrow: NODES THAT FIT (" in " ".join(printed(page, 22).split())


def test_texts_are_folded_before_a_column_goes() -> None:
    columns = (Column("pod", "POD"), Column("why", "WHY"))
    rows = [["a-pod-with-a-name", "a reason of many words that is longer than the terminal is wide"]] * 2
    text = printed(Page("fit", Paragraph("Yes."), (Table("pods", "", columns, rows),)), 50)
    assert "WHY" in text
    assert "Hidden" not in text
    assert max(map(len, text.splitlines())) <= 50


def test_a_joined_column_stands_behind_the_one_before_it_in_the_terminal_alone() -> None:
    columns = (Column("workload"), Column("why", "WHY", is_joined=True), Column("uid", is_wide=True))
    table = Table("groups", "", columns, [["web", "full\nfix: add a node", "u1"], ["db", "", "u2"]])
    page = Page("explain", Paragraph("2 pods."), (table,), main="groups")
    lines = [line.strip() for line in printed(page).splitlines()]
    assert [lines[1 + i] for i in (1, 3, 4, 5)] == ["WORKLOAD: WHY", "web: full", "fix: add a node", "db"]
    assert "WORKLOAD" in printed(page, wide=True)
    assert "WORKLOAD: WHY" not in printed(page, wide=True)
    assert next(csv.reader(io.StringIO(as_csv(page)))) == ["workload", "why", "uid"]


def test_markdown_folds_what_a_reader_decides_without():
    rows = [[Cell("same"), 1], [Cell("other"), 2]]
    columns = (Column("figure"), Column("n"))
    parts = (
        Table("by", "By <pool>", columns, rows, is_folded=True),
        Paragraph("Requested: all.", is_folded=True),
        Table("figures", "Figures", columns, rows, notes=("One.", "Two.", "Three."), folded_rows=frozenset({0})),
        Paragraph("Do this."),
    )
    before, _, after = as_markdown(Page("fit", Paragraph("Yes."), parts, limits=("A.", "B."))).partition("<details>\n")
    assert before == "**Yes.**\n\n### Figures\n\n| FIGURE | N |\n| :-- | :-- |\n| other | 2 |\n\nDo this.\n\n"
    assert after.startswith("<summary>By &lt;pool&gt;; Figures: all</summary>\n\n### By")
    assert "| same | 1 |\n| other | 2 |\n\nOne.\n\nTwo.\n\nThree.\n\n</details>\n\n*A. B.*\n" in after
