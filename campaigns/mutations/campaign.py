"""Change the source in many small ways, one at a time, and see whether a test notices.

    python -m campaigns.mutations.campaign [--count 300] [--seed 1] [--jobs 2] [--rooms queue state] [--timeout 90]
                                       [--tests tests/queue] [--json FILE] [--out .campaign/mutations]

The changes are chosen at random, from each room of src/kubesched in proportion to how many are possible there. The same
seed chooses the same ones from the same source. Each is made in a copy in the temporary folder, never in your files.

First all tests run once on unchanged code, and coverage records which test executes which line. OUT keeps the recording
of each folder of tests until the source or that folder changes. A change meets only the tests that execute its line:
those of its room first, the fastest first, until one fails, and fails again alone. A change that no test executes has
survived.

--timeout is how many seconds of tests one change gets; the slowest are left out. --tests replaces all tests by these.
equivalent.toml beside this file lists changes that make no difference; they are counted apart. The exit code is 1 when
less than 97% of the others are caught, or an entry of that list fits no possible change any more.
"""

import argparse
import json
import queue
import random
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from campaigns.mutations.mutants import Mutant, find_mutants
from campaigns.mutations.suite import all_tests, copy_tree, judge, recorded

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
WANTED = 0.97

Verdicts = dict[Mutant, tuple[str, str]]  # caught, timed out, survived or equivalent, and the test that noticed


def mutants_by_room(root: Path) -> dict[str, list[Mutant]]:
    """Every possible change to the rooms."""
    found: dict[str, list[Mutant]] = {}
    for file in sorted(root.glob("src/kubesched/*/**/*.py")):
        for mutant in find_mutants(file.read_bytes(), str(file.relative_to(root))):
            found.setdefault(mutant.room, []).append(mutant)
    return found


def chosen(by_room: dict[str, list[Mutant]], count: int, seed: int) -> list[Mutant]:
    """About `count` changes, at least one of each room."""
    total = sum(map(len, by_room.values()))
    found: list[Mutant] = []
    for room, mutants in by_room.items():
        share = min(len(mutants), max(1, round(count * len(mutants) / total)))
        found += random.Random(f"{seed} {room}").sample(mutants, share)
    return found


def equivalents(file: Path = EQUIVALENT) -> dict[tuple[str, str, str], str]:
    """Path, line and change of what is known to make no difference -> the reason."""
    entries = tomllib.loads(file.read_text()).get("equivalent", [])
    return {(entry["path"], entry["line"], entry["change"]): entry["reason"] for entry in entries}


def outdated(entries: dict[tuple[str, str, str], str], by_room: dict[str, list[Mutant]]) -> Iterator[str]:
    """Entries of the list that fit no possible change."""
    possible = {(m.path, m.text, m.change) for mutants in by_room.values() for m in mutants}
    for path, line, change in sorted(entries.keys() - possible):
        yield f"{EQUIVALENT.name}: not possible any more: {path}: {line}: {change}"


def judge_all(mutants: list[Mutant], a: argparse.Namespace) -> Verdicts:
    """Make each change in a copy and run the tests, in several copies at once."""
    verdicts: Verdicts = {}
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="kubesched-mutations-") as folder:
        began = time.monotonic()
        first = copy_tree(ROOT, Path(folder, "0"))
        recording = recorded(first, a.out.resolve(), a.tests or all_tests(ROOT), a.jobs)
        report(f"{len(recording.seconds)} tests recorded after {time.monotonic() - began:.0f} s")
        for name in recording.failed:
            report(f"left out, because it fails on unchanged code: {name}")
        for copy in [first, *(copy_tree(first, Path(folder, str(n))) for n in range(1, a.jobs))]:
            copies.put(copy)

        def one(number: int, mutant: Mutant) -> None:
            began, copy = time.monotonic(), copies.get()
            try:
                verdicts[mutant] = judge(copy, mutant, number, recording, a.timeout)
            finally:
                copies.put(copy)
            took = f"{time.monotonic() - began:.0f} s"
            report(f"[{len(verdicts)}/{len(mutants)}] {took}  {mutant}: {' by '.join(filter(None, verdicts[mutant]))}")

        with ThreadPoolExecutor(a.jobs) as pool:
            list(pool.map(one, range(1, len(mutants) + 1), mutants))
    return verdicts


def report(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def share_caught(outcomes: Counter[str]) -> float:
    """How many are noticed of those that make a difference."""
    noticed = outcomes["caught"] + outcomes["timed out"]
    return noticed / ((noticed + outcomes["survived"]) or 1)


def table(verdicts: Verdicts) -> Iterator[str]:
    """Lines with the survivors and the figures of each room."""
    rooms: dict[str, Counter[str]] = {}
    for mutant, (outcome, _) in verdicts.items():
        rooms.setdefault(mutant.room, Counter())[outcome] += 1
        if outcome == "survived":
            yield str(mutant)
    yield f"\n{'room':20}{'caught':>8}{'timed out':>11}{'survived':>10}{'equivalent':>12}"
    for room, outcomes in [*sorted(rooms.items()), ("all", sum(rooms.values(), Counter()))]:
        figures = (
            f"{outcomes['caught']:8}{outcomes['timed out']:11}{outcomes['survived']:10}{outcomes['equivalent']:12}"
        )
        yield f"{room:20}{figures}{share_caught(outcomes):8.1%}"


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=300, help="changes in all (default 300)")
    p.add_argument("--seed", type=int, default=1, help="default 1")
    p.add_argument("--jobs", type=int, default=2, help="changes at once (default 2)")
    p.add_argument("--rooms", nargs="+", metavar="ROOM", help="these rooms alone, for example extender")
    p.add_argument("--timeout", type=float, default=90, help="seconds of tests for one change (default 90)")
    p.add_argument("--tests", nargs="+", metavar="PATH", help="these tests alone")
    p.add_argument("--json", type=Path, metavar="FILE", help="write every change and its outcome")
    p.add_argument("--out", type=Path, default=Path(".campaign/mutations"), help="folder of the recordings")
    a = p.parse_args()
    by_room = mutants_by_room(ROOT)
    if unknown := set(a.rooms or ()) - by_room.keys():
        p.error(f"--rooms: no room {', '.join(sorted(unknown))}; there are: {', '.join(by_room)}")
    mutants = chosen({room: by_room[room] for room in a.rooms or by_room}, a.count, a.seed)
    listed = equivalents()
    verdicts: Verdicts = {m: ("equivalent", "") for m in mutants if (m.path, m.text, m.change) in listed}
    verdicts |= judge_all([mutant for mutant in mutants if mutant not in verdicts], a)
    old = list(outdated(listed, by_room))
    print("\n".join([*table(verdicts), *old]))
    if a.json:
        names = ("path", "line", "kind", "old", "new")
        rows = [
            {name: getattr(m, name) for name in names} | {"outcome": v, "test": test}
            for m, (v, test) in verdicts.items()
        ]
        a.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False))
    share = share_caught(Counter(outcome for outcome, _ in verdicts.values()))
    return 1 if old or share < WANTED else 0


if __name__ == "__main__":
    sys.exit(main())
