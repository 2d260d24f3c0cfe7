"""The smoke test of whatever can be installed: `python -m packages.smoke COMMAND` tries a `kubesched` from outside.

It needs only the standard library, and an example that it copies into an empty folder.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import Request, urlopen

SHOP: Final = Path(__file__).parents[1] / "examples" / "shop"
PLUGIN: Final = """
from kubesched import Plugin, Status

class OnlyA(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS if node.name == "a" else Status.unresolvable("node(s) were not a")
"""
MANIFEST: Final = json.dumps(
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "checkout"},
        "spec": {"containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}]},
    }
)
QUESTIONS: Final = (
    (("explain", "cluster.json.gz", "orders/nightly-vacuum"), "fits on none of 300 nodes"),
    (("fit", "cluster.json.gz", "-f", "web.json"), "1 of 1 would fit"),
    (("config", "check", "scheduler.yaml"), ""),
)
CALL: Final = {"Pod": json.loads(MANIFEST), "Nodes": {"items": [{"metadata": {"name": name}} for name in ("a", "b")]}}
MOST_SECONDS: Final = 30


class SmokeTestError(Exception):
    """A command does not do what it should."""


def smoke_test(command: str, folder: Path) -> dict[str, float]:
    """Ask a command the questions, and call it as an extender.

    Args:
        folder: an empty one.
    Returns: the seconds that each took.
    Raises:
        SmokeTestError: an answer is wrong.
    """
    for name in ("cluster.json.gz", "scheduler.yaml"):
        shutil.copy(SHOP / name, folder)
    (folder / "web.json").write_text(MANIFEST)
    (folder / "only_a.py").write_text(PLUGIN)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    seconds = {}
    for arguments, words in (*QUESTIONS, (("--version",), "kubesched ")):
        began = time.monotonic()
        done = subprocess.run([command, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        seconds[arguments[0]] = time.monotonic() - began
        if done.returncode or words not in done.stdout:
            raise SmokeTestError(f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    _call_extender(command, folder, environment)
    return seconds


def _call_extender(command: str, folder: Path, environment: dict[str, str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    extender = [command, "extender", "--plugin", "only_a.py:OnlyA", "--port", str(port)]
    with subprocess.Popen(
        extender, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            answer = _answer(f"http://127.0.0.1:{port}/filter", process)
        finally:
            process.terminate()
    if [node["metadata"]["name"] for node in (answer.get("Nodes") or {}).get("items", [])] != ["a"]:
        raise SmokeTestError(f"the extender answers {answer}")


def _answer(url: str, process: "subprocess.Popen[str]") -> dict[str, dict[str, list[dict[str, dict[str, str]]]]]:
    ends = time.monotonic() + MOST_SECONDS
    request = Request(url, json.dumps(CALL).encode(), {"Content-Type": "application/json"})
    while time.monotonic() < ends and process.poll() is None:
        try:
            with urlopen(request, timeout=5) as response:
                answer: dict[str, dict[str, list[dict[str, dict[str, str]]]]] = json.load(response)
                return answer
        except URLError:
            time.sleep(0.1)
    process.terminate()
    raise SmokeTestError(f"the extender does not answer: {process.stderr.read() if process.stderr else ''}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        print(json.dumps({name: round(taken, 2) for name, taken in smoke_test(sys.argv[1], Path(room)).items()}))
