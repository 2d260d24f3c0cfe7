"""Send broken bodies to the verbs of the extender server; every answer has to be one that the protocol allows.

    python -m campaigns.fuzz.campaign [--count 1000000] [--seed 1] [--jobs 1] [--portion K] [--out .campaign/fuzz]

The bodies come in portions of 2,000, each to fresh servers. The same seed and portion give the same bodies. Portions
that are done are noted in OUT, so an interrupted run goes on where it stood; a body that did harm is written there too.
--portion runs one portion alone, done or not. The exit code is 1 when some body did harm.
"""

import argparse
import concurrent.futures
import sys
import time
from pathlib import Path

from campaigns.fuzz.bodies import Failure, run

PORTION = 2000


def done_before(file: Path) -> set[int]:
    """The portions that earlier runs came through, without harm or with."""
    return set(map(int, file.read_text().split())) if file.exists() else set()


def keep(out: Path, seed: int, failure: Failure) -> None:
    """Write down a body that did harm, and say so."""
    case = failure.case
    file = out / f"seed-{seed}-portion-{failure.portion}-body-{failure.number}-{case.verb}-server-{case.server}.json"
    file.write_bytes(case.body)
    print(f"{file}: {failure.error}", file=sys.stderr)


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=1_000_000, help="bodies in all (default 1000000)")
    p.add_argument("--seed", type=int, default=1, help="default 1")
    p.add_argument("--jobs", type=int, default=1, help="portions at once (default 1)")
    p.add_argument("--portion", type=int, help="this portion alone")
    p.add_argument("--out", type=Path, default=Path(".campaign/fuzz"), help="folder of what is noted")
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    notes = a.out / f"seed-{a.seed}.done"
    every = range(-(-a.count // PORTION)) if a.portion is None else [a.portion]
    before = done_before(notes) if a.portion is None else set()
    todo = [portion for portion in every if portion not in before]
    print(f"seed {a.seed}: {len(every)} portions of {PORTION} bodies, {len(every) - len(todo)} done before", flush=True)
    began, n_answered, n_failures = time.monotonic(), 0, 0
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool, notes.open("a") as log:
        running = {pool.submit(run, a.seed, portion, PORTION): portion for portion in todo}
        for n_done, future in enumerate(concurrent.futures.as_completed(running), 1):
            answered, failures = future.result()
            n_answered, n_failures = n_answered + answered, n_failures + len(failures)
            for failure in failures:
                keep(a.out, a.seed, failure)
            print(running[future], file=log, flush=True)
            if n_done % 10 == 0 or n_done == len(todo):
                print(
                    f"{n_done * PORTION} bodies, {n_answered} answered, the others refused in a sentence, "
                    f"{n_failures} did harm; {time.monotonic() - began:.0f} s",
                    flush=True,
                )
    return 1 if n_failures else 0


if __name__ == "__main__":
    sys.exit(main())
