"""Every report fits the terminal, and no column disappears from it without a line that names it."""

from pathlib import Path

import pytest
from rich.console import Console

from kubesched.pages.formats import Align, Column, Page, Paragraph, Table, print_page
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write

ROOMY = {"cpu": "8", "memory": "32Gi", "pods": "20", "nvidia.com/gpu": "4"}
DOMAIN = "eu-west-1.compute.internal"
COMMANDS = {
    "simulate": (),
    "explain": (),
    "explain POD": ("default/web-1",),
    "explain LARGE": ("default/train-large",),
    "fit": ("--resource", "cpu=2", "--replicas", "3"),
    "fit --max": ("--resource", "nvidia.com/gpu=1", "--max"),
    "drain": (f"ip-10-0-0-1.{DOMAIN}",),
    "drain --each": ("--each",),
    "compare": ("--pack", "--seeds", "5"),
}


def cluster(folder: Path) -> Path:
    pods = [
        make_pod(f"running-{i}", node=f"ip-10-0-0-{i}.{DOMAIN}", requests={"cpu": "1", "nvidia.com/gpu": "1"})
        for i in range(4)
    ]
    pods += [make_pod(f"web-{i}", requests={"cpu": "1", "memory": "2Gi"}) for i in range(6)]
    pods += [make_pod("train-large", requests={"cpu": "64", "nvidia.com/gpu": "8"})]
    nodes = [make_node(f"ip-10-0-0-{i}.{DOMAIN}", allocatable=ROOMY, zone=f"eu-west-1{'abc'[i % 3]}") for i in range(5)]
    return write(folder, *nodes, *pods)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    """The report of each command."""
    made: list[Page] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kubesched.pages.formats.print_page", lambda page, console, *, wide: made.append(page))
        snapshot = cluster(tmp_path_factory.mktemp("widths"))
        for name, arguments in COMMANDS.items():
            result = run(name.split()[0], snapshot, *arguments)
            assert result.exit_code == 0, result.stderr
    return dict(zip(COMMANDS, made, strict=True))


def printed(page: Page, width: int) -> str:
    console = Console(width=width, markup=False, highlight=False, color_system=None)
    with console.capture() as captured:
        print_page(page, console)
    return captured.get()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("width", [40, 60, 80, 107, 200])
def test_every_column_is_shown_or_named(pages: dict[str, Page], name: str, width: int) -> None:
    text = printed(pages[name], width)
    words = " ".join(text.split())
    tables = [table for table in pages[name].tables if table.rows and not table.is_wide]
    assert tables
    for table in tables:
        for column in table.columns:
            if not column.is_wide:
                assert any(word[:10] in words for word in column.heading.split()), f"{table.name}: {column.heading}"
    to_copy = [f"Next: {pages[name].next_command}"]  # is not folded
    to_copy += [line for part in pages[name].parts if isinstance(part, Paragraph) for line in part.text.splitlines()]
    assert [line for line in text.splitlines() if len(line.rstrip()) > width and line not in to_copy] == []


def test_gpus_are_shown_in_a_terminal_of_80_columns(pages: dict[str, Page]) -> None:
    text = printed(pages["simulate"], 80)
    assert "nvidia.com/gpu" in text.lower().replace("\n", "")
    assert "Hidden" not in text


def test_the_nodes_of_pods_are_shown_in_a_terminal_of_40_columns(pages: dict[str, Page]) -> None:
    text = printed(pages["simulate"], 40)
    placed = text.partition("Would be placed")[2].partition("Would stay pending")[0]
    assert "Hidden" not in placed
    assert placed.split()[1:5] == ["6", "PODS", "WORKLOAD", "NODES"]


def test_a_list_of_nodes_is_broken_between_names() -> None:
    columns = (Column("count", "PODS", Align.NUMBER), Column("of", "OF"), Column("nodes", "NODES", Align.NODE))
    rows = [[3, "ReplicaSet storefront/web-svxzk8kr4t", "worker-1-a, worker-2-b, worker-3-c"]]
    page = Page("simulate", Paragraph("Yes."), (Table("placed", "", columns, rows),))
    for width in (40, 44, 48):
        text = printed(page, width)
        assert "Hidden" not in text
        assert all(f"worker-{name}" in text for name in ("1-a", "2-b", "3-c"))
        assert max(map(len, text.splitlines())) <= width
