"""The tutorial docs/guides/first-scheduler.md, from its first line to its last, with a real API server.

The files and commands are those of the page. There is no kubectl, no image and no kubelet: what kubectl would do is
done through the API, and the scheduler in the cluster is a process with the command, files and rights of its
container. A command that this test does not know fails it, so the page cannot get a step that is not run.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.api import KINDS
from tests.docs.pages import ROOT, Block, Reader, read_blocks
from tests.integration.api_client import ApiClient, ApiError, applied_path
from tests.integration.control_plane import ControlPlane
from tests.integration.installed import Document, InstalledScheduler, apply_all, delete_all
from tests.integration.processes import Process, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

PAGE = ROOT / "docs/guides/first-scheduler.md"
LOGGED = re.compile(r"""^(?:(?:\S+Z INFO )?(?=kubesched)|\{"time".*"message":")(.*?)(?:"\})?$""")
POD_ROW = re.compile(r"^(?P<pod>\S+) +1/1 +Running .*(?P<node>kind-\S+)")
EVENT_ROW = re.compile(r"^(?P<source>[a-z]+) +(?P<message>Successfully assigned .*)$")


class Walk:
    """A reader of the page who has a cluster.

    Attributes:
        compared: how many lines of output on the page were compared, by kind.
    """

    def __init__(self, cluster: ControlPlane, folder: Path) -> None:
        self.cluster = cluster
        self.client: ApiClient = cluster.client
        self.folder = folder
        self.reader = Reader(folder, programs=Path(sys.executable).parent)
        (folder / ".kube").mkdir()
        cluster.kubeconfig(folder / ".kube" / "config")
        self.running: Process | None = None
        self.is_dry = False
        self.compared = {"log": 0, "pod": 0, "event": 0}

    def follow(self, block: Block) -> None:
        if block.options.get("needs") == "cluster":
            for line in block.text.splitlines():
                self.run(line)
        elif block.options.get("file") == "cluster.yaml":
            self.reader.follow(block)
            (nodes,) = self.documents("cluster.yaml")
            self.client.create_all([without_spot(node) for node in nodes["items"]])
        elif block.language == "text":
            for line in block.text.splitlines():
                self.compare(line)
        else:
            self.reader.follow(block)

    def run(self, line: str) -> None:
        match line.split():
            case ["kubesched", "scheduler", *options]:
                self.interrupt()
                self.is_dry = "--dry-run" in options
                command = ["bash", "-c", f"cd {self.reader.folder} && exec {line}"]
                log = self.folder / ("dry-run.log" if self.is_dry else "scheduler.log")
                self.running = Process("kubesched scheduler", command, log, env=self.env)
            case ["kubesched", *_]:
                subprocess.run(["bash", "-c", line], cwd=self.reader.folder, env=os.environ | self.env, check=True)
            case ["kubectl", "get", kinds, "-A", "-o", "json", ">", file]:
                self.save(kinds.split(","), file)
            case ["kubectl", "label", "node", node, label]:
                key, _, value = label.removesuffix("-").partition("=")
                self.client.patch("Node", node, {"metadata": {"labels": {key: value or None}}})
            case ["kubectl", "apply", "-f", file]:
                self.apply(self.documents(file))
            case ["kubectl", "delete", "-f", file]:
                self.delete(self.documents(file))
            case ["kubectl", "--namespace", namespace, "delete", "lease", name]:
                self.client.delete("Lease", name, namespace)
            case ["kubectl", "get", "pods" | "events", *_]:
                pass  # what it prints is in the next block
            case ["kubectl", "--namespace", "kube-system", "rollout" | "logs", *_]:
                pass
            case ["kind" | "docker", *_]:
                pass
            case _:
                pytest.fail(f"{PAGE.name} has a step that this test does not run: {line}")

    @property
    def env(self) -> dict[str, str]:
        path = f"{self.reader.programs}{os.pathsep}{os.environ['PATH']}"
        return {"HOME": str(self.folder), "PATH": path, "PYTHONPATH": str(ROOT / "src")}

    def documents(self, file: str) -> list[Document]:
        return list(yaml.safe_load_all((self.reader.folder / file).read_text()))

    def save(self, plurals: list[str], file: str) -> None:
        """Write a snapshot, as kubectl does."""
        kinds = [kind for kind in KINDS.values() if kind.plural in plurals]
        assert len(kinds) == len(plurals)
        items = [
            {"apiVersion": kind.api_version, "kind": kind.name, **item}
            for kind in kinds
            for item in self.client.read_all(kind.name)
        ]
        (self.reader.folder / file).write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def apply(self, documents: list[Document]) -> None:
        if any(document["kind"] == "Deployment" for document in documents):
            self.interrupt()
            apply_all(self.client, documents)
            installed = self.folder / "installed"
            installed.mkdir()
            self.running = InstalledScheduler(self.cluster, installed, documents).process
        else:
            self.client.create_all(documents)

    def delete(self, documents: list[Document]) -> None:
        if any(document["kind"] == "Deployment" for document in documents):
            self.interrupt()
        pods = [document for document in documents if document["kind"] == "Pod"]
        delete_all(self.client, [document for document in documents if document not in pods])
        for pod in pods:
            self.client.delete("Pod", pod["metadata"]["name"])

    def interrupt(self) -> None:
        """Ctrl-C, or the end of the replicas. A dry run has written nothing until then."""
        if self.running:
            if self.is_dry:
                assert all(not pod["spec"].get("nodeName") for pod in self.client.read_all("Pod"))
                assert all(not pod["status"].get("conditions") for pod in self.client.read_all("Pod"))
            self.running.stop()
            self.running = None
            self.is_dry = False

    def compare(self, line: str) -> None:
        """Wait until the output is what the page shows."""
        if shown := LOGGED.match(line):
            assert self.running, line
            scheduler, words = self.running, shown[1]
            scheduler.wait_until(lambda: any(words in said for said in scheduler.logs()), f"the line {words!r}")
            self.compared["log"] += 1
        elif shown := POD_ROW.match(line):
            name, node = shown["pod"], shown["node"]
            wait_until(lambda: self.client.get("Pod", name)["spec"].get("nodeName") == node, f"{name} on {node}")
            self.compared["pod"] += 1
        elif shown := EVENT_ROW.match(line):
            wait_until(lambda: shown.groups() in self.scheduled(), f"the event {shown[0]!r}")
            self.compared["event"] += 1
        else:
            assert line.startswith(("NAME ", "FROM ")), f"not compared: {line}"

    def scheduled(self) -> set[tuple[str, ...]]:
        path = "/api/v1/namespaces/default/events"
        events = self.client.call("GET", path, fieldSelector="reason=Scheduled")["items"]
        return {(event["reportingComponent"], event["message"]) for event in events}


def without_spot(node: Document) -> Document:
    """The node before the reader labels it."""
    labels = {key: value for key, value in node["metadata"].get("labels", {}).items() if not key.endswith("/spot")}
    return {**node, "metadata": {**node["metadata"], "labels": labels}}


@pytest.fixture
def walk(cluster: ControlPlane, tmp_path: Path) -> Iterator[Walk]:
    walk = Walk(cluster, tmp_path)
    yield walk
    walk.interrupt()
    with suppress(FileNotFoundError):
        walk.delete(walk.documents("spot-scheduler.yaml"))


def test_the_tutorial_leads_from_an_empty_folder_to_pods_on_the_nodes_that_the_plugin_wants(walk: Walk) -> None:
    for block in read_blocks(PAGE.read_text(encoding="utf-8")):
        walk.follow(block)
    assert walk.compared == {"log": 4, "pod": 4, "event": 2}

    assert walk.client.read_all("Pod", "default") == []
    assert not any("example.com/spot" in labels_of(node) for node in walk.client.read_all("Node"))
    with pytest.raises(ApiError):
        walk.client.get("Lease", "spot", "kube-system")
    for document in walk.documents("spot-scheduler.yaml"):
        with pytest.raises(ApiError, match="not found"):
            walk.client.call("GET", applied_path(document))


def labels_of(node: dict[str, Any]) -> dict[str, str]:
    labels: dict[str, str] = node["metadata"].get("labels", {})
    return labels
