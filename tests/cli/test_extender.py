"""`kubesched extender` as a whole, on a port of its own, from the first line to its exit code."""

import logging
import re
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from kubesched.cli import extender as command
from kubesched.config import PluginArgs
from tests.cli.clusters import run
from tests.serving.certificates import Authority

PLUGIN = """
import signal
from kubesched import Plugin, Status

class Likes(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS

    def score(self, state, pod, node):
        return 50
"""


@pytest.fixture(autouse=True)
def _process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Give back what a server sets for its whole process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likes.py").write_text(PLUGIN)
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Serves until it is ready; then a signal comes."""

    def served(*options: object, number: int = signal.SIGTERM) -> Result:
        def note_and_stop(text: str) -> None:
            note(text)
            if text.startswith("ready"):
                signal.raise_signal(number)

        monkeypatch.setattr(command, "note", note_and_stop)
        return run("extender", "--port", "0", "--plugin", "likes.py:Likes", "--drain", "1s", *options)

    note = command.note
    return served


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_in_order(serve: Callable[..., Result], number: int, code: int):
    result = serve(number=number)
    assert result.exit_code == code
    assert "INFO kubesched.serving.server: stopped" in result.stderr
    assert "Traceback" not in result.output


def test_it_prints_its_stanza_and_what_people_trip_over(serve: Callable[..., Result]):
    result = serve("--http-timeout", "2500ms")
    (stanza,) = yaml.safe_load(result.stdout)["extenders"]
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", stanza.pop("urlPrefix"))
    assert stanza == {
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 1,
        "nodeCacheCapable": False,
        "httpTimeout": "2.5s",
    }
    notes = [line for line in result.stderr.splitlines() if line.startswith("kubesched: note: ")]
    assert "serves Likes at http://127.0.0.1:" in notes[0]
    assert notes[-1] == "kubesched: note: ready: filter, prioritize"
    said = "\n".join(notes)
    assert "whole numbers from 0 to 10" in said
    assert "nodeCacheCapable: false" in said
    assert "--preemption-helps" in said


POLICY = '{"predicates": [{"name": "PodFitsResources"}, {"name": "NoDiskConflict"}], "priorities": []}'


@pytest.mark.parametrize("is_converted", [False, True])
def test_the_stanza_of_a_policy_has_the_verbs_of_the_plugins_of_the_user(
    serve: Callable[..., Result], tmp_path: Path, is_converted: bool
):
    (tmp_path / "kube.yaml").write_text(POLICY)
    if is_converted:
        (tmp_path / "kube.yaml").write_text(run("config", "convert", "kube.yaml").stdout)
    result = serve("--config", "kube.yaml")
    (stanza,) = yaml.safe_load(result.stdout)["extenders"]
    assert [key for key in stanza if key.endswith("Verb")] == ["filterVerb", "prioritizeVerb"]
    assert "serves Likes at" in result.stderr
    assert "DynamicResources" not in result.output


def test_a_plugin_of_kube_scheduler_can_be_skipped(serve: Callable[..., Result], tmp_path: Path):
    plugins = {"multiPoint": {"enabled": [{"name": "InGo"}, {"name": "Likes", "weight": 4}]}}
    header = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    (tmp_path / "kube.yaml").write_text(yaml.safe_dump({**header, "profiles": [{"plugins": plugins}]}))
    refused = run("extender", "--plugin", "likes.py:Likes", "--config", "kube.yaml")
    assert refused.exit_code == 2
    assert "add --skip-plugin InGo" in refused.stderr
    result = serve("--config", "kube.yaml", "--skip-plugin", "InGo")
    assert yaml.safe_load(result.stdout)["extenders"][0]["weight"] == 4


def test_managed_resources_are_in_the_stanza(serve: Callable[..., Result]):
    result = serve("--managed-resource", "example.com/gpu-mem=ignored")
    (stanza,) = yaml.safe_load(result.stdout)["extenders"]
    assert stanza["managedResources"] == [{"name": "example.com/gpu-mem", "ignoredByScheduler": True}]


def test_on_all_addresses_the_stanza_has_the_name_of_this_machine(serve: Callable[..., Result]):
    result = serve("--host", "0.0.0.0")
    (stanza,) = yaml.safe_load(result.stdout)["extenders"]
    assert re.fullmatch(rf"http://{re.escape(socket.gethostname())}:\d+", stanza["urlPrefix"])
    assert "note: Every client that can reach this extender can call it" in result.stderr


def test_https_with_client_certificates_is_in_the_stanza(serve: Callable[..., Result], tmp_path: Path):
    authority = Authority(tmp_path)
    certificate, key = authority.issue("extender")
    result = serve("--tls-cert-file", certificate, "--tls-private-key-file", key, "--client-ca-file", authority.path)
    (stanza,) = yaml.safe_load(result.stdout)["extenders"]
    assert stanza["urlPrefix"].startswith("https://127.0.0.1:")
    assert stanza["enableHTTPS"] is True
    assert sorted(stanza["tlsConfig"]) == ["caFile", "certFile", "keyFile"]


def test_log_lines_can_be_json(serve: Callable[..., Result]):
    result = serve("--log-json")
    assert '"level":"info","logger":"kubesched.serving.server","message":"listening on http' in result.stderr


def test_a_wrong_log_level_is_told(monkeypatch: pytest.MonkeyPatch, serve: Callable[..., Result]):
    monkeypatch.setenv("LOG_LEVEL", "loud")
    result = serve()
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'LOG_LEVEL: no level named "loud"; expected one of debug' in result.stderr


def test_a_path_prefix_that_no_client_can_call_is_told():
    result = run("extender", "--plugin", "likes.py:Likes", "--port", 0, "--path-prefix", "http://host/api")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith('kubesched: error: --path-prefix: found "http://host/api"; expected the path of ')
    assert result.stderr.count("\n") == 1


def test_a_port_in_use_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("extender", "--plugin", "likes.py:Likes", "--port", port)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"kubesched: error: cannot listen on '127.0.0.1' port {port}: the port is in use")


def test_a_health_port_in_use_is_told():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("extender", "--plugin", "likes.py:Likes", "--port", 0, "--health-port", port)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"kubesched: error: cannot listen on '127.0.0.1' port {port}: the port is in use")


@pytest.mark.parametrize(
    ("start", "why"),
    [
        ("def start(self, handle): raise OSError('no table')", "OSError: no table"),
        ("async def start(self, handle): raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_plugin_that_does_not_start_ends_it_with_one_sentence(start: str, why: str, tmp_path: Path):
    (tmp_path / "likes.py").write_text(f"{PLUGIN}\n    {start}\n\n    def stop(self): self.table.close()\n")
    result = run("extender", "--plugin", "likes.py:Likes", "--port", "0")
    assert result.exit_code == 2
    told = result.stderr.splitlines()[-1]
    assert re.fullmatch(rf'kubesched: error: starting plugin "Likes": {why} \(likes\.py:\d+ in start\)', told)
    assert "stop of plugin" not in result.stderr
    assert "Traceback" not in result.output


def test_a_task_of_a_plugin_that_exits_ends_alone(serve: Callable[..., Result], tmp_path: Path):
    hooks = """
    async def start(self, handle):
        import asyncio
        self.task = asyncio.create_task(self.refresh())
        await asyncio.sleep(0.01)

    async def refresh(self):
        raise SystemExit(3)

    async def stop(self):
        print("stopped in order")
