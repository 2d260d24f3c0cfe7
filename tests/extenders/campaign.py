# ruff: noqa: T201 - a program that prints what it finds
"""Has kube-scheduler and kubesched call the same random extenders in the same random clusters, and compares them.

    python -m tests.extenders.campaign [--seeds 200] [--first 0] [--jobs 1] [--control]

Each seed has a configuration with one to three extenders (names and whole nodes, every verb, managed resources,
ignorable or not, with failures, odd answers and slow ones) and a script of events. Compared are node, conditions,
nomination, events and API writes of each pod, and the calls that the extenders got: their order, nodes, victims and
bytes. --control plays each seed to kube-scheduler twice. The exit code is 1 if there is a difference.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path

from tests.extender.programmable import Answer, ProgrammableExtender
from tests.extenders.play import Played, compared, play
from tests.extenders.scenario import Scenario
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.live_outcome import differ_in_attempts_alone
from tests.integration.live_process import LiveProcess
from tests.integration.scheduler_process import SchedulerProcess
from tests.live.campaign import NO_BATCHING, start_planes


def compare(plane: ControlPlane, folder: Path, seed: int, *, is_control: bool = False) -> tuple[Played, Played]:
    """Play one scenario to both. Returns: what kubesched made of it, and what kube-scheduler made of it.

    Args:
        is_control: whether kube-scheduler takes the place of kubesched.
    """
    scenario = Scenario(seed)
    with ProgrammableExtender(lambda call: Answer()) as extender:

        def played(name: str, start: type[LiveProcess | SchedulerProcess], *options: str) -> Played:
            clear(plane.client)
            place = folder / f"{name}-{seed}"
            place.mkdir()
            scheduler = start(plane, place, scenario.config(extender.url()), *options)
            try:
                return play(plane, extender, scenario)
            finally:
                scheduler.stop()

        theirs = played("theirs", SchedulerProcess, NO_BATCHING)
        if is_control:
            return played("control", SchedulerProcess, NO_BATCHING), theirs
        return played("ours", LiveProcess), theirs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="scenarios to play (default 200)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="control planes side by side (default 1)")
    parser.add_argument("--control", action="store_true", help="kube-scheduler twice: the harness alone")
    parser.add_argument("--out", type=Path, help="takes the logs")
    options = parser.parse_args()
    n_different = n_in_attempts = n_calls = 0
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder = options.out or temporary
        folder.mkdir(parents=True, exist_ok=True)
        planes = start_planes(stack, temporary, options.jobs)

        def done_with(seed: int) -> tuple[int, tuple[Played, Played], float]:
            plane, began = planes.get(), time.monotonic()
            try:
                return seed, compare(plane, folder, seed, is_control=options.control), time.monotonic() - began
            finally:
                planes.put(plane)

        pool = ThreadPoolExecutor(options.jobs)
        stack.callback(pool.shutdown, cancel_futures=True)
        seeds = range(options.first, options.first + options.seeds)
        for done in as_completed([pool.submit(done_with, seed) for seed in seeds]):
            seed, (ours, theirs), seconds = done.result()
            lines = compared(ours, theirs)
            is_in_attempts = bool(lines) and differ_in_attempts_alone(ours.outcome, theirs.outcome)
            n_different += bool(lines)
            n_in_attempts += is_in_attempts
            calls = sum(map(len, theirs.asked.values()))
            n_calls += calls
            where = " (the number of attempts alone)" if is_in_attempts else ""
            print(f"seed {seed}: {len(lines)} differences{where}, {calls} calls, {seconds:.0f} s")
            print(f"  {Scenario(seed).text()}", flush=True)
            print(*(f"  {line}" for line in lines), sep="\n", end="\n" if lines else "", flush=True)
    print(
        f"{options.seeds} scenarios with {n_calls} calls, {n_different} with differences, "
        f"{n_in_attempts} of them in the number of attempts"
    )
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())
