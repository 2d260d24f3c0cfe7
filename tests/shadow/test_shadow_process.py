"""Shadow mode as a process: it only lists and watches, serves its metrics, and ends with a summary."""

import asyncio
import json
import logging
import os
import signal
from pathlib import Path

import pytest
from msgspec.structs import replace

from kubesched.api import KubeObject, Pod
from kubesched.framework import CycleState, Plugin, Status
from kubesched.live import SchedulerOptions, scheduler_process
from kubesched.setup import set_up
from kubesched.shadow import Shadow, run_shadow
from kubesched.state import NodeInfo
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run as run_command
from tests.cluster.fake_timing import run
from tests.live.read_only import kubeconfig_of, read_only_server, then_changed

CLUSTER: tuple[KubeObject, ...] = (
    make_node("n1"),
    make_node("n2", taints=["a=b:PreferNoSchedule"]),
    make_pod("right", requests={"cpu": "1"}),
    make_pod("wrong", requests={"cpu": "1"}),
)


class NeverStops(Plugin):
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return Status.SUCCESS

    async def stop(self) -> None:
        await asyncio.Event().wait()


def bound(name: str, node: str, version: str) -> Pod:
    pod = make_pod(name, requests={"cpu": "1"}, node=node)
    return replace(pod, metadata=replace(pod.metadata, resource_version=version))


def test_it_reports_and_writes_nothing_to_the_cluster(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="kubesched.shadow")
    is_ready = asyncio.Event()
    pod_watch = then_changed(is_ready, bound("right", "n1", "20"), bound("wrong", "n2", "21"))
    server = read_only_server(*CLUSTER, pod_watch=pod_watch)
    lines = tmp_path / "found" / "disagreements.jsonl"
    shadows: list[Shadow] = []

    async def story() -> None:
        stop = asyncio.Event()

        def on_ready(shadow: Shadow) -> None:
            shadows.append(shadow)
            is_ready.set()

        async with server:
            options: SchedulerOptions = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, tmp_path))
            shadowing = run_shadow(set_up(), options, lines.parent, stop=stop, on_ready=on_ready)
            running = asyncio.create_task(shadowing)
            while not (lines.exists() and lines.read_text()):  # noqa: ASYNC110 - a file sets no event
                await asyncio.sleep(0.01)
            stop.set()
            await running

    run(story())
    assert {asked.method for asked in server.asked} == {"LIST", "WATCH"}
    assert caplog.messages[-1] == "2 bindings judged: 1 agreed, 0 tie, 0 sampled, 0 order, 1 disagreed, 0 unseen"
    (line,) = map(json.loads, lines.read_text().splitlines())
    assert (line["pod"], line["plugin"], line["points"]) == ("default/wrong", "TaintToleration", 287)
    assert (lines.parent / line["snapshot"]).exists()
    assert not shadows[0].frameworks["default-scheduler"].profile.is_running


def test_no_json_is_kept_for_extenders_because_they_are_not_called(tmp_path: Path) -> None:
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    setup = set_up(json.dumps({**kind, "extenders": [{"urlPrefix": "http://x", "filterVerb": "f"}]}).encode())
    server = read_only_server(*CLUSTER)
    shadows: list[Shadow] = []

    async def story() -> None:
        stop = asyncio.Event()

        def on_ready(shadow: Shadow) -> None:
            shadows.append(shadow)
            stop.set()

        async with server:
            options: SchedulerOptions = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, tmp_path))
            await run_shadow(setup, options, None, stop=stop, on_ready=on_ready)

    run(story())
    objects = shadows[0].cluster_state.objects
    known = [*objects.list("Node"), *objects.list("Pod")]
    assert len(known) == len(CLUSTER)
    assert not any("raw_source" in vars(obj) for obj in known)


@pytest.mark.skipif(not hasattr(signal, "SIGUSR2"), reason="there is no such signal")
def test_sigusr2_logs_the_sizes_and_the_process_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="kubesched.shadow")
    server = read_only_server(*CLUSTER)

    def dumps() -> list[str]:
        return [record.message for record in caplog.records if record.name == "kubesched.shadow"]

    async def story() -> None:
        stop, is_ready = asyncio.Event(), asyncio.Event()
        async with server:
            options: SchedulerOptions = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, tmp_path))
            shadowing = run_shadow(set_up(), options, None, stop=stop, on_ready=lambda _: is_ready.set())
            running = asyncio.create_task(shadowing)
            await is_ready.wait()
            os.kill(os.getpid(), signal.SIGUSR2)
            while not dumps():  # noqa: ASYNC110 - the log has no event
                await asyncio.sleep(0.01)
            stop.set()
            await running

    before = signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # so that a fault does not end the tests
    try:
        run(story())
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert dumps()[0].startswith("cache dump: nodes 2, pods 0, waiting 2, changes 0, suspects 0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--dry-run", "--shadow"), "--dry-run and --shadow are mutually exclusive"),
        (("--shadow-dir", "found"), "--shadow-dir needs --shadow"),
    ],
)
def test_flags_that_do_not_fit_are_errors(arguments: tuple[str, ...], message: str) -> None:
    result = run_command("scheduler", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_plugin_that_does_not_stop_does_not_keep_the_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler_process, "_FINISH_SECONDS", 0.1)
    server = read_only_server(*CLUSTER)

    async def story() -> None:
        stop = asyncio.Event()
        async with server:
            options = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, tmp_path))
            setup = set_up(plugins=[NeverStops])
            await run_shadow(setup, options, None, stop=stop, on_ready=lambda _: stop.set())

    returned: list[int] = []
    monkeypatch.setattr(scheduler_process, "_TRIM_SECONDS", 0.0)
    monkeypatch.setattr(scheduler_process, "give_free_memory_back", lambda: returned.append(1))
    run(story())
    assert returned, "shadow mode returns free memory, too"
    assert "stopping the plugins took more than 0.1 s and is broken off" in caplog.messages


def test_a_fault_in_the_watch_comes_out_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = read_only_server(*CLUSTER)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("kubesched.cluster.reflector.Lines", broken)
    monkeypatch.setattr("kubesched.cluster.reflector.Reflector._decode_all", broken)

    async def story() -> None:
        async with server:
            options = SchedulerOptions(endpoints=None, kubeconfig=kubeconfig_of(server, tmp_path))
            await run_shadow(set_up(), options, None, stop=asyncio.Event(), on_ready=lambda _: None)

    with pytest.raises(ZeroDivisionError, match="a bug"):
        run(story())
