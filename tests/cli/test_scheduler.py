"""`kubesched scheduler`: its command line, up to where a cluster is needed."""

import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.cli.scheduler_command import scheduler
from kubesched.known_flags import FLAGS
from kubesched.live import SchedulerOptions
from tests.cli.clusters import run

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: ""}}]
current-context: c
"""
WRITE = ("--write-config-to", "written.yaml")


@pytest.fixture(autouse=True)
def _process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Give back what the command sets for its whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_the_configuration_is_written_with_all_defaults(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 4\n"
    )
    result = run("scheduler", "--config", "config.yaml", *WRITE)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Wrote configuration" in result.stderr
    text = (tmp_path / "written.yaml").read_text()
    shown = run("config", "show", "config.yaml").stdout
    assert text == shown.replace("resourceName: kube-scheduler", "resourceName: kubesched")
    assert yaml.safe_load(text)["podMaxBackoffSeconds"] == 10


def test_a_configuration_that_cannot_be_written_is_an_error() -> None:
    result = run("scheduler", "--write-config-to", "missing/written.yaml")
    assert result.exit_code == 2
    assert result.stderr.startswith("kubesched: error: missing/written.yaml: cannot be written")


def test_flags_without_effect_are_named_in_one_note() -> None:
    flags = ("--profiling=false", "--kube-api-qps", "5", "--contention-profiling", "--kube-api-qps=6")
    flags += ("--tls-curve-preferences=29",)
    result = run("scheduler", *flags, *WRITE)
    assert result.exit_code == 0
    (line,) = [line for line in result.stderr.splitlines() if "no effect" in line]
    assert line.endswith(": --contention-profiling, --kube-api-qps, --profiling, --tls-curve-preferences")


def test_replace_takes_the_lease_of_kube_scheduler(tmp_path: Path) -> None:
    assert run("scheduler", "--replace", *WRITE).exit_code == 0
    assert yaml.safe_load((tmp_path / "written.yaml").read_text())["leaderElection"]["resourceName"] == "kube-scheduler"
    assert run("scheduler", "--replace", "--leader-elect-resource-name=mine", *WRITE).exit_code == 0
    assert yaml.safe_load((tmp_path / "written.yaml").read_text())["leaderElection"]["resourceName"] == "mine"


def test_replace_needs_the_profile_of_kube_scheduler(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: gpu}]\n"
    )
    result = run("scheduler", "--replace", "--config", "config.yaml", *WRITE)
    assert result.exit_code == 2
    assert result.stderr == (
        'kubesched: error: --replace (in Python, SchedulerOptions.replaces) needs a profile "default-scheduler", which '
        "serves pods without a schedulerName; found only gpu\n"
    )


@pytest.mark.parametrize("flag", ["--version", "--version=true", "--version=raw"])
def test_the_version_is_printed_as_by_kube_scheduler(flag: str) -> None:
    result = run("scheduler", flag)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == run("--version").stdout


def test_a_version_that_is_not_asked_for_is_not_printed() -> None:
    assert run("scheduler", "--version=false", *WRITE).stdout == ""
    result = run("scheduler", "--version=v1.36.0", *WRITE)
    assert result.exit_code == 2
    assert "'--version': 'v1.36.0' is not one of" in result.stderr


def test_gates_without_effect_are_named_in_one_note() -> None:
    gates = ("--feature-gates", "OpportunisticBatching=true,SchedulerQueueingHints=true")
    lines = run("scheduler", *gates, *WRITE).stderr.splitlines()
    (line,) = [line for line in lines if "no effect" in line]
    assert line.endswith("these feature gates have no effect in kubesched: OpportunisticBatching")


def test_a_master_that_is_not_a_url_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    result = run("scheduler", "--kubeconfig", "kubeconfig", "--master", "localhost")
    assert result.exit_code == 2
    assert result.stderr.startswith("kubesched: error: --master: found 'localhost'; expected https://HOST")


@pytest.mark.parametrize("mode", [(), ("--dry-run",), ("--shadow",)], ids=["schedules", "dry run", "shadow"])
def test_an_error_at_the_start_is_the_only_message(tmp_path: Path, mode: tuple[str, ...]) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    flags = ("--kubeconfig", "kubeconfig", *mode)
    files = ("--tls-cert-file", "missing.crt", "--tls-private-key-file", "missing.key")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for wrong, words in (
            (("--kubeconfig", "missing"), "missing"),
            (files, "missing.crt: cannot be read"),
            (("--secure-port", str(taken.getsockname()[1])), "in use"),
        ):
            result = run("scheduler", *flags, *wrong)
            assert result.exit_code == 2
            (line,) = result.stderr.splitlines()
            assert line.startswith("kubesched: error: ")
            assert words in line


def test_flags_with_an_effect_are_not_noted() -> None:
    result = run("scheduler", "--secure-port", "0", "--cert-dir", "x", "-v", "2", *WRITE)
    assert (result.exit_code, "no effect" in result.stderr) == (0, False)


@pytest.mark.parametrize("spelled", [("-v", "4"), ("-v=4",), ("--v=4",), ("-v4",)])
def test_verbosity_sets_the_log_level(spelled: tuple[str, ...]) -> None:
    assert run("scheduler", *spelled, *WRITE).exit_code == 0
    assert logging.getLogger().level == logging.DEBUG
    assert run("scheduler", "-v", "2", *WRITE).exit_code == 0
    assert logging.getLogger().level == logging.INFO


def test_logs_are_json_where_asked_for_in_either_way() -> None:
    for flag in ("--log-json", "--logging-format=json"):
        assert run("scheduler", flag, *WRITE).exit_code == 0
        (handler,) = logging.getLogger().handlers
        assert handler.format(logging.makeLogRecord({"msg": "hello"})).startswith("{")


def test_notes_are_json_lines_in_a_log_of_json_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(setup: object, options: SchedulerOptions, **how: Any) -> None:
        how["on_started"]()

    monkeypatch.setattr("kubesched.programs.run_live", start)
    result = run("scheduler", "--profiling", "--log-json")
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    text = "differs from kube-scheduler: these flags of kube-scheduler have no effect in kubesched: --profiling"
    assert [line["level"] for line in lines if line["message"] == text] == ["info"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--policy-config-file", "x"), "No such option"),
        (("pods",), "No such command 'pods'"),
        (("-v", "many"), "'many' is not a number"),
        (("--secure-port", "65536"), "65536 is not in the range"),
        (("--tls-cert-file", "x"), "--tls-cert-file and --tls-private-key-file need each other"),
        (("--tls-min-version", "VersionTLS10"), "'VersionTLS10' is not one of"),
        (("--feature-gates", "GangScheduling=true"), "kubesched has no rules for GangScheduling=true"),
        (
            ("--kubernetes-version=1.33", "--feature-gates=DynamicResourceAllocation=true"),
            "v1.33 with DynamicResourceAllocation=true: a live scheduler writes claims as resource.k8s.io/v1, which",
        ),
    ],
)
def test_bad_flags_are_errors(arguments: tuple[str, ...], message: str) -> None:
    result = run("scheduler", *arguments, *WRITE)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(("flags", "seconds"), [((), 300), (("--pod-max-in-unschedulable-pods-duration", "1m30s"), 90)])
def test_the_longest_time_without_an_attempt_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...], seconds: float
) -> None:
    given: list[SchedulerOptions] = []

    async def note_options(setup: object, options: SchedulerOptions, **how: Any) -> None:
        how["on_started"]()
        given.append(options)

    monkeypatch.setattr("kubesched.programs.run_live", note_options)
    result = run("scheduler", *flags)
    assert (result.exit_code, "no effect" in result.stderr) == (0, False)
    assert [options.max_in_unschedulable for options in given] == [seconds]


def test_what_differs_from_kube_scheduler_is_reported_at_the_start() -> None:
    lines = run("scheduler", "--profiling=false", *WRITE).stderr.splitlines()
    unlimited = "requests have no rate limit; kube-scheduler's default is clientConnection.qps 50"
    assert f"kubesched: note: differs from kube-scheduler: {unlimited}" in lines
    assert sum("differs from kube-scheduler" in line for line in lines) == 5


def test_the_flags_are_those_of_kube_scheduler_v1_36_and_no_others_are_ignored() -> None:
    hidden = [option for option in scheduler.params if getattr(option, "hidden", False)]
    ignored = {name.removeprefix("--") for option in hidden for name in option.opts}
    accepted = {name.removeprefix("--") for option in scheduler.params for name in option.opts}
    assert ignored < FLAGS <= accepted | {"help"}
    assert run("scheduler", "--emulation-forward-compatible", *WRITE).exit_code == 2  # kube-apiserver's
