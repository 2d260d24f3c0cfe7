"""`kubesched extender` as a process of its own, for tests."""

import json
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from kubesched.extender import read_recording
from kubesched.extender.recording import RecordedCall
from tests.integration.processes import Process, free_port

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "tests" / "integration" / "extender_plugins.py"


class ExtenderProcess:
    """A running extender that records its calls.

    Attributes:
        stanza: what it says that kube-scheduler's configuration needs, one extender.
        port: of the loopback address.
    """

    def __init__(
        self,
        folder: Path,
        plugins: Sequence[str],
        *options: str,
        port: int = 0,
        scheme: str = "http",
        wait: bool = True,
        record: bool = True,
        limit: str = "",
        program: Sequence[str | Path] = ("-m", "kubesched", "extender"),
    ) -> None:
        """Start it and wait until it can be asked.

        Args:
            folder: takes its log and its recording.
            plugins: names of classes in extender_plugins, or references.
            wait: until it is ready; else only until it listens.
            record: whether `calls` are wanted.
            program: what Python runs; another one has to take the same options and print the same.
            limit: options of the shell's `ulimit` for the process, such as `-n 256`.
        """
        folder.mkdir(exist_ok=True)
        self.port = port or free_port()
        self.folder = folder / "recording"
        named = [plugin if ":" in plugin else f"{PLUGINS}:{plugin}" for plugin in plugins]
        command: list[str | Path] = [sys.executable, *program, "--port", str(self.port)]
        for plugin in named:
            command += ["--plugin", plugin]
        if record:
            command += ["--record", self.folder]
        command += options
        if limit:
            command = ["bash", "-c", f'ulimit {limit} && exec "$@"', "bash", *command]
        self.process = Process("kubesched extender", command, folder / "extender.log")
        try:
            self.process.wait_until(lambda: "listening on" in "".join(self.process.logs()), "its port")
            if wait:
                self.process.wait_until(lambda: "note: ready" in "".join(self.process.logs()), "its cache")
        except BaseException:
            self.process.stop()
            raise
        self.stanza = self._stanza()
        if scheme == "https":
            self.stanza["urlPrefix"] = f"https://localhost:{self.port}"

    def _stanza(self) -> dict[str, Any]:
        lines = self.process.logs()
        start = lines.index("extenders:")
        end = start + 1
        while end < len(lines) and lines[end][:2] in ("- ", "  "):
            end += 1
        (stanza,) = yaml.safe_load("\n".join(lines[start:end]))["extenders"]
        found: dict[str, Any] = stanza
        return found

    def calls(self, verb: str = "") -> list[tuple[str, dict[str, Any], Any]]:
        """What was asked and answered so far: verb, request, answer; the text of one that failed."""
        found = []
        for record in read_recording(self.folder):
            if not isinstance(record, RecordedCall):
                continue
            name = record.path.strip("/")
            if verb in ("", name):
                answer = json.loads(record.answer) if record.status == 200 else record.answer.decode()
                found.append((name, json.loads(record.request), answer))
        return found

    def calls_for(self, pod: str, verb: str) -> list[tuple[dict[str, Any], Any]]:
        """Requests and answers of one verb about one pod."""
        return [
            (request, answer)
            for _, request, answer in self.calls(verb)
            if request.get("PodName") == pod or request.get("Pod", {}).get("metadata", {}).get("name") == pod
        ]

    def get(self, path: str) -> str:
        """A page of it, without TLS."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=10) as answer:
            text: str = answer.read().decode()
            return text

    def metric(self, series: str) -> float:
        """One value of /metrics, such as `kubesched_extender_in_flight`; 0 where it has not been seen."""
        for line in self.get("/metrics").splitlines():
            name, _, value = line.rpartition(" ")
            if name == series:
                return float(value)
        return 0.0

    def stop(self) -> None:
        self.process.stop()

    def kill(self) -> None:
        self.process.kill()
