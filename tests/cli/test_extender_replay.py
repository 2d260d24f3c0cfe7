"""`kubesched extender replay`: what changed, as text and as lines, with an exit code for CI."""

import json
from pathlib import Path

import pytest

from kubesched.extender import Answer, Recorder
from tests.cli.clusters import run
from tests.extender.test_call_replay import WHOLE, record

PLUGIN = """
from kubesched import Plugin, Status

class Choice(Plugin):
    def filter(self, state, pod, node):
        return Status.unresolvable("not here") if node.name in {names} else Status.SUCCESS

    def score(self, state, pod, node):
        return 50
"""


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return record(tmp_path / "rec", ("/filter", WHOLE), ("/prioritize", WHOLE))


def plugin(folder: Path, *names: str) -> str:
    (folder / "choice.py").write_text(PLUGIN.format(names=names))
    return f"{folder / 'choice.py'}:Choice"


def test_the_same_plugins_end_with_0(recording: Path, tmp_path: Path):
    result = run("extender", "replay", recording, "--plugin", plugin(tmp_path, "n1"))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "2 calls, 0 changed answers\n", "")


def test_other_plugins_end_with_1_and_sentences(recording: Path, tmp_path: Path):
    result = run("extender", "replay", recording, "--plugin", plugin(tmp_path, "n1", "n2"))
    assert result.exit_code == 1
    assert result.stdout == "call 1: filter d/p\n  rejected now: n2\n2 calls, 1 changed answers\n"


def test_lines_for_programs(recording: Path, tmp_path: Path):
    result = run("extender", "replay", recording, "--plugin", plugin(tmp_path, "n1", "n2"), "-o", "jsonl")
    assert result.exit_code == 1
    filtered, scored = map(json.loads, result.stdout.splitlines())
    assert filtered == {
        "number": 1,
        "verb": "filter",
        "pod": "d/p",
        "differences": ["rejected now: n2"],
        "skipped": False,
    }
    assert (scored["verb"], scored["differences"]) == ("prioritize", [])


def test_calls_that_are_not_played_are_counted(tmp_path: Path):
    with Recorder(tmp_path / "rec") as recorder:
        recorder.call("/bind", b"{}", Answer([b'{"Error":""}']))
    result = run("extender", "replay", tmp_path / "rec", "--plugin", plugin(tmp_path, "n1"))
    assert (result.exit_code, result.stdout) == (0, "0 calls, 0 changed answers, 1 skipped\n")


def test_a_recording_that_breaks_off_in_the_middle_shows_what_there_is(recording: Path, tmp_path: Path):
    path = recording / "recording.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    result = run("extender", "replay", recording, "--plugin", plugin(tmp_path, "n1"))
    assert (result.exit_code, result.stdout) == (0, "1 calls, 0 changed answers\n")
