"""Plays random scripts to kube-scheduler and to kubesched, and compares what became of every pod.

    python -m campaigns.live.campaign [--seeds 200] [--first 0] [--jobs 1] [--sampling]

With --sampling the clusters have 120 to 350 nodes, of which both look at 30 percent, but at least 100.
The exit code is 1 if there is a difference.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from campaigns.live.outcome import Outcome, differ_in_attempts_alone, differences, play
from campaigns.live.scenarios import Script
from tests.integration.build import find_binary
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.scheduler_process import SchedulerProcess

DETERMINISTIC: Final[dict[str, Any]] = {"parallelism": 1, "percentageOfNodesToScore": 100}
SAMPLING: Final[dict[str, Any]] = {"percentageOfNodesToScore": 30}


# With it, kube-scheduler may place a pod by the scores of the pod before.
NO_BATCHING: Final = "--feature-gates=OpportunisticBatching=false"


def compare(plane: ControlPlane, folder: Path, seed: int, *, is_sampling: bool = False) -> tuple[Outcome, Outcome]:
    """Play one script to both. Returns: the outcome of kubesched, and that of kube-scheduler."""
    config = {**DETERMINISTIC, **(SAMPLING if is_sampling else {})}

    def played(start: type[LiveProcess | SchedulerProcess], *options: str) -> Outcome:
        clear(plane.client)
        place = folder / f"{start.__name__}-{seed}"
        place.mkdir()
        scheduler = start(plane, place, config, *options)
        try:
            return play(plane, Script(seed, is_large=is_sampling))
        finally:
            scheduler.stop()

    return played(LiveProcess), played(SchedulerProcess, NO_BATCHING)


def start_planes(stack: ExitStack, folder: Path, number: int) -> "SimpleQueue[ControlPlane]":
    """Start control planes, which stop with the stack."""
    planes: SimpleQueue[ControlPlane] = SimpleQueue()
    for i in range(number):
        plane = ControlPlane(find_binary(print), folder / f"control-plane-{i}", is_audited=True)
        planes.put(stack.enter_context(plane))
    return planes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="scripts to play (default 200)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="control planes side by side (default 1)")
    parser.add_argument("--sampling", action="store_true", help="large clusters, percentageOfNodesToScore: 30")
    options = parser.parse_args()
    n_different = n_in_attempts = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        planes = start_planes(stack, folder, options.jobs)

        def compared(seed: int) -> tuple[int, tuple[Outcome, Outcome], float]:
            plane, began = planes.get(), time.monotonic()
            try:
                return seed, compare(plane, folder, seed, is_sampling=options.sampling), time.monotonic() - began
            finally:
                planes.put(plane)

        seeds = range(options.first, options.first + options.seeds)
        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        for done in as_completed([pool.submit(compared, seed) for seed in seeds]):
            seed, outcomes, seconds = done.result()
            lines = differences(*outcomes)
            is_in_attempts = bool(lines) and differ_in_attempts_alone(*outcomes)
            n_different += bool(lines)
            n_in_attempts += is_in_attempts
            where = " (the number of attempts alone)" if is_in_attempts else ""
            print(f"seed {seed}: {len(lines)} differences{where}, {seconds:.0f} s", flush=True)
            for line in lines:
                print(f"  {line}", flush=True)
    print(f"{options.seeds} scripts, {n_different} with differences, {n_in_attempts} of them in the number of attempts")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())
