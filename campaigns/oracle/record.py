#!/usr/bin/env python3
"""Record what kube-scheduler's plugins say about generated snapshots.

    record.py --oracle PATH --out DIR --seeds 1-20 [--configs DIR]

Writes DIR/<case>.json.gz: {"command": ..., "config": YAML text or null, "snapshot": List, "eval": [...],
"place": [...]}. Each seed gives one case with every feature group, one for a single group, and one with a
configuration, in turn. For more of everything, and by several workers, see campaign.py.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
GROUPS = ["resources", "labels", "taints", "ports", "affinity", "spread", "images", "volumes"]
VERSION = "v1.36.3"


class OracleError(Exception):
    """The oracle ended with an error: a plugin failed in PreScore or Score, or it cannot read its input."""

    @property
    def summary(self) -> str:
        """The first line of what it printed."""
        return str(self).partition("\n")[0]


def lines(command: list[str]) -> list[dict]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OracleError(done.stderr.strip()[:2000])
    return [json.loads(line) for line in done.stdout.splitlines()]


def place(command: list[str], runs: int = 5) -> list[dict]:
    """Placements, with every preemption outcome seen in several runs: among equals kube-scheduler takes any."""
    seen = [lines(command) for _ in range(runs)]
    merged = seen[0]
    for i, pod in enumerate(merged):
        outcomes = {(run[i].get("nominatedNode"), tuple(run[i].get("victims", ()))) for run in seen} - {(None, ())}
        pod.pop("nominatedNode", None), pod.pop("victims", None)
        if outcomes:
            pod["preemption"] = [{"node": node, "victims": list(victims)} for node, victims in sorted(outcomes)]
    return merged


def record(
    oracle: str, out: Path, case: str, arguments: list[str], config: Path | None, version: str = VERSION
) -> Path:
    """Generate a snapshot, ask the oracle, write the case; it appears whole or not at all."""
    command = [sys.executable, str(HERE / "generate.py"), *arguments]
    snapshot = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        f.write(snapshot)
        f.flush()
        extra = ["-config", str(config)] if config else []
        result = {
            "version": version,
            "command": "generate.py " + " ".join(arguments),
            "config": config.read_text() if config else None,
            "snapshot": json.loads(snapshot),
            "eval": lines([oracle, "eval", *extra, f.name]),
            "place": place([oracle, "place", "-preempt", *extra, f.name]),
        }
    path = out / f"{case}.json.gz"
    return write_case(path, result)


def write_case(path: Path, case: dict) -> Path:
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as z:
        z.write(json.dumps(case, separators=(",", ":"), sort_keys=True).encode())
    return unfinished.rename(path)


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--oracle", required=True)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--seeds", required=True)
    p.add_argument("--configs", type=Path)
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    first, last = map(int, a.seeds.split("-"))
    configs = sorted(a.configs.glob("*.yaml")) if a.configs else []
    for seed in range(first, last + 1):
        size = ["--nodes", str(8 + seed * 7 % 40), "--bound", str(20 + seed * 13 % 160), "--pending", "30"]
        base = ["--seed", str(seed), *size]
        record(a.oracle, a.out, f"all-{seed:04d}", base, None)
        group = GROUPS[seed % len(GROUPS)]
        record(a.oracle, a.out, f"{group}-{seed:04d}", [*base, "--only", group], None)
        if configs:
            c = configs[seed % len(configs)]
            record(a.oracle, a.out, f"config-{c.stem}-{seed:04d}", base, c)


if __name__ == "__main__":
    main()
