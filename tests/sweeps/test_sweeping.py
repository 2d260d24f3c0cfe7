"""A sweep has a row for each run, the same on every engine, and goes on from the rows that it has."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from kubesched import Candidate, compare, load_snapshot, packed, sweep, write_snapshot
from kubesched.errors import InputError
from kubesched.pages.sweeps import sweep_page
from kubesched.parallel import carried_out
from kubesched.sweeps import Sweep, read_spec
from kubesched.sweeps.row_files import read_rows
from tests.comparison.small_clusters import PRICES, random_cluster
from tests.forks import Forks
from tests.full_disk import with_full_disk

ROOT = Path(__file__).parents[2]
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
ENDINGS = ("jsonl", "csv", "parquet")


@pytest.fixture
def snapshots(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{i}.json" for i in (1, 2)]
    for i, path in enumerate(paths, 1):
        write_snapshot(random_cluster(i), path)
    return paths


def swept(snapshots: list[Path], **more: object) -> Sweep:
    configurations = [None, packed(Candidate("packed"))]
    return sweep(snapshots, configurations, **{"seeds": 2, "pods": "all", **more})


def untimed(result: Sweep) -> list[object]:
    return [msgspec.structs.replace(row, seconds=0.0) for row in result.rows]


def test_every_run_is_a_row_with_the_figures_of_compare(snapshots: list[Path]):
    result = swept(snapshots, seeds=5)
    assert [(Path(row.snapshot).name, row.configuration, row.seed) for row in result.rows] == [
        (name, configuration, seed)
        for name in ("1.json", "2.json")
        for configuration in ("defaults", "packed")
        for seed in range(1, 6)
    ]
    compared = compare(load_snapshot(snapshots[0]), None, packed(Candidate("packed")), seeds=5, pods="all")
    of_defaults = [row.figures["nodesInUse"] for row in result.rows[:5]]
    [nodes] = [one for one in compared.differences if one.figure.name == "nodesInUse"]
    assert (min(of_defaults), max(of_defaults)) == nodes.range_a
    assert not result.failed


def test_worker_processes_make_equal_rows(snapshots: list[Path], monkeypatch: pytest.MonkeyPatch):
    here = swept(snapshots)
    monkeypatch.setattr(carried_out, "_WORTH_SECONDS", -1.0)
    monkeypatch.setattr(carried_out, "_LONG_SECONDS", -1.0)
    monkeypatch.setattr(carried_out, "n_cores", lambda: 2)
    assert untimed(swept(snapshots)) == untimed(here)


@pytest.mark.parametrize("ending", ENDINGS)
def test_rows_in_a_file_are_not_run_again(ending: str, snapshots: list[Path], tmp_path: Path):
    file = tmp_path / f"rows.{ending}"
    first = swept(snapshots[:1], rows=file)
    assert read_rows(file) == list(first.rows)
    both = swept(snapshots, rows=file)
    assert (first.n_kept, both.n_kept) == (0, 4)
    assert both.rows[:4] == first.rows
    assert swept(snapshots, rows=file).rows == both.rows
    assert untimed(both) == untimed(swept(snapshots))


def test_a_row_whose_input_changed_is_run_again(snapshots: list[Path], tmp_path: Path):
    file, config = tmp_path / "rows.jsonl", tmp_path / "config.yaml"
    config.write_text(HEADER)
    for text, n_kept in ((HEADER, 0), (HEADER, 2), (f"{HEADER}parallelism: 3\n", 0)):
        config.write_text(text)
        assert sweep(snapshots[:1], [config], seeds=2, rows=file).n_kept == n_kept
    write_snapshot(random_cluster(5), snapshots[0])
    assert sweep(snapshots[:1], [config], seeds=2, rows=file).n_kept == 0


def test_what_cannot_be_run_is_the_reason_in_its_rows(snapshots: list[Path], tmp_path: Path):
    (tmp_path / "bad.yaml").write_text(f"{HEADER}profiles: 3\n")
    (tmp_path / "bad.json").write_text("{")
    result = sweep([snapshots[0], tmp_path / "bad.json"], [None, tmp_path / "bad.yaml"], seeds=1)
    reasons = [(Path(row.snapshot).name, Path(row.configuration).name, bool(row.error)) for row in result.rows]
    assert reasons == [
        ("1.json", "defaults", False),
        ("1.json", "bad.yaml", True),
        ("bad.json", "defaults", True),
        ("bad.json", "bad.yaml", True),
    ]
    assert "profiles" in result.rows[1].error
    assert "Runs that failed" in repr(result)


def test_a_snapshot_that_vanishes_is_tried_again_when_it_is_back(snapshots: list[Path], tmp_path: Path):
    rows, away = tmp_path / "rows.csv", tmp_path / "away.json"
    snapshots[1].rename(away)
    first = swept(snapshots, rows=rows)
    assert {row.error for row in first.failed} == {f"{snapshots[1]}: no such file or folder"}
    assert len(first.failed) == 4
    assert first.best, "it says nothing about configurations"
    away.rename(snapshots[1])
    second = swept(snapshots, rows=rows)
    assert (second.n_kept, second.failed) == (4, ())
    assert len(read_rows(rows)) == 8


def test_a_configuration_that_fails_on_one_snapshot_is_not_compared(snapshots: list[Path], tmp_path: Path):
    (tmp_path / "bad.yaml").write_text(f"{HEADER}profiles: 3\n")
    result = sweep([snapshots[0], tmp_path / "gone.json"], [None, tmp_path / "bad.yaml"], seeds=1)
    assert [one.configuration for one in result.best] == ["defaults"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("snapshots: [a.json]\nseed: 3\n", 'unknown field "seed"\n  seed: did you mean "seeds"?'),
        ("snapshots: [a.json]\nseeds: many\n", 'seeds: expected an integer, found "many"'),
        ("snapshots: a.json\n", 'snapshots: expected a list, found "a.json"'),
        ("snapshots: [a.json]\nconfigurations: [{confg: x}]\n", "configurations[0]: object contains unknown field"),
    ],
)
def test_a_field_that_is_not_valid_is_named(tmp_path: Path, text: str, expected: str):
    (tmp_path / "spec.yaml").write_text(text)
    with pytest.raises(InputError) as raised:
        read_spec(tmp_path / "spec.yaml")
    assert expected in str(raised.value)
    assert str(raised.value).startswith(f"{tmp_path}/spec.yaml: ")


def test_no_configuration_on_the_front_is_beaten(snapshots: list[Path]):
    result = swept(snapshots, prices=PRICES, pareto=("pricePerHour", "skew"))
    assert result.best
    for one in result.settings:
        for best in result.best:
            gains = [best.figures[name].value - one.figures[name].value for name in result.pareto]
            assert min(gains) < 0 or gains == [0, 0] or not one.is_best
    assert "kind: KubeSchedulerConfiguration" in result.best[0].to_paste
    assert sweep_page(result).document["settings"][0]["figures"]["skew"]["least"] >= 0


def test_arguments_of_plugins_are_tried(snapshots: list[Path], tmp_path: Path):
    plugin = tmp_path / "at_least.py"
    plugin.write_text(
        "from kubesched import Plugin, PluginArgs, Status\n\n"
        "class AtLeast(Plugin):\n"
        "    class Args(PluginArgs):\n"
        "        n: int = 0\n\n"
        "    def filter(self, state, pod, node):\n"
        '        return Status.unschedulable("low") if int(node.name[1:]) < self.args.n else Status.SUCCESS\n'
    )
    args = [{"AtLeast": {"n": n}} for n in (0, 99)]
    result = sweep(snapshots[:1], plugins=[f"{plugin}:AtLeast"], plugin_args=args, seeds=1)
    assert [row.plugin_args for row in result.rows] == ['{"AtLeast": {"n": 0}}', '{"AtLeast": {"n": 99}}']
    assert result.rows[0].figures["placed"] > result.rows[1].figures["placed"] == 0


def test_a_spec_is_read(snapshots: list[Path], tmp_path: Path):
    (tmp_path / "a.yaml").write_text(HEADER)
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "snapshots: ['*.json']\nconfigurations: [defaults, a.yaml, {name: packed, pack: true}]\nseeds: 1\npods: all\n"
    )
    arguments = read_spec(spec)
    assert arguments["snapshots"] == snapshots
    result = sweep(**arguments)
    assert [one.configuration for one in result.settings] == ["defaults", "a.yaml", "packed"]
    assert len(result.rows) == 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a\n", "expected one object"),
        ("a: [", "spec.yaml"),
        ("snapshots: ['no*']\n", "no such file"),
    ],
)
def test_a_spec_that_is_not_valid_is_one_sentence(text: str, expected: str, tmp_path: Path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(text)
    with pytest.raises(InputError, match=expected):
        read_spec(spec)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"pareto": ("cpuMedian",)}, "pareto"),
        ({"pareto": ("price",)}, "is not a figure"),
        ({"seeds": 0}, "seeds: found 0"),
        ({"rows": "rows.txt"}, "whose name ends with"),
        ({"pods": "some"}, "pods"),
    ],
)
def test_an_argument_that_is_not_valid_is_one_sentence(arguments: dict, expected: str, snapshots: list[Path]):
    with pytest.raises(InputError, match=expected):
        sweep(snapshots[:1], **arguments)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "a,b\n"])
def test_a_file_of_something_else_is_not_replaced(text: str, snapshots: list[Path], tmp_path: Path):
    file = tmp_path / "rows.csv"
    file.write_text(text)
    with pytest.raises(InputError, match="does not have the rows of a sweep"):
        swept(snapshots, rows=file)
    assert file.read_text() == text


SCRIPT = """
import sys
from kubesched import sweep
import kubesched.sweeps.sweeping as writing
writing._WRITE_SECONDS = writing._WRITE_SHARE = 0

