"""Lets everything that makes scheduling slow come at once, and observes what becomes of each pod.

python -m campaigns.storm.campaign [--minutes 10] [--nodes 100] [--waiting 20000] [--rate 200] [--seed 1] [--json FILE]

A real API server, behind a proxy whose answers are slow, and `kubesched scheduler` with 250 TLS clients that say
nothing. Thousands of pods wait that fit nowhere, that miss a claim, that are gated, or whose victims do not end. Nodes
change, and pods and claims come and go. Pods that fit come all the time, and some pods that wait are helped.

A separate observer watches the API server. A violation is:

- a pod that is bound twice, to a node that does not exist, or where it does not fit;
- a pod that fits, or has been helped, and is not bound in the end;
- a pod that must wait and is bound, or whose condition does not have the right reason;
- a Binding that is sent after one of the same pod that succeeded;
- three probes of /livez in a row that fail, or a scheduler that ends.

The exit code is 1 when there was one. Needs Linux, for /proc.
"""

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path

from benchmarks.report.machine import machine

from campaigns.storm.account import Plan
from campaigns.storm.storm import play
from tests.integration.build import BuildError, find_binary
from tests.integration.control_plane import ControlPlane

SHORTEST = 0.2  # minutes


def main() -> int:
    options = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no process is left behind
    plan = Plan(options.minutes, options.nodes, options.waiting, options.rate, options.seed)
    try:
        binary = find_binary(lambda line: print(line, file=sys.stderr))
    except BuildError as error:
        print(f"storm: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "scheduler"
        folder.mkdir()
        print(*(f"{what}: {value}" for what, value in machine().items()), sep="\n")
        print(
            f"{plan.nodes} nodes, {plan.waiting:,} pods that wait, {plan.minutes:g} minutes, seed {plan.seed}",
            flush=True,
        )
        with ControlPlane(binary, Path(name) / "control-plane") as plane:
            account = play(plan, plane, folder)
    print(*account.lines(), sep="\n")
    if options.json:
        options.json.write_text(json.dumps(account.as_document(), indent=1) + "\n", encoding="utf-8")
    return 1 if account.violations else 0


def parsed() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usual = Plan()
    p.add_argument("--minutes", type=float, default=usual.minutes, help="of the storm (default %(default)g)")
    p.add_argument("--nodes", type=int, default=usual.nodes, help="at least 3 (default %(default)s)")
    p.add_argument("--waiting", type=int, default=usual.waiting, help="pods that wait (default %(default)s)")
    p.add_argument("--rate", type=float, default=usual.rate, help="events a second (default %(default)g)")
    p.add_argument("--seed", type=int, default=usual.seed, help="of all that chance decides (default %(default)s)")
    p.add_argument("--json", type=Path, metavar="FILE", help="also write all figures and violations to this file")
    options = p.parse_args()
    if fault := _fault(options):
        p.error(fault)
    return options


def _fault(options: argparse.Namespace) -> str:
    """What is wrong with the options; empty if nothing is."""
    if not options.minutes >= SHORTEST:
        return f"--minutes {options.minutes:g}: expected {SHORTEST:g} or more, so that all pods that are helped come"
    if options.nodes < 3:
        return f"--nodes {options.nodes}: expected 3 or more, one for each pool"
    if options.waiting < 0:
        return f"--waiting {options.waiting}: expected 0 or more"
    if not options.rate > 0:
        return f"--rate {options.rate:g}: expected more than 0"
    return ""


if __name__ == "__main__":
    sys.exit(main())
