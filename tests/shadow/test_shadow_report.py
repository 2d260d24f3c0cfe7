"""The files of shadow mode: bounded, and `kubesched explain` opens each snapshot."""

import asyncio
import json
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client import generate_latest

from kubesched.api import KubeObject
from kubesched.errors import InputError
from kubesched.metrics import ShadowMetrics
from kubesched.serving import Registry
from kubesched.shadow import Agreement, ShadowReport, Verdict, shadow_report
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run
from tests.forks import Forks
from tests.full_disk import with_full_disk

CLUSTER: list[KubeObject] = [
    make_node("n1"),
    make_node("n2", taints=["a=b:PreferNoSchedule"]),
    make_pod("p", requests={"cpu": "1"}),
]
VERDICT = Verdict(
    Agreement.DISAGREED,
    "default/p",
    "uid-1",
    "default-scheduler",
    "n2",
    "n1",
    points=300,
    plugin="TaintToleration",
    scores={"TaintToleration": 0},
    our_scores={"TaintToleration": 300},
)


def taken(
    folder: Path, *verdicts: Verdict, options: tuple[str, ...] = (), is_slow: bool = False
) -> list[dict[str, Any]]:
    """Report verdicts, each after the one before is written unless it is slow. Returns: the lines of the file."""

    async def story() -> None:
        report = ShadowReport(ShadowMetrics(), folder, options)
        for verdict in verdicts:
            report.take(verdict, lambda: CLUSTER)
            if not is_slow:
                await report.finish()
        await report.finish()

    asyncio.run(story())
    return [json.loads(line) for line in (folder / "disagreements.jsonl").read_text().splitlines()]


def test_explain_opens_what_a_line_refers_to(tmp_path: Path) -> None:
    (line,) = taken(tmp_path / "new", VERDICT, options=("--config", "scheduler.yaml"))
    fields = ("agreement", "pod", "node", "ours", "plugin", "points", "scores", "ourScores")
    assert [line[name] for name in fields] == [
        "disagreed",
        "default/p",
        "n2",
        "n1",
        "TaintToleration",
        300,
        {"TaintToleration": 0},
        {"TaintToleration": 300},
    ]
    command = shlex.split(line["explain"])
    assert command[-2:] == ["--config", "scheduler.yaml"]
    result = run(*command[1:-2])
    assert result.exit_code == 0, result.output
    assert "loses by 300 points to n1: TaintToleration 0 against 300" in result.stdout
    assert "n2" in result.stdout


def test_the_newest_twenty_snapshots_are_kept(tmp_path: Path) -> None:
    lines = taken(tmp_path, *(replace(VERDICT, uid=f"uid-{i}") for i in range(25)))
    kept = {path.name for path in tmp_path.glob("*.gz")}
    assert kept == {line["snapshot"] for line in lines[-20:]}
    taken(tmp_path, VERDICT)
    assert len(list(tmp_path.glob("*.gz"))) == 20


def test_snapshots_of_the_user_are_kept(tmp_path: Path) -> None:
    mine = [tmp_path / f"0-mine-{i:02}.snapshot.json.gz" for i in range(25)]
    for path in mine:
        path.write_bytes(b"mine")
    taken(tmp_path, VERDICT)
    assert all(path.exists() for path in mine)