def progress(done, total):
    print(done, flush=True)

sweep(["1.json", "2.json"], seeds=int(sys.argv[1]), pods="all", rows="rows.jsonl", progress=progress)
"""


def test_a_full_disk_leaves_the_rows_that_were_there(snapshots: list[Path], tmp_path: Path, forks: Forks):
    file = tmp_path / "rows.jsonl"
    before = sweep([*snapshots], seeds=1, pods="all", rows=file)
    text = file.read_bytes()
    words = [tmp_path / "1.json", tmp_path / "2.json"]
    options = [word for one in words for word in ("--snapshot", one)]
    ended = with_full_disk(
        forks, len(text) + 10, tmp_path, "kubesched", "sweep", *options, "--seeds", 3, "--pods", "all", "--rows", file
    )
    assert ended.returncode == 2, ended.stderr
    assert "cannot be written" in ended.stderr
    assert "the same sweep goes on from there" in ended.stderr
    assert file.read_bytes() == text
    assert not list(tmp_path.glob(".rows*"))
    assert sweep([*snapshots], seeds=3, pods="all", rows=file).n_kept == len(before.rows)


@pytest.mark.timeout(240)
def test_a_sweep_that_is_killed_goes_on_where_it_was(snapshots: list[Path], tmp_path: Path):
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", SCRIPT, "60"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) < 5:
            time.sleep(0)
        process.send_signal(signal.SIGKILL)
    written = read_rows(tmp_path / "rows.jsonl")
    assert 4 <= len(written) < 120
    resumed = sweep(snapshots, seeds=6, pods="all", rows=tmp_path / "rows.jsonl")
    assert resumed.n_kept == sum(row.seed <= 6 for row in written)
    assert untimed(resumed) == untimed(sweep(snapshots, seeds=6, pods="all"))
