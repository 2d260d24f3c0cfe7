"""With --log-json every line on standard error is a JSON object, whatever writes it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.cli.clusters import run
from tests.extender.asking import node, with_nodes

NOISY = """
import asyncio, gc, logging, sys, threading, traceback, warnings

from kubesched import Plugin, Status

print("printed at import")
warnings.warn("warned at import")


class Falls:
    def __del__(self):
        raise ValueError("raised while it was freed")


class Noisy(Plugin):
    def start(self, handle):
        print("printed at start", "in pieces")
        print("two\\nlines")
        sys.stderr.write("written at start\\n")
        sys.stderr.buffer.write(b"bytes at start\\n")
        print("printed to standard error", file=sys.stderr, flush=True)
        threading.Thread(target=lambda: 1 / 0, name="dividing").start()
        asyncio.get_running_loop().create_task(self.fail())
        asyncio.get_running_loop().call_soon(lambda: {}["in a callback"])
        handle.logger.warning("logged at start")
        logging.getLogger("noisy").warning("%d", "not a number")
        try:
            raise KeyError("traced")
        except KeyError:
            traceback.print_exc()
        Falls()

    async def fail(self):
        raise RuntimeError("failed in a task")

    def filter(self, state, pod, node):
        gc.collect()
        warnings.warn("warned in filter")
        print("no end of line", end="")
        return Status.SUCCESS if pod.annotations["disks"] else Status.SUCCESS
"""
KUBECONFIG = """
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: ""}}]
current-context: c
"""


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    (tmp_path / "noisy.py").write_text(NOISY)
    return f"{tmp_path / 'noisy.py'}:Noisy"


def port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        number: int = found.getsockname()[1]
        return number


def lived(words: list[str], folder: Path, until: str, story: Any = lambda: None) -> list[dict[str, Any]]:
    """Run a command until its log has a text and a story has been told. Returns: the records of its log."""
    environ = {**os.environ, "PYTHONWARNINGS": "default"}
    log: list[str] = []
    with (folder / "out").open("wb") as out:
        command = [sys.executable, "-m", "kubesched", *words]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, env=environ, cwd=folder, text=True)
        deadline = threading.Timer(30, process.kill)
        deadline.start()
        with process:
            assert process.stderr is not None
            while not log or until not in log[-1]:
                log.append(process.stderr.readline())
                assert log[-1], log
            story()
            process.send_signal(signal.SIGTERM)
            log.extend(process.stderr)
            deadline.cancel()
    return records("".join(log))


def records(log: str) -> list[dict[str, Any]]:
    """Each line, which has to be a record."""
    found = [json.loads(line) for line in log.splitlines()]
    assert all({"time", "level", "logger", "message"} <= set(record) for record in found)
    return found


def test_whatever_an_extender_and_its_plugins_say_is_json(plugin: str, tmp_path: Path) -> None:
    number = port()

    def story() -> None:
        body = with_nodes(node("n1"))
        for path in ("filter", "nowhere"):
            with suppress(urllib.error.HTTPError):
                urllib.request.urlopen(f"http://127.0.0.1:{number}/{path}", body, timeout=10).read()

    found = lived(["extender", "--log-json", "--port", str(number), "--plugin", plugin], tmp_path, "ready: ", story)
    said = [record["message"] + record.get("exception", "") for record in found]
    for text in (
        "printed at import",
        "warned at import",
        "printed at start in pieces",
        "written at start",
        "bytes at start",
        "printed to standard error",
        "ZeroDivisionError",
        "RuntimeError: failed in a task",
        "KeyError: 'in a callback'",
        "logged at start",
        "not a number",
        "KeyError: 'traced'",
        "raised while it was freed",
        "warned in filter",
        "no end of line",
        "KeyError: 'disks' (noisy.py:",
        'no such path: "/nowhere"',
        "ready: filter",
        "kubesched 0.1.0 serves Noisy",
    ):
        assert any(text in one for one in said), (text, said)
    assert {"two", "lines"} <= set(said)
    (stanza,) = [record["stanza"] for record in found if "stanza" in record]
    assert stanza.startswith("extenders:\n")
    assert (tmp_path / "out").read_text() == ""


def test_whatever_a_scheduler_says_is_json(plugin: str, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    words = ["scheduler", "--logging-format", "json", "--kubeconfig", "kubeconfig", "--secure-port=0", "--profiling"]
    found = lived([*words, "--plugin", plugin], tmp_path, "cannot be read")
    said = {record["message"]: record["level"] for record in found}
    assert said["printed at import"] == "info"
    assert any("these flags of kube-scheduler have no effect" in text for text in said)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scheduler", "--log-json", "--bogus"], "No such option '--bogus'"),
        (["scheduler", "--logging-format=json", "--secure-port=x"], "'x' is not a valid integer"),
        (["--debug", "scheduler", "--logging-format", "json", "--config", "missing.yaml"], "missing.yaml"),
        (["extender", "--log-json", "--plugin", "missing.py:A"], "missing.py"),
        (["extender", "--log-json", "--port=1", "--health-port=1"], "--health-port and --port are the same"),
    ],
)
def test_an_error_at_the_start_is_one_record(words: list[str], message: str) -> None:
    before = sys.stderr, sys.excepthook
    result = run(*words)
    found = [record for record in records(result.stderr) if record["level"] == "error"]
    assert (result.exit_code, len(found)) == (2, 1)
    assert message in found[0]["message"]
    assert (sys.stderr, sys.excepthook) == before


def test_an_error_of_our_own_is_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: object, **named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("kubesched.setup.set_up", fails)
    result = run("extender", "--log-json")
    (record,) = records(result.stderr)
    assert (result.exit_code, record["level"]) == (1, "error")
    assert "ZeroDivisionError" in record["exception"]


def test_without_the_option_nothing_changes() -> None:
    result = run("scheduler", "--bogus")
    assert result.stderr.startswith("kubesched: error: No such option")
