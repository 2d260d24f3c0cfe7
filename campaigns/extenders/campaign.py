"""Has kube-scheduler and kubesched call the same random extenders in the same random clusters, and compares them.

    python -m campaigns.extenders.campaign [--seeds 200] [--first 0] [--jobs 1] [--tries 3] [--control]

Each seed has a configuration with one to three extenders (names and whole nodes, every verb, managed resources,
ignorable or not, with failures, odd answers and slow ones) and a script of events. Compared are node, conditions,
nomination, events and API writes of each pod, and the calls that the extenders got: their order, nodes, victims and
bytes. A seed that differs is played again, because kube-scheduler itself does not always try a pod equally often.
--control plays each seed to kube-scheduler twice. The exit code is 1 if there is a difference.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from campaigns.extenders.compare import Comparison
from campaigns.extenders.play import Played, play
from campaigns.extenders.scenario import Scenario
from campaigns.live.campaign import NO_BATCHING, start_planes
from tests.extender.programmable import Answer, ProgrammableExtender
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.scheduler_process import SchedulerProcess


def compare(
    plane: ControlPlane,
    extender: ProgrammableExtender,
    folder: Path,
    scenario: Scenario,
    *,
    n_steps: int | None = None,
    is_control: bool = False,
) -> tuple[Played, Played]:
    """Play one scenario to both. Returns: what kubesched made of it, and what kube-scheduler made of it.

    Args:
        folder: empty; takes the logs.
        n_steps: of the script, at most; None for all.
        is_control: whether kube-scheduler takes the place of kubesched.
    """

    def played(name: str, start: type[LiveProcess | SchedulerProcess], *options: str) -> Played:
        clear(plane.client)
        place = folder / name
        place.mkdir(parents=True)
        scheduler = start(plane, place, scenario.config(extender.url()), *options)
        try:
            return play(plane, extender, scenario, n_steps)
        finally:
            scheduler.stop()

    theirs = played("theirs", SchedulerProcess, NO_BATCHING)
    if is_control:
        return played("control", SchedulerProcess, NO_BATCHING), theirs
    return played("ours", LiveProcess), theirs


@dataclass
class Verdict:
    """What came of one seed.

    Attributes:
        lines: the differences that are left.
        n_tries: how often both have played it.
        n_calls: that the extenders got from kube-scheduler, in the first try.
        has_same_end: whether every pod ends in the same state, with the same conditions.
    """

    seed: int
    lines: list[str]
    n_tries: int
    n_calls: int
    has_same_end: bool
    seconds: float

    def __str__(self) -> str:
        where = " on the way to the same end" if self.has_same_end else ""
        tries = f" after {self.n_tries} tries" if self.n_tries > 1 else ""
        head = f"seed {self.seed}: {len(self.lines)} differences{where}{tries}, {self.n_calls} calls"
        lines = [f"{head}, {self.seconds:.0f} s", f"  {Scenario(self.seed).text()}"]
        return "\n".join([*lines, *(f"  {line}" for line in self.lines)])


def judge(
    plane: ControlPlane, folder: Path, seed: int, *, tries: int, n_steps: int | None = None, is_control: bool = False
) -> Verdict:
    """Play one scenario until one outcome of kubesched equals one of kube-scheduler.

    kube-scheduler does not make the same of a scenario each time: how often a pod is tried depends on when the changes
    of one step arrive.
    """
    began, scenario = time.monotonic(), Scenario(seed)
    ours: list[Played] = []
    theirs: list[Played] = []
    lines: list[str] = []
    has_same_end = False
    with ProgrammableExtender(lambda call: Answer()) as extender:  # one for all tries, because messages have its port
        for i in range(tries):
            place = folder / f"{seed}-{i}"
            mine, others = compare(plane, extender, place, scenario, n_steps=n_steps, is_control=is_control)
            ours.append(mine)
            theirs.append(others)
            best = min((Comparison(*pair) for pair in product(ours, theirs)), key=lambda one: len(one.lines))
            lines, has_same_end = best.lines, best.has_same_end
            if not lines:
                break
    calls = sum(map(len, theirs[0].asked.values()))
    return Verdict(seed, lines, len(ours), calls, has_same_end, time.monotonic() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="scenarios to play (default 200)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="control planes side by side (default 1)")
    parser.add_argument("--tries", type=int, default=3, help="of a seed that differs (default 3)")
    parser.add_argument("--control", action="store_true", help="kube-scheduler twice: the harness alone")
    parser.add_argument("--out", type=Path, help="takes the logs")
    options = parser.parse_args()
    verdicts: list[Verdict] = []
    with ExitStack() as stack:
        temporary = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder = options.out or temporary / "logs"
        planes = start_planes(stack, temporary, options.jobs)

        def judged(seed: int) -> Verdict:
            plane = planes.get()
            try:
                return judge(plane, folder, seed, tries=options.tries, is_control=options.control)
            finally:
                planes.put(plane)

        pool = ThreadPoolExecutor(options.jobs)
        stack.callback(pool.shutdown, cancel_futures=True)
        seeds = range(options.first, options.first + options.seeds)
        for done in as_completed([pool.submit(judged, seed) for seed in seeds]):
            verdicts.append(done.result())
            print(verdicts[-1], flush=True)
    different = [verdict for verdict in verdicts if verdict.lines]
    print(
        f"{len(verdicts)} scenarios with {sum(verdict.n_calls for verdict in verdicts)} calls, {len(different)} with "
        f"differences, {sum(verdict.has_same_end for verdict in different)} of them on the way to the same end; "
        f"{sum(verdict.n_tries > 1 for verdict in verdicts)} were tried more than once"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
