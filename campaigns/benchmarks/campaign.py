"""Run every program of benchmarks/ on inputs so small that nothing is measured, only that it can be.

    python -m campaigns.benchmarks.campaign [--only NAME]

A fault is an exit code, or figures that cannot be: no time, no memory, pods that were not placed. --only takes part of
a program's name. Some programs need Go, for the control plane. The exit code is 1 when there was a fault.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from campaigns.benchmarks.programs import PROGRAMS, faults


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="NAME", help="these programs alone")
    only = p.parse_args().only
    programs = [program for program in PROGRAMS if only in program.name]
    if not programs:
        p.error(f"--only: no program has {only!r} in its name")
    n_faults = 0
    for program in programs:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            found = faults(program, Path(folder))
        took = f"{time.monotonic() - began:.0f} s"
        title = f"{program.name} {program.arguments}: {len(found)} faults, {took}"
        print(title, *found, sep="\n  ", flush=True)
        n_faults += len(found)
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
