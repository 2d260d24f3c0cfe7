"""Give commands broken snapshots and configurations; each command has to end by itself, with a code it knows.

    python -m campaigns.inputs.campaign [--count 1000] [--seed 1] [--jobs 1] [--only KIND] [--out .campaign/inputs]

The inputs are parts of examples/shop: snapshots as JSON, YAML and gzip for `simulate` and `explain`, and configurations
for `config`; and clusters of campaigns/devices, whose classes, slices and claims are broken, for most commands. Values
are removed, moved, repeated or replaced by odd ones, or bytes are damaged. The same seed gives the same inputs. COUNT
is that of each kind; --only takes part of a kind's name and leaves the other kinds out. Harm is

- an exception or a stack trace;
- another exit code than 0, 1 and 2;
- exit code 2 without a message, or with one of 3,000 characters or more;
- a check of a configuration that finds an error where kube-scheduler does not reject it, or none where it does.

OUT keeps the inputs that did harm. The exit code is 1 when there was one.
"""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from campaigns.inputs.broken import KINDS
from campaigns.inputs.run import run

PORTION = 50


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--count", type=int, default=1000, help="inputs of each kind (default 1000)")
    p.add_argument("--seed", type=int, default=1, help="default 1")
    p.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    p.add_argument("--only", default="", metavar="KIND", help="these kinds alone")
    p.add_argument("--out", type=Path, default=Path(".campaign/inputs"), help="folder of inputs that did harm")
    a = p.parse_args()
    kinds = [kind for kind in KINDS if a.only in kind]
    if not kinds:
        p.error(f"--only: no kind has {a.only!r} in its name; there are: {', '.join(KINDS)}")
    a.out.mkdir(parents=True, exist_ok=True)
    n_harmed = 0
    with ProcessPoolExecutor(a.jobs) as pool:
        for kind in kinds:
            began = time.monotonic()
            portions = [range(start, min(start + PORTION, a.count)) for start in range(0, a.count, PORTION)]
            accounts = list(pool.map(run, *zip(*((kind, a.seed, numbers, a.out) for numbers in portions), strict=True)))
            codes = Counter(code for account in accounts for code in account.codes)
            harm = [what for account in accounts for what in account.harm]
            ended = ", ".join(f"{n} with exit code {code}" for code, n in sorted(codes.items()))
            print(f"{kind}: {ended}; {len(harm)} did harm; {time.monotonic() - began:.0f} s", flush=True)
            print("".join(f"  {what}\n" for what in harm), end="", file=sys.stderr)
            n_harmed += len(harm)
    return 1 if n_harmed else 0


if __name__ == "__main__":
    sys.exit(main())
