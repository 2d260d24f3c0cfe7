"""Objects whose every text is an attack on some format: each command in each format shows them as text."""

import csv
import io
import json
import re
import shlex
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from kubesched.documents import escape_controls
from tests.cli.clusters import run, shop

HOSTILE = (
    "=1+1|'/C calc'!A0\x1b]0;pwn\x07\x9b2J\r\x00\u202e\u061c\ufeff\U000e0041"
    "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>\" onclick=\"x' y='"
    "|`*_~~s~~ [x](http://evil) ![i](http://e/x.png) &lt; [bold red]x[/] :smile: %s {0}"
    "; touch pwned; $(touch pwned) `touch pwned` 'q' \"q\""
    "\nkubesched: error: fake\n# fake\n- fake\n::error::fake\n"
)
FAKES = ("kubesched: error: fake", "# fake", "- fake", "::error::fake")
NAMES = {"name", "namespace", "nodeName", "schedulerName", "app", "uid"}
CLOSED = {"default-scheduler", "Job", "batch/v1", "v1", "Pod", "Node", "Namespace", "Service"}
COMMANDS = (
    ("explain",),
    ("explain", "--by", "node", "--all"),
    ("simulate",),
    ("fit", "--resource", "cpu=1", "--max"),
    ("drain", "--each"),
    ("compare", "--pack", "--seeds", "5"),
)
OF_HTML = {
    *("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "code", "pre", "section"),
    *("details", "summary", "span", "div", "label", "input", "output", "table", "thead", "tr", "th", "button"),
    *("tbody", "td", "tfoot", "b", "i", "script"),
}
OF_MARKDOWN = {
    "p",
    "strong",
    "em",
    "table",
    "thead",
    "tr",
    "th",
    "tbody",
    "td",
    "h3",
    "pre",
    "code",
    "blockquote",
    "details",
    "summary",
    "br",
}


def hostile(value: Any, key: str = "") -> Any:
    """A value whose names and texts, and those of labels and resources, end with the attack."""
    if isinstance(value, dict):
        return {f"{k}{HOSTILE}" if key == "labels" else k: hostile(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [hostile(item, key) for item in value]
    is_name = key in NAMES or "/" in key
    return f"{value}{HOSTILE}" if is_name and value not in CLOSED else value


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "cluster.json"
    items = [hostile(json.loads(obj.raw)) for obj in shop()]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def shown(cluster: Path, output: str, command: tuple[str, ...]) -> str:
    """What a command prints. Every format: no character that acts, no line that another program wrote."""
    done = run(command[0], cluster, *command[1:], "-o", output)
    assert done.exit_code == 0, done.stderr
    for written in (done.stdout, done.stderr):
        assert escape_controls(written) == written
    text = done.stderr + (done.stdout if output in ("table", "wide") else "")
    assert not any(line.startswith(FAKES) for line in text.splitlines())
    return done.stdout


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
class TestEachFormat:
    def test_text_shows_nothing_that_acts(self, command: tuple[str, ...], cluster: Path, tmp_path: Path) -> None:
        for output in ("table", "wide"):
            text = shown(cluster, output, command)
            for line in re.findall("^Next: (.*)", text, re.MULTILINE):
                shlex.split(line)
                subprocess.run(["sh", "-c", f"kubesched() {{ :; }}\n{line}"], cwd=tmp_path, check=False)
        assert not list(tmp_path.iterdir())

    def test_documents_hold_the_same_texts(self, command: tuple[str, ...], cluster: Path) -> None:
        json.loads(shown(cluster, "json", command))
        for line in shown(cluster, "jsonl", command).split("\n")[:-1]:
            json.loads(line)
        ET.fromstring(shown(cluster, "junit", command))

    def test_csv_has_no_formula(self, command: tuple[str, ...], cluster: Path) -> None:
        rows = list(csv.reader(io.StringIO(shown(cluster, "csv", command))))
        assert len({len(row) for row in rows}) == 1
        assert not any(cell.startswith(("=", "@", "\t")) for row in rows for cell in row)

    def test_pages_have_no_tag_of_the_cluster(self, command: tuple[str, ...], cluster: Path) -> None:
        page = Tags(shown(cluster, "html", command))
        assert set(page.tags) <= OF_HTML
        assert page.tags.count("script") == 1
        assert not {name for name in page.attributes if name.startswith("on")} | page.attributes & {"src", "href", "y"}
        rendered = Tags(MarkdownIt("js-default", {"html": True}).render(shown(cluster, "markdown", command)))
        assert set(rendered.tags) <= OF_MARKDOWN
