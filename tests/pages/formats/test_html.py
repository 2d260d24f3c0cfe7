"""Reports as HTML: what a file holds, and what Chromium makes of it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from kubesched.pages.formats import Align, Cell, Column, Level, Page, Paragraph, Table, as_html
from tests.pages.formats.chromium import CHROMIUM, Tab, browser, tab_of

COLUMNS = (
    Column("node", "NODE", Align.NODE),
    Column("pool", "POOL"),
    Column("zone", "ZONE"),
    Column("cpu", "CPU"),
)
N_NODES = 5_000


def nodes_page(n: int) -> Page:
    """Nodes in three zones and four pools; node i is i percent full, and was half as full."""
    rows = [
        [
            f"node-{i}.example.internal",
            f"pool-{i % 4}",
            f"zone-{i % 3}",
            Cell(f"{i % 101}%", i % 101 / 100, bar=(i % 101 / 200, i % 101 / 100)),
        ]
        for i in range(n)
    ]
    table = Table("nodes", "Every node", COLUMNS, rows, is_wide=True, group_by=("zone", "pool"))
    return Page("simulate", Paragraph("All pods would be placed.", Level.GOOD), (table,))


def test_names_and_reasons_cannot_become_markup_or_control_characters():
    rows = [["<script>alert(1)</script>", 'x" onclick="y', "\x1b[2J"]]
    columns = tuple(Column(key, key.upper()) for key in "abc")
    text = as_html(
        Page("fit", Paragraph("<b>No</b>"), (Table("t", "<i>", columns, rows), Paragraph("a: <x>", is_code=True)))
    )
    assert "<script>alert" not in text
    assert "<b>No" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert '<pre tabindex="0">a: &lt;x&gt;</pre>' in text


def test_a_file_names_no_other_place():
    text = as_html(nodes_page(20))
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src 'none'" in text


def test_a_heat_map_has_each_node_before_and_after_in_its_zone_and_pool():
    text = as_html(nodes_page(24))
    assert text.count("<i class=h") == 2 * 24
    assert text.count('<th scope="row">') == 12
    assert 'title="node-7.example.internal: 7%"' in text


def test_5000_nodes_stay_below_5_mb_and_a_longer_table_says_where_it_ends():
    assert len(as_html(nodes_page(N_NODES)).encode()) < 5_000_000
    rows = [["x" * 1000] for _ in range(3000)]
    text = as_html(Page("fit", Paragraph("No."), (Table("t", "", COLUMNS[1:2], rows),)))
    assert len(text) < 2_100_000
    assert "of 3,000 rows are shown" in text


def test_many_tables_and_heat_maps_stay_below_5_mb_together():
    rows = [["ü" * 500] for _ in range(3000)]
    long = Table("t", "Long", COLUMNS[1:2], rows)
    (nodes,) = nodes_page(20_000).tables
    for tables in ((long, long, long, nodes), (nodes, long, nodes, long)):
        text = as_html(Page("drain", Paragraph("No."), tables))
        assert len(text.encode()) < 5_000_000
        assert text.count("rows are shown") + text.count("left out") >= 3


def test_a_table_without_a_title_has_no_heading_and_the_name_of_the_heading_before_it():
    rows = [["x"]]
    first, second = (Table(f"node-{i}", "", COLUMNS[1:2], rows) for i in (162, 163))
    parts = (first, Paragraph("Pod p fits on b.", Level.HEADING), second)
    text = as_html(Page("explain", Paragraph("Pod p fits on a."), parts))
    assert "node-16" not in text
    assert text.count("<h2") == 1
    assert '<h1 id="h">Pod p fits on a.</h1>' in text
    assert text.count('aria-labelledby="h"') == text.count('aria-labelledby="h1"') == 2


def test_the_title_is_the_verdict():
    text = as_html(Page("explain-pods", Paragraph("2 pending pods: 2 fit nowhere.")))
    assert "<title>2 pending pods: 2 fit nowhere. - kubesched</title>" in text
    text = as_html(Page("explain", Paragraph(f"Pod p does not fit on n: {'taint, ' * 100}.")))
    assert "<title>Pod p does not fit on n: taint," in text
    assert len(text.partition("<title>")[2].partition("</title>")[0]) <= 120


# --- in a browser ---

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt install chromium")


Look = Callable[[Tab], Awaitable[None]]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with browser(tmp_path_factory.mktemp("profile")) as port:
        yield port


@pytest.fixture
def in_browser(port: int, tmp_path: Path) -> Callable[[Page, Look], None]:
    """Opens a page and looks at it."""

    def open_and_look(page: Page, look: Look) -> None:
        path = tmp_path / "page.html"
        path.write_text(as_html(page), encoding="utf-8")

        async def run() -> None:
            async with tab_of(port) as tab:
                await tab.open(path)
                await look(tab)

        asyncio.run(run())

    return open_and_look


@needs_chromium
def test_5000_nodes_open_without_a_request(in_browser):
    async def look(tab: Tab) -> None:
        assert await tab.value("performance.getEntriesByType('resource').length") == 0
        assert await tab.value("document.querySelectorAll('.heat i').length") == 2 * N_NODES

    in_browser(nodes_page(N_NODES), look)


@needs_chromium
def test_tables_sort_by_value_and_filter_from_the_keyboard(in_browser):
    async def look(tab: Tab) -> None:
        await tab.value("document.querySelector('details').open = true")
        await tab.value("[...document.querySelectorAll('th button')].at(-1).focus()")
        for _ in range(2):
            for kind in ("keyDown", "keyUp"):
                await tab.call(
                    "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r", windowsVirtualKeyCode=13
                )
        first = "document.querySelector('table.sortable tbody tr').textContent"
        assert await tab.value(first) == "node-29.example.internalpool-1zone-229%\n"
        assert await tab.value("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "descending"
        await tab.value("document.querySelector('input').focus()")
        await tab.call("Input.insertText", text="POOL-3")
        assert await tab.value("document.querySelectorAll('table.sortable tbody tr:not([hidden])').length") == 7
        assert await tab.value("document.querySelector('output').textContent") == "7 of 30 rows"

    in_browser(nodes_page(30), look)


CONTRAST = """(() => {
  const channel = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = text => { const [r, g, b] = text.match(/[0-9.]+/g).map(Number);
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
  const back = light(getComputedStyle(document.body).backgroundColor);
  return Math.min(...[...document.querySelectorAll("h1, p, td, th, summary, label")].map(one => {
    const [a, b] = [light(getComputedStyle(one).color), back].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05); }));
})()"""


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa_in_both_schemes(scheme: str, in_browser):
    levels = [[Cell(level.name, level=level)] for level in Level if level is not Level.HEADING]
    page = Page("fit", Paragraph("No.", Level.BAD), (Table("t", "Levels", COLUMNS[1:2], levels, notes=("A note.",)),))

    async def look(tab: Tab) -> None:
        dark = [{"name": "prefers-color-scheme", "value": scheme}]
        await tab.call("Emulation.setEmulatedMedia", features=dark)
        back = await tab.value("getComputedStyle(document.body).backgroundColor")
        assert (back == "rgb(255, 255, 255)") is (scheme == "light")
        assert await tab.value(CONTRAST) >= 4.5

    in_browser(page, look)


@needs_chromium
def test_a_screen_reader_gets_headings_tables_and_named_regions(in_browser):
    async def look(tab: Tab) -> None:
        await tab.value("document.querySelector('details').open = true")
        await tab.call("Accessibility.enable")
        tree = (await tab.call("Accessibility.getFullAXTree"))["nodes"]
        said = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]}
        assert {("heading", "All pods would be placed."), ("region", "Every node"), ("columnheader", "CPU")} <= said
        assert {("searchbox", "Filter"), ("rowheader", "zone-0"), ("region", "CPU by group")} <= said

    in_browser(nodes_page(12), look)


@needs_chromium
def test_print_leaves_out_the_filters(in_browser):
    async def look(tab: Tab) -> None:
        await tab.call("Emulation.setEmulatedMedia", media="print")
        assert await tab.value("getComputedStyle(document.querySelector('.filter')).display") == "none"

    in_browser(nodes_page(12), look)


@needs_chromium
def test_lists_of_nodes_are_folded_before_other_texts(in_browser):
    nodes = ", ".join(f"ip-10-0-{i}-104.eu-west-1.compute.internal" for i in range(5))
    rows = [[12, "StatefulSet checkout/session_redis_of_a_long_name", nodes]]
    columns = (Column("n", "PODS", Align.NUMBER), Column("of", "OF"), Column("nodes", "NODES", Align.NODE))

    async def look(tab: Tab) -> None:
        await tab.call("Emulation.setDeviceMetricsOverride", width=1200, height=800, deviceScaleFactor=1, mobile=False)
        n_lines = """[...document.querySelectorAll("td:nth-child(2), td:nth-child(3) span")].map(cell => {
            const text = document.createRange();
            text.selectNodeContents(cell);
            return text.getClientRects().length; })"""
        of, *names = await tab.value(n_lines)
        assert of <= 2
        assert names == [1] * 5
        assert await tab.value("document.querySelector('.scroll').scrollWidth <= 1200")

    in_browser(Page("simulate", Paragraph("Placed."), (Table("t", "Placed", columns, rows),)), look)
