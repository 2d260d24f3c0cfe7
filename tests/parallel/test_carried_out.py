"""Tasks in worker processes give what they give in this process, whatever happens to a worker."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kubesched import Candidate, compare, load_snapshot
from kubesched.errors import InputError
from kubesched.pages.comparisons.comparison_document import as_document
from kubesched.parallel import Sent, TaskGroup, carried_out, carry_out, results_of
from kubesched.parallel.sent_runners import packed
from kubesched.parallel.worker import carry_out_one
from tests.comparison.small_clusters import random_cluster
from tests.parallel.runners import Told, Unsendable

ROOT = Path(__file__).parents[2]
TASKS = range(8)
HERE = os.getpid()
FILE_PLUGIN = """
from kubesched import Plugin, PluginArgs

class Least(Plugin):
    class Args(PluginArgs):
        name: str = "n0"

    def __init__(self, args):
        self.args = args

    def score(self, state, pod, node):
        return 100 * (node.name == self.args.name)
"""


def carried(told: Told) -> tuple[list[tuple[str, int]], set[int], int]:
    """The results, the processes that had a task, and how many tasks were noted."""
    noted: list[None] = []
    results = results_of(told, TASKS, lambda: noted.append(None))
    return [(name, task) for name, task, _, _ in results], {pid for _, _, pid, _ in results}, len(noted)


def test_workers_do_the_work_and_each_task_is_noted_once():
    results, processes, n_noted = carried(Told())
    assert results == [("told", task) for task in TASKS]
    assert processes - {HERE}
    assert n_noted == len(TASKS)


def test_a_worker_gets_a_content_once():
    unpacked = {(pid, at) for _, _, pid, at in results_of(Told(size=500_000), range(20), lambda: None) if pid != HERE}
    assert len(unpacked) == len({pid for pid, _ in unpacked})


def test_a_worker_keeps_the_last_runner_only():
    first, second = packed(Told("first")), packed(Told("second"))
    _, (name, _, _, at) = carry_out_one(first.key, first.content, 0, 0)
    assert carry_out_one(first.key, first.content, 0, 1)[1][3] == at
    assert carry_out_one(second.key, second.content, 0, 0)[1][0] == "second"
    assert carry_out_one(first.key, first.content, 0, 0)[1][3] != at
    assert name == "first"


def test_parts_are_told_apart():
    parts = [TaskGroup(lambda name=name: Told(name), range(3)) for name in ("a", "b", "c")]
    done = {(i, j): result[:2] for i, j, result in carry_out(parts)}
    assert done == {(i, j): ("abc"[i], j) for i in range(3) for j in range(3)}


def test_what_fails_in_a_worker_is_done_here():
    results, processes, n_noted = carried(Told(bad=5, how="raise in a worker"))
    assert (len(results), n_noted) == (len(TASKS), len(TASKS))
    assert HERE in processes


def test_what_a_killed_worker_leaves_is_done_again(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    name = str(tmp_path / "died")
    results, _, n_noted = carried(Told(name, bad=5, how="die once"))
    assert results == [(name, task) for task in TASKS]
    assert n_noted == len(TASKS)
    assert "a worker process was killed" in caplog.text


def test_a_task_that_kills_every_worker_is_done_here():
    results, processes, _ = carried(Told(bad=5, how="die in a worker"))
    assert len(results) == len(TASKS)
    assert HERE in processes


def test_an_error_is_raised_in_this_process():
    with pytest.raises(InputError, match="task 5"):
        carried(Told(bad=5, how="raise"))


def test_what_cannot_be_sent_stays_here():
    assert carried(Unsendable())[1] == {HERE}


def test_without_memory_for_two_workers_there_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(carried_out, "room_for", lambda size: 1)
    assert carried(Told())[1] == {HERE}


def test_short_work_stays_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(carried_out, "_WORTH_SECONDS", 3.0)
    assert carried(Told())[1] == {HERE}


def test_a_runner_is_closed_at_the_end():
    told = Told()
    carried(told)
    assert told.closed >= 1


def test_a_comparison_in_workers_equals_one_in_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    plugin = tmp_path / "least.py"
    plugin.write_text(FILE_PLUGIN)
    sides = None, Candidate("least", None, [f"{plugin}:Least"], {"Least": {"name": "n3"}})
    sent: list[int] = []
    monkeypatch.setattr(carried_out, "packed", lambda runner: (sent.append(1), packed(runner))[1])
    in_workers = compare(random_cluster(1), *sides, seeds=5, pods="all")
    assert sent
    monkeypatch.setattr(carried_out, "_WORTH_SECONDS", 10.0**9)
    here = compare(random_cluster(1), *sides, seeds=5, pods="all")
    assert as_document(in_workers) == as_document(here)


def test_objects_keep_the_json_that_plugins_read(tmp_path: Path):
    file = tmp_path / "cluster.json"
    file.write_text(
        '{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"x":1}}]}'
    )
    [pod] = load_snapshot(file)
    for kinds, has_x in (((), False), (("Pod",), True)):
        [sent] = unpickled(Sent([pod], kinds)).objects
        assert sent == pod
        assert (b'"x"' in sent.raw) is has_x


def unpickled(sent: Sent) -> Sent:
    packing = packed(Carrier(sent))
    return carry_out_one(packing.key, packing.content, 0, 0)[1]


class Carrier:
    def __init__(self, what: object) -> None:
        self.what = what

    def __call__(self, task: int) -> object:
        return self.what

    def close(self) -> None:
        pass


SCRIPT = """
import os, signal, sys
from kubesched.parallel import carried_out, results_of
from tests.parallel.runners import Told
carried_out._WORTH_SECONDS = carried_out._LONG_SECONDS = -1.0
carried_out.n_cores = lambda: 2
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background of a shell ignores it

class Slow(Told):
    def __call__(self, task):
        if self.is_worker:
            os.write(1, b"began\\n")  # in one piece: two workers begin at once
        return super().__call__(task)

try:
    results_of(Slow(bad=2, how="sleep"), [0, 1, 2, 2], lambda: None)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.timeout(240)
def test_ctrl_c_ends_all_at_once_and_says_nothing():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    command = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        os.killpg(process.pid, signal.SIGINT)
        began = time.monotonic()
        _, errors = process.communicate(timeout=55)
    assert process.returncode == 130
    assert errors == ""
    assert time.monotonic() - began < 50  # the task would take 60
    assert not _members(process.pid)


@pytest.mark.timeout(240)
def test_a_worker_ends_with_a_parent_that_is_killed():
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT)))}
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        process.kill()
    for _ in range(1000):
        if not _members(process.pid):
            return
        time.sleep(0.02)
    raise AssertionError(f"processes that are left: {_members(process.pid)}")


def _members(group: int) -> list[str]:
    """The command lines of the processes of a group that have not ended."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, group_of = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
            if int(group_of) == group and state != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return [one for one in found if one and "resource_tracker" not in one]  # one that is ending has no command line
