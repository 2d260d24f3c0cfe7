"""Ask kube-scheduler's own plugins about random clusters with devices, and compare kubesched's answers.

    python -m campaigns.devices.campaign [--seeds 1-200] [--out DIR] [--oracle PATH [--version v1.37.2]] [--runs 4]

Each seed is one snapshot of generate.py. Recorded are what each plugin says about each node, what the claims would get
there, where the pods go one after another, and the claims as they are written. Preemption and deallocation take any of
equal candidates, so pods are placed several times, and every outcome counts; where kubesched has another one, they are
placed eight times as often. A seed for which the runs differ in anything else, or a search takes too long, is left out
and counted. Cases that DIR has already are not recorded again.
The oracle is built with Go unless --oracle names it; --version says which kube-scheduler is in it. Before v1.36 any
device that will do is taken, so that only the nodes that fit are recorded and compared. The exit code is 1 when
kubesched differs.
"""

import argparse
import collections
import json
import sys
import tempfile
from pathlib import Path

from campaigns.devices.compare import ANY_OF, differences, has_order
from campaigns.devices.generate import snapshot
from campaigns.oracle.campaign import ORACLE
from campaigns.oracle.compare import Difference, Tally, read_case
from campaigns.oracle.record import VERSION, OracleError, lines, write_case
from tests.integration.build import find_binary

SHOWN = 10
N_PENDING = 20
TIMED_OUT = "timed out trying to allocate devices"


def place(command: list[str], runs: int) -> list[dict]:
    """Placements with every outcome of preemption and deallocation.

    Raises:
        OracleError: the runs differ in something else.
    """
    seen = [lines(command) for _ in range(runs)]
    merged = seen[0]
    for i, pod in enumerate(merged):
        outcomes = {(run[i].get("nominatedNode"), tuple(run[i].get("victims", ()))) for run in seen} - {(None, ())}
        freed = sorted({name for run in seen for name in run[i].get("deallocated", ())})
        messages = sorted({run[i].get("postFilterMessage", "") for run in seen})
        for run in seen:
            for key in ("nominatedNode", "victims", "deallocated", "postFilterMessage"):
                run[i].pop(key, None)
        if any(run[i] != pod for run in seen):
            raise OracleError(f"{pod['pod']}: the runs differ")
        if outcomes:
            pod["preemption"] = [{"node": node, "victims": list(victims)} for node, victims in sorted(outcomes)]
        if freed:
            pod["deallocated"] = freed
        if messages != [""]:
            pod["postFilterMessage"] = messages[0] if len(messages) == 1 else messages
    return merged


def record(oracle: str, seed: int, runs: int, version: str) -> dict:
    """The case of a seed.

    Raises:
        OracleError: the oracle cannot answer, or not twice the same.
    """
    size = (4 + seed % 7, 4 + seed % 13, N_PENDING)
    items = snapshot(seed, *size)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(items, f)
        f.flush()
        command = "campaigns.devices.generate --seed {} --nodes {} --bound {} --pending {}".format(seed, *size)
        case = {"version": version, "command": command, "config": None, "snapshot": items}
        case["eval"] = lines([oracle, "eval", f.name])
        case["place"] = place([oracle, "place", "-preempt", f.name], runs) if has_order(version) else []
    if any(TIMED_OUT in json.dumps(line) for line in (*case["eval"], *case["place"])):
        raise OracleError(f"a node {TIMED_OUT}")
    return case


def judge(oracle: str, seed: int, path: Path, runs: int, version: str) -> tuple[dict, list[Difference]]:
    """The case of a seed, from its file if there is one, and what differs.

    Raises:
        OracleError: the oracle cannot answer, or not twice the same.
    """
    if not path.exists():
        write_case(path, record(oracle, seed, runs, version))
    case = read_case(path)
    found = list(differences(case))
    if any(field in {f"place.{name}" for name in ANY_OF} for field, *_ in found):
        case = record(oracle, seed, 8 * runs, version)
        write_case(path, case)
        found = list(differences(case))
    return case, found


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--oracle", help="the oracle's binary (default: built from campaigns/oracle)")
    p.add_argument("--seeds", default="1-200", help="first-last (default 1-200)")
    p.add_argument("--out", type=Path, default=Path(".campaign/devices"), help="folder for the cases")
    p.add_argument("--runs", type=int, default=4, help="how often the pods of a case are placed (default 4)")
    p.add_argument("--version", default=VERSION, help=f"of kube-scheduler in the oracle (default {VERSION})")
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    oracle = a.oracle or str(find_binary(print, ORACLE))
    first, last = map(int, a.seeds.split("-"))
    tally, outcomes = Tally(SHOWN), collections.Counter[str]()
    for seed in range(first, last + 1):
        path = a.out / f"devices-{seed:05d}.json.gz"
        try:
            case, found = judge(oracle, seed, path, a.runs, a.version)
        except OracleError as error:
            print(f"seed {seed} is left out: {error}", flush=True)
            outcomes["left out"] += 1
            continue
        outcomes["compared"] += 1
        tally.add(path.name, case, found)
    print(", ".join(f"{n} {outcome}" for outcome, n in outcomes.items()))
    tally.report()
    return 1 if tally.by_field else 0


if __name__ == "__main__":
    sys.exit(main())
