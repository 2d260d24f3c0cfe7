# ruff: noqa: T201 - a program that prints what it finds
"""Plays random scripts to kube-scheduler and to kubesched, and compares what became of every pod.

python -m tests.live.campaign [--seeds 200] [--first 0]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.integration.build import find_binary
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.live_scenarios import Outcome, Script, differences, play
from tests.integration.scheduler_process import SchedulerProcess

DETERMINISTIC = {"parallelism": 1, "percentageOfNodesToScore": 100}


def compare(plane: ControlPlane, folder: Path, seed: int, config: dict[str, Any] | None = None) -> list[str]:
    """Play one script to both. Returns: the differences."""
    outcomes: list[Outcome] = []
    for start in (LiveProcess, SchedulerProcess):
        clear(plane.client)
        place = folder / f"{start.__name__}-{seed}"
        place.mkdir()
        scheduler = start(plane, place, {**DETERMINISTIC, **(config or {})})
        try:
            outcomes.append(play(plane.client, Script(seed)))
        finally:
            scheduler.stop()
    return differences(*outcomes)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    n_different = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "control-plane").mkdir()
        plane = ControlPlane(find_binary(print), folder / "control-plane")
        plane.start()
        try:
            for seed in range(options.first, options.first + options.seeds):
                began = time.monotonic()
                found = compare(plane, folder, seed)
                n_different += bool(found)
                print(f"seed {seed}: {len(found)} differences, {time.monotonic() - began:.0f} s", flush=True)
                for line in found:
                    print(f"  {line}", flush=True)
        finally:
            plane.stop()
    print(f"{options.seeds} scripts, {n_different} with differences")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())
