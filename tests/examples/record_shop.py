#!/usr/bin/env python3
"""Record what kube-scheduler's own plugins say about the pending pods of examples/shop.

    python tests/examples/record_shop.py --oracle PATH

The oracle is told what kube-scheduler would have sorted out before: pods that have ended are not sent to a scheduler,
and a pod behind a scheduling gate is not tried.
"""

import argparse
import gzip
import hashlib
import json
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
SHOP = HERE.parents[1] / "examples" / "shop"
ANSWERS = HERE / "shop-answers.json"
CONFIGS = {"defaults": [], "scheduler.yaml": ["-config", str(SHOP / "scheduler.yaml")]}


def read_snapshot() -> bytes:
    return gzip.decompress((SHOP / "cluster.json.gz").read_bytes())


def is_scheduled(item: dict) -> bool:
    """Whether a scheduler would see the object, or try it if it is a pending pod."""
    if item["kind"] != "Pod":
        return True
    return item["status"]["phase"] not in ("Succeeded", "Failed") and not item["spec"].get("schedulingGates")


def ask(oracle: str, mode: list[str], snapshot: Path) -> list[dict]:
    done = subprocess.run([oracle, *mode, str(snapshot)], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def answers(oracle: str, snapshot: Path, config: list[str]) -> dict[str, dict]:
    """One entry for each pod: alone against the snapshot, and where it went when all were placed in turn."""
    found = {}
    for alone in ask(oracle, ["eval", "-preempt", *config], snapshot):
        entry = {"feasible": len(alone.get("feasible", [])), "message": alone.get("message", "")}
        entry |= {key: alone[key] for key in ("nominatedNode", "victims", "postFilterMessage") if alone.get(key)}
        found[alone["pod"]] = entry
    for turn in ask(oracle, ["place", *config], snapshot):
        found[turn["pod"]] |= {"placed": turn.get("node", ""), "messageInTurn": turn.get("message", "")}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the oracle's answers about examples/shop.")
    parser.add_argument("--oracle", required=True, help="the built oracle of campaigns/oracle")
    oracle = parser.parse_args().oracle
    data = read_snapshot()
    about = {
        "by": "kube-scheduler v1.36.3 plugins, campaigns/oracle, eval -preempt and place",
        "command": "python tests/examples/record_shop.py --oracle PATH",
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "snapshot": hashlib.sha256(data).hexdigest(),
    }
    content = json.loads(data)
    content["items"] = [item for item in content["items"] if is_scheduled(item)]
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder, "cluster.json")
        snapshot.write_text(json.dumps(content))
        recorded = {name: answers(oracle, snapshot, config) for name, config in CONFIGS.items()}
    ANSWERS.write_text(json.dumps({"about": about} | recorded, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