"""
    (tmp_path / "likes.py").write_text(PLUGIN + hooks)
    result = serve()
    assert result.exit_code == 0
    assert "ERROR kubesched: a task raised SystemExit: 3; only this task ends" in result.stderr
    assert "stopped in order\n" in result.stderr


def test_a_plugin_is_started_and_stopped_on_the_loop(serve: Callable[..., Result], tmp_path: Path):
    hooks = """
    async def start(self, handle):
        import asyncio
        self.task = asyncio.create_task(asyncio.Event().wait())

    async def stop(self):
        self.task.cancel()
        print("refresh cancelled")
"""
    (tmp_path / "likes.py").write_text(PLUGIN + hooks)
    result = serve()
    assert result.exit_code == 0
    assert "refresh cancelled\n" in result.stderr


def test_the_help_wraps_and_says_defaults():
    lines = run("extender", "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    text = " ".join(" ".join(lines).split())
    for default in ("127.0.0.1", "8888; 0<=x<=65535", "5s", "error", "256; x>=1", "2000; x>=1", "10s"):
        assert f"[default: {default}]" in text
    assert "that kube-scheduler does not have" in text
    assert "[default: kube-scheduler's defaults]" not in text


def test_the_arguments_of_a_plugin_reach_it(serve: Callable[..., Result], tmp_path: Path):
    args = (
        "\n    class Args(PluginArgs):\n        zone: str = ''\n\n    def start(self, handle): print(self.args.zone)\n"
    )
    (tmp_path / "likes.py").write_text(
        PLUGIN.replace("import Plugin,", f"import {PluginArgs.__name__}, Plugin,") + args
    )
    (tmp_path / "args.yaml").write_text("zone: b\n")
    assert "\nb\n" in serve("--plugin-args", "Likes=args.yaml").stderr