def test_what_it_writes_is_for_the_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    taken(folder, VERDICT)
    modes = {path.suffix: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert modes == {"": 0o700, ".gz": 0o600, ".jsonl": 0o600}


def test_a_line_is_written_after_its_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = tmp_path / "disagreements.jsonl"
    before: list[str] = []
    write = shadow_report.write_snapshot

    def slow(objects: list[KubeObject], path: Path, *, strip: bool) -> None:
        before.append(lines.read_text())
        write(objects, path, strip=strip)

    monkeypatch.setattr(shadow_report, "write_snapshot", slow)
    (line,) = taken(tmp_path, VERDICT)
    assert before == [""]
    assert (tmp_path / line["snapshot"]).exists()


def test_a_snapshot_that_cannot_be_written_is_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(objects: list[KubeObject], path: Path, *, strip: bool) -> None:
        raise InputError(f"{path}: cannot be written: No space left on device")

    monkeypatch.setattr(shadow_report, "write_snapshot", full)
    (line,) = taken(tmp_path, VERDICT)
    assert line["pod"] == "default/p"
    assert not {"snapshot", "explain"} & line.keys()


def test_a_disagreement_while_a_snapshot_is_written_has_a_line_alone_and_at_once(tmp_path: Path) -> None:
    """Nothing waits for a disk on which a snapshot takes long."""

    async def story() -> list[str]:
        report = ShadowReport(ShadowMetrics(), tmp_path)
        for verdict in (VERDICT, replace(VERDICT, pod="default/q")):
            report.take(verdict, lambda: CLUSTER)
        at_once = (tmp_path / "disagreements.jsonl").read_text().splitlines()
        await report.finish()
        return at_once

    at_once = [json.loads(line) for line in asyncio.run(story())]
    assert [(line["pod"], "snapshot" in line, "explain" in line) for line in at_once] == [("default/q", False, False)]
    last = json.loads((tmp_path / "disagreements.jsonl").read_text().splitlines()[-1])
    assert (last["pod"], "snapshot" in last) == ("default/p", True)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, forks: Forks) -> None:
    (tmp_path / "disagreements.jsonl").write_text('{"line": 1}\n')
    program = "from kubesched.shadow.shadow_report import _append, _LINES, Path; _append(Path(_LINES), b'x' * 200)"
    assert "OSError" in with_full_disk(forks, 100, tmp_path, "python", "-c", program).stderr
    assert (tmp_path / "disagreements.jsonl").read_text() == '{"line": 1}\n'


def test_the_lines_start_a_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shadow_report, "_MAX_BYTES", 600)
    taken(tmp_path, *[VERDICT] * 9, is_slow=True)
    sizes = [path.stat().st_size for path in tmp_path.glob("*.jsonl")]
    assert len(sizes) == 2
    assert max(sizes) < 600 + 600


def test_only_disagreements_are_written_and_all_are_counted(tmp_path: Path) -> None:
    metrics, registry = ShadowMetrics(), Registry()
    registry.register(metrics)
    report = ShadowReport(metrics, tmp_path)
    never: Callable[[], list[KubeObject]] = pytest.fail
    for agreement in (Agreement.AGREED, Agreement.AGREED, Agreement.TIE, Agreement.UNSEEN):
        report.take(replace(VERDICT, agreement=agreement), never)
    assert (tmp_path / "disagreements.jsonl").read_text() == ""
    assert report.summary() == ("3 bindings judged: 2 agreed, 1 tie, 0 sampled, 0 order, 0 disagreed, 1 unseen")
    label = '{class="agreed",profile="default-scheduler"}'
    assert f"kubesched_shadow_decisions_total{label} 2.0" in generate_latest(registry).decode()


def test_without_a_folder_a_disagreement_is_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="kubesched.shadow")
    ShadowReport(ShadowMetrics()).take(VERDICT, lambda: CLUSTER)
    (record,) = caplog.records
    assert (record.message, record.__dict__["pod"], record.__dict__["plugin"]) == (
        "disagreed",
        "default/p",
        "TaintToleration",
    )


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written .*; give a folder that can"):
        ShadowReport(ShadowMetrics(), tmp_path / "file")


def test_bindings_that_are_not_judged_are_left_out_of_the_counts_and_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    why = "kubesched does not place pods with resource claims yet"
    undecided = replace(VERDICT, agreement=Agreement.UNDECIDED, reason=why)
    metrics = ShadowMetrics()
    report = ShadowReport(metrics, tmp_path)
    report.take(replace(VERDICT, agreement=Agreement.TIE), list)
    with caplog.at_level("INFO", "kubesched.shadow"):
        for _ in range(3):
            report.take(undecided, list)
    assert caplog.messages == [f"bindings are not judged: {why}"]
    assert report.summary().startswith("1 bindings judged: 0 agreed, 1 tie, ")
    assert report.summary().endswith(f" 0 unseen; 3 not judged: {why}")
    assert metrics.counts == {"tie": 1}
    assert (tmp_path / "disagreements.jsonl").read_text() == ""
