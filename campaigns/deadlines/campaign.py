"""Make calls of the extender late at every look at the clock; each answer has to be the right one for a late call.

    python -m campaigns.deadlines.campaign [--nodes 600 2000]

For filter, prioritize and preempt, with nodes that pass a late filter call and without: a late call fails with the
documented message, or all nodes pass. No clock is waited for. The exit code is 1 when an answer was wrong.
"""

import argparse
import sys

from campaigns.deadlines.late import CALLS, Call, faults


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--nodes", type=int, nargs="+", default=[600, 2000], help="nodes offered (default 600 2000)")
    n_faults = 0
    for n_nodes in p.parse_args().nodes:
        for verb, allow in CALLS:
            call = Call(verb, allow, n_nodes)
            n_looks = call.looks()
            wrong = [f"  look {look}: {what}" for look in range(1, n_looks + 1) for what in faults(call, look)]
            title = f"{verb}, {n_nodes} nodes{', which pass a late call' if allow else ''}"
            print(f"{title}: {n_looks} looks, {len(wrong)} wrong", *wrong, sep="\n", flush=True)
            n_faults += len(wrong)
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
