#!/usr/bin/env python3
"""How long `kubesched snapshot` takes to read a large cluster from an API server; whether the file decides the same.

    python benchmarks/snapshot.py [--shape eks] [--nodes 5000] [--pods 20000] [--repeat 3]

A separate etcd and API server, the ones of the integration tests, get a cluster of tests/clusters: all nodes and
pending pods, and running pods up to --pods. The objects are put into etcd, which takes some seconds. The command runs
with its usual limits, in a separate process. The API server counts its requests. Then `explain --all` and `simulate`
have to print the same bytes for the file and for the whole objects, as `kubectl get -o json` writes them. Prints one
JSON object; exit code 1 if a decision differs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.report.machine import machine
from kubesched.api import KINDS
from tests.clusters import SHAPES, realistic
from tests.integration.api_client import ApiClient
from tests.integration.build import find_binary
from tests.integration.control_plane import ControlPlane
from tests.kinds import SERVED_KINDS

Document = dict[str, Any]

COMMANDS = {"explain": ("--all",), "simulate": ()}


def main() -> int:
    options = parsed()
    documents = chosen(json.loads(realistic(options.shape, options.nodes))["items"], options.pods)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with ControlPlane(find_binary(lambda line: print(line, file=sys.stderr)), folder / "control-plane") as plane:
            begin = time.monotonic()
            plane.store(documents)
            seconds = time.monotonic() - begin
            kubeconfig = plane.kubeconfig(folder / "kubeconfig")
            runs = [measured(plane.client, kubeconfig, folder / "saved.json.gz") for _ in range(options.repeat)]
            n_bytes = write_whole(plane.client, folder / "whole.json")
        differing = [
            command
            for command in COMMANDS
            if decided(command, folder / "saved.json.gz") != decided(command, folder / "whole.json")
        ]
        report = {
            **machine(),
            "objects": len(documents),
            "stored per second": round(len(documents) / seconds),
            "megabytes of whole objects": round(n_bytes / 1e6, 1),
            "megabytes of the file": round((folder / "saved.json.gz").stat().st_size / 1e6, 1),
            "runs": runs,
            "decisions that differ": differing,
        }
    print(json.dumps(report, indent=1))
    return 1 if differing else 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="eks")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


def chosen(documents: list[Document], n_pods: int) -> list[Document]:
    """What the API server gets: kinds that a scheduler reads, and running pods from everywhere up to a number."""
    pods = [document for document in documents if document["kind"] == "Pod"]
    pending = [pod for pod in pods if not pod["spec"].get("nodeName")]
    running = [pod for pod in pods if pod["spec"].get("nodeName")]
    n_running = min(n_pods - len(pending), len(running))
    kept = [running[i * len(running) // n_running] for i in range(n_running)]
    rest = [one for one in documents if one["kind"] in SERVED_KINDS and one["kind"] != "Pod" and not is_built_in(one)]
    return [*rest, *kept, *pending]


def is_built_in(document: Document) -> bool:
    """Whether an API server makes it at its start."""
    name = document["metadata"]["name"]
    return document["kind"] in ("Namespace", "PriorityClass") and name.startswith(("default", "kube-", "system-"))


def measured(client: ApiClient, kubeconfig: Path, path: Path) -> Document:
    """Run the command once: seconds, CPU seconds, peak memory, and the lists that the API server counted."""
    before = n_lists(client)
    begin = time.monotonic()
    command = [sys.executable, "-m", "kubesched", "snapshot", "--kubeconfig", str(kubeconfig), "-o", str(path)]
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"kubesched snapshot ended with {process.returncode}")
    return {
        "seconds": round(seconds, 1),
        "CPU seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak MiB": round(usage.ru_maxrss / 1024),
        "requests": round(n_lists(client) - before),
    }


def n_lists(client: ApiClient) -> float:
    page = client.text("/metrics")
    return sum(float(n) for n in re.findall(r'^apiserver_request_total\{.*verb="LIST".*\} (\S+)$', page, re.MULTILINE))


def write_whole(client: ApiClient, path: Path) -> int:
    """Write all objects with all their fields, as kubectl does. Returns: how many bytes."""
    items = []
    for kind in (KINDS[key] for key in SERVED_KINDS):
        more = {}
        while True:
            page = client.read_list(kind.name, limit="500", **more)
            items += [{"apiVersion": kind.api_version, "kind": kind.name, **one} for one in page["items"]]
            if not page["metadata"].get("continue"):
                break
            more = {"continue": page["metadata"]["continue"]}
    return path.write_bytes(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode())


def decided(command: str, path: Path) -> bytes:
    """What a command prints about a file, for programs."""
    options = [*COMMANDS[command], "-o", "jsonl"]
    done = subprocess.run(
        [sys.executable, "-m", "kubesched", command, str(path), *options], capture_output=True, check=False
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"kubesched {command} ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
