"""A Dask cluster of two worker processes gives what this process gives, also when one of them is killed."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import msgspec
import pytest
from distributed import Client, LocalCluster

from kubesched import Candidate, packed, sweep
from kubesched.errors import InputError, WorkerError
from kubesched.parallel import TaskGroup, carry_out, connected, dask_cluster, results_of
from tests.cli.clusters import TEAM_ZONE, run, write
from tests.comparison.small_clusters import random_cluster
from tests.parallel.runners import Told

pytestmark = pytest.mark.timeout(240)
HERE = os.getpid()


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with (
        mock.patch.dict(os.environ),  # Dask sets variables here for the workers that it starts, and leaves them
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as started,
    ):
        yield started


def test_the_workers_of_an_address_do_the_work(cluster: LocalCluster):
    with connected(cluster.scheduler_address):
        results = results_of(Told(size=200_000), range(12), lambda: None)
    assert [task for _, task, _, _ in results] == [*range(12)]
    processes = {pid for _, _, pid, _ in results}
    assert HERE not in processes
    assert len({(pid, at) for _, _, pid, at in results}) == len(processes)
    assert dask_cluster.active_client() is None


def test_a_client_that_is_active_is_used_and_a_killed_worker_changes_nothing(cluster: LocalCluster):
    parts = [TaskGroup(lambda name=name: Told(name, size=200_000), range(10)) for name in ("a", "b")]
    done = {}
    with Client(cluster):
        for i, j, result in carry_out(parts):
            done[i, j] = result[:2]
            if len(done) == 4:
                os.kill(result[2], signal.SIGKILL)
    assert done == {(i, j): ("ab"[i], j) for i in range(2) for j in range(10)}


def test_a_task_that_ends_every_worker_is_given_up_in_a_sentence(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with connected(cluster.scheduler_address), pytest.raises(WorkerError, match="Dask gave up a task"):
        results_of(Told(bad=3, how="die in a worker"), range(6), lambda: None)


def test_an_error_of_a_task_is_raised_here(cluster: LocalCluster):
    with connected(cluster.scheduler_address), pytest.raises(InputError, match="task 3"):
        results_of(Told(bad=3, how="raise"), range(6), lambda: None)


def test_a_sweep_on_a_cluster_with_a_killed_worker_has_equal_rows(cluster: LocalCluster):
    snapshots, configurations = [random_cluster(1), random_cluster(2)], [None, packed(Candidate("packed"))]

    def progress(n_done: int, n_rows: int) -> None:
        if n_done == 2:
            os.kill(next(iter(cluster.workers.values())).process.process.pid, signal.SIGKILL)

    there = sweep(snapshots, configurations, seeds=3, pods="all", on=cluster.scheduler_address, progress=progress)
    here = sweep(snapshots, configurations, seeds=3, pods="all")
    assert [msgspec.structs.replace(row, seconds=0.0) for row in there.rows] == [
        msgspec.structs.replace(row, seconds=0.0) for row in here.rows
    ]


@pytest.mark.parametrize("command", [("drain", "--each"), ("compare", "--pack", "--pods", "all", "--seeds", "5")])
def test_a_command_prints_the_same_on_a_cluster(cluster: LocalCluster, tmp_path: Path, command: tuple[str, ...]):
    name, *options = command
    file = write(tmp_path, *random_cluster(3))
    there = run(name, file, *options, "--on", cluster.scheduler_address, "-o", "json")
    assert there.output == run(name, file, *options, "-o", "json").output
    assert json.loads(there.stdout)


def test_a_drain_that_cannot_be_sent_says_so(cluster: LocalCluster, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "team_zone.py").write_text(TEAM_ZONE)
    words = ("drain", write(tmp_path, *random_cluster(3)), "--each", "--plugin", f"{tmp_path}/team_zone.py:TeamZone")
    assert run(*words, "--on", cluster.scheduler_address).exit_code == 0
    assert "this process does all of the work, because its plugins are timed here" in caplog.text


def test_workers_of_another_version_are_refused(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask_cluster, "VERSION", "9.9.9")
    expected = r"the Dask worker has kubesched \S+ with Python 3\.\d+; expected kubesched 9\.9\.9 with Python"
    with pytest.raises(WorkerError, match=expected), connected(cluster.scheduler_address):
        pass


def test_workers_without_the_memory_are_refused(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask_cluster, "needed_by_worker", lambda size: 1 << 60)
    with (
        connected(cluster.scheduler_address),
        pytest.raises(WorkerError, match=r"the Dask worker has [\d,]+ MiB of memory, and this cluster needs"),
    ):
        results_of(Told(), range(3), lambda: None)


def test_a_scheduler_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask_cluster, "_ANSWER_SECONDS", 0.5)
    with (
        pytest.raises(WorkerError, match=r"tcp://127\.0\.0\.1:1: no Dask scheduler answers"),
        connected("tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize("address", ["nonsense://x", "10.0.0.7", "tcp://10.0.0.7", "tcp://a:99999", "tcp://:1", ""])
def test_something_else_than_an_address_is_one_sentence(address: str):
    """Before Dask makes a client, whose end would print a traceback."""
    with (
        mock.patch("distributed.Client", side_effect=AssertionError("a client was made")),
        pytest.raises(InputError, match="not the address of a Dask scheduler; expected tcp://HOST:PORT"),
        connected(address),
    ):
        pass
    assert dask_cluster.active_client() is None
