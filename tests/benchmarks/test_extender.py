"""The tables of benchmarks/extender.py with requests so small that nothing is measured, only that it can be."""

import json
import sys
from pathlib import Path

import pytest
from benchmarks.extender.cells import Cell, Endurance, Figures, Result
from benchmarks.extender.client import Times

from campaigns.benchmarks.programs import faults_of_cells, run

STAND_IN = f"""\
#!{sys.executable}
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        body = b'[{{"Host":"a","Score":5}}]' if self.path == "/prioritize" else b'{{"NodeNames":["a"],"Error":"FAULT"}}'
        self.wfile.write(b"%x\\r\\n%b\\r\\n0\\r\\n\\r\\n" % (len(body), body))

    def log_message(self, *arguments):
        pass

ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
"""
"""Takes the place of the Go server: `-port N`, and answers in one chunk, as Go does."""


def stand_in(folder: Path, fault: str = "") -> Path:
    program = folder / "goserver"
    program.write_text(STAND_IN.replace("FAULT", fault))
    program.chmod(0o755)
    return program


def figures(*seconds: float, peak: int = 10**8) -> Figures:
    return Figures([Times(sorted(seconds), sum(seconds))], [0.1], [0.01], [peak])


def test_every_cell_is_measured_beside_the_other_server(tmp_path: Path) -> None:
    found = tmp_path / "figures.json"
    done = run(
        "extender",
        *("--forms", "nodes", "--sizes", "4", "--seconds", "0.02", "--repeat", "1", "--requests", "20"),
        *("--go", stand_in(tmp_path), "--json", found),
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(found.read_text())
    cells = document["cells"]
    asked = [(cell["form"], cell["verb"], cell["connections"]) for cell in cells]
    assert asked == [("nodes", verb, n) for verb in ("filter", "prioritize") for n in (1, 4)]
    assert all(cell["go"] for cell in cells)
    assert list(faults_of_cells(document)) == []
    assert all(len(cell["ours"]["first"]) == (cell["connections"] == 1) for cell in cells)
    assert [one["late"]["requests"] for one in document["endurance"]] == [20]


def test_an_answer_with_an_error_ends_the_measurement(tmp_path: Path) -> None:
    done = run("extender", "--sizes", "2", "--forms", "names", "--seconds", "0", "--go", stand_in(tmp_path, "fault"))
    assert done.returncode == 2
    assert "filter: the answer ends with" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--go", "nowhere"), "--go: nowhere is no file"),
        (("--forms", "names,pods"), "argument --forms: invalid forms value: 'names,pods'"),
        (("--sizes", "0"), "argument --sizes: invalid sizes value: '0'"),
    ],
)
def test_a_mistake_is_told_in_one_sentence(arguments: tuple[str, ...], message: str) -> None:
    done = run("extender", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cell_is_fast_at_its_ratio_and_steady_at_the_other_servers_p99() -> None:
    cell = Cell("nodes", 1000, "filter", 1)
    assert Result(cell, figures(1, 1, 1), figures(5, 5, 5)).is_fast is True
    assert Result(cell, figures(1, 1, 1), figures(4.9, 4.9, 4.9)).is_fast is False
    assert Result(cell, figures(1, 1, 6), figures(5, 5, 5)).is_steady is False
    assert Result(cell, figures(1, 1, 5), figures(5, 5, 5)).is_steady is True
    assert Result(cell, figures(1), None).is_fast is None


@pytest.mark.parametrize(
    ("form", "n", "targets"),
    [("names", 100, (1, 0.5)), ("names", 5000, (3, 2)), ("nodes", 100, (5, 3)), ("nodes", 7, (None, None))],
)
def test_targets_count_at_their_own_sizes(form: str, n: int, targets: tuple[float | None, ...]) -> None:
    assert tuple(Cell(form, n, "filter", connections).target for connections in (1, 4)) == targets


def test_memory_is_flat_within_a_twentieth() -> None:
    assert Endurance("names", 10, 1000, 100, 1050).is_flat
    assert not Endurance("names", 10, 1000, 100, 1051).is_flat


def test_percentiles_are_values_that_were_measured() -> None:
    times = Times([float(value) for value in range(1, 201)], 1.0)
    assert (times.median, times.p99) == (100, 198)
    assert Times([3.0], 3.0).p99 == 3
