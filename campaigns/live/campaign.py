"""Plays random scripts to kube-scheduler and to kubesched, and compares what became of every pod.

    python -m campaigns.live.campaign [--seeds 200] [--first 0] [--jobs 1] [--sampling]
    python -m campaigns.live.campaign --devices [--seeds 50] [--only WORD ...]

With --sampling the clusters have 120 to 350 nodes, of which both look at 30 percent, but at least 100.
With --devices the pods have resource claims. Scenes that are made by hand come first, then random scripts. Claims with
their allocations are compared, too, and the order of the writes to each pod and its claims. kube-scheduler takes any of
the claims that it may give back, and of victims that cost the same: where the outcomes differ it plays again, up to
three times, and one equal outcome is enough. Scenes in which kubesched differs on purpose say why.
The exit code is 1 if there is another difference.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager, nullcontext
from copy import copy
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from campaigns.live.device_play import DeviceOutcome, config_of
from campaigns.live.device_play import Script as DeviceScript
from campaigns.live.device_play import play as play_devices
from campaigns.live.device_scenes import SCENES
from campaigns.live.device_script import RandomScript
from campaigns.live.intrusion import intruded, with_json
from campaigns.live.outcome import Outcome, differ_in_attempts_alone, differences, play
from campaigns.live.scenarios import Script
from tests.integration.build import find_binary
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.scheduler_process import SchedulerProcess

DETERMINISTIC: Final[dict[str, Any]] = {"parallelism": 1, "percentageOfNodesToScore": 100}
SAMPLING: Final[dict[str, Any]] = {"percentageOfNodesToScore": 30}
TRIES: Final = 3
SAME, DIFFERENT, IN_ATTEMPTS = "the same", "different", "different in the number of attempts"
ON_PURPOSE, NOT_PLAYED = "different on purpose", "not played"
ON_PURPOSES: Final = {scene.name: scene.differs for scene in SCENES}

# With it, kube-scheduler may place a pod by the scores of the pod before.
NO_BATCHING: Final = "--feature-gates=OpportunisticBatching=false"


def compare(plane: ControlPlane, folder: Path, seed: int, *, is_sampling: bool = False) -> tuple[Outcome, Outcome]:
    """Play one script to both. Returns: the outcome of kubesched, and that of kube-scheduler."""
    config = {**DETERMINISTIC, **(SAMPLING if is_sampling else {})}

    def played(start: type[LiveProcess | SchedulerProcess], *options: str) -> Outcome:
        with _running(plane, folder / f"{start.__name__}-{seed}", config, start, *options):
            return play(plane, Script(seed, is_large=is_sampling))

    return played(LiveProcess), played(SchedulerProcess, NO_BATCHING)


def compare_devices(
    plane: ControlPlane, folder: Path, script_of: Callable[[], DeviceScript]
) -> tuple[DeviceOutcome, DeviceOutcome]:
    """The same with a script of devices, which is made for each of the two."""

    def played(place: str, start: type[LiveProcess | SchedulerProcess], *options: str) -> DeviceOutcome:
        script = script_of()
        way = intruded(plane, script.intrusions) if script.intrusions else nullcontext(plane)
        with way as view, _running(plane, folder / place, config_of(script), start, *options, view=view):
            return play_devices(plane, script)

    ours = played("kubesched", LiveProcess)
    theirs = played("kube-scheduler-0", SchedulerProcess, NO_BATCHING)
    for i in range(1, TRIES):
        if script_of().differs or not differences(ours, theirs):
            break
        theirs = played(f"kube-scheduler-{i}", SchedulerProcess, NO_BATCHING)
    return ours, theirs


def compare_scenes(
    plane: ControlPlane, folder: Path, scenes: Sequence[DeviceScript]
) -> list[tuple[DeviceScript, DeviceOutcome, DeviceOutcome]]:
    """Play scenes one after another to processes that run on: faster. Returns: each scene with both outcomes."""
    outcomes: list[list[DeviceOutcome]] = []
    for start, options in ((LiveProcess, ()), (SchedulerProcess, (NO_BATCHING,))):
        outcomes.append([])
        with _running(plane, folder / start.__name__, config_of(scenes[0]), start, *options):
            for scene in scenes:
                clear(plane.client)
                outcomes[-1].append(play_devices(plane, scene))
    return list(zip(scenes, *outcomes, strict=True))


@contextmanager
def _running(
    plane: ControlPlane,
    folder: Path,
    config: Mapping[str, Any],
    start: type[LiveProcess | SchedulerProcess],
    *options: str,
    view: Any = None,
) -> Iterator[None]:
    """A scheduler that runs on an empty cluster.

    Args:
        view: how it sees the control plane, where that is another one.
    """
    clear(plane.client)
    folder.mkdir(parents=True)
    if view not in (None, plane) and start is SchedulerProcess:
        config = with_json(config, str(folder / "kubeconfig"))
    scheduler = start(view or plane, folder, config, *options)
    try:
        yield
    finally:
        scheduler.stop()


def start_planes(stack: ExitStack, folder: Path, number: int) -> "SimpleQueue[ControlPlane]":
    """Start control planes, which stop with the stack."""
    planes: SimpleQueue[ControlPlane] = SimpleQueue()
    for i in range(number):
        plane = ControlPlane(find_binary(print), folder / f"control-plane-{i}", is_audited=True)
        planes.put(stack.enter_context(plane))
    return planes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, help="random scripts to play (default 200; 50 with --devices)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="control planes side by side (default 1)")
    parser.add_argument("--sampling", action="store_true", help="large clusters, percentageOfNodesToScore: 30")
    parser.add_argument("--devices", action="store_true", help="pods with resource claims")
    parser.add_argument("--only", nargs="*", default=[], help="words of scenes; random scripts are `seed N`")
    options = parser.parse_args()
    comparisons = dict(_of_devices(options) if options.devices else _of_seeds(options))
    tally = Tally()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        planes = start_planes(stack, folder, options.jobs)

        def compared(name: str, place: Path) -> tuple[tuple[Outcome, Outcome], float]:
            plane, began = planes.get(), time.monotonic()
            try:
                return comparisons[name](plane, place), time.monotonic() - began
            finally:
                planes.put(plane)

        pool = stack.enter_context(ThreadPoolExecutor(options.jobs))
        futures = {pool.submit(compared, name, folder / str(i)): name for i, name in enumerate(comparisons)}
        for done in as_completed(futures):
            tally.add(futures[done], done)
    print(f"{len(comparisons)} scripts" + "".join(f", {n} {what}" for what, n in tally.kinds.items()))
    return 1 if set(tally.kinds) - {SAME, ON_PURPOSE} else 0


class Tally:
    """Prints what came of each script, and counts."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()

    def add(self, name: str, done: "Future[tuple[tuple[Outcome, Outcome], float]]") -> None:
        if error := done.exception():
            self._print(name, NOT_PLAYED, [repr(error)])
            return
        outcomes, seconds = done.result()
        lines, purpose = differences(*outcomes), ON_PURPOSES.get(name, "")
        alone = bool(lines) and differ_in_attempts_alone(*outcomes)
        kind = SAME if not lines else ON_PURPOSE if purpose else IN_ATTEMPTS if alone else DIFFERENT
        self._print(f"{name}, {seconds:.0f} s", kind, [purpose] if purpose and lines else lines)

    def _print(self, name: str, kind: str, lines: list[str]) -> None:
        self.kinds[kind] += 1
        print(f"{name}: {kind}", *lines, sep="\n  ", flush=True)


Comparison = Callable[[ControlPlane, Path], tuple[Outcome, Outcome]]


def _of_seeds(options: argparse.Namespace) -> Iterator[tuple[str, Comparison]]:
    for seed in range(options.first, options.first + (200 if options.seeds is None else options.seeds)):
        yield f"seed {seed}", partial(compare, seed=seed, is_sampling=options.sampling)


def _of_devices(options: argparse.Namespace) -> Iterator[tuple[str, Comparison]]:
    seeds = range(options.first, options.first + (50 if options.seeds is None else options.seeds))
    scripts: dict[str, Callable[[], DeviceScript]] = {scene.name: partial(copy, scene) for scene in SCENES}
    scripts |= {f"seed {seed}": partial(RandomScript, seed) for seed in seeds}
    for name, script_of in scripts.items():
        if not options.only or any(word in name for word in options.only):
            yield name, partial(compare_devices, script_of=script_of)


if __name__ == "__main__":
    sys.exit(main())
