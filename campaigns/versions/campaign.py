"""Record fresh clusters with the plugins of several versions of kube-scheduler, and compare kubesched's answers.

    python -m campaigns.versions.campaign [--oracles DIR] [--seeds 1-10] [--only v1.36] [--out DIR] [--nodes 60]
                                          [--jobs N]

DIR has the oracle of each version, such as DIR/v1.37/oracle. Versions without one are left out, except the version of
campaigns/oracle, which is built with Go. A version that kubesched does not know is compared with the rules of the
nearest one: what differs has to be added.

Every seed gives the cases of the campaign `oracle` that have features of more.py, where all fields and rules occur in
which versions differ, and one with resource claims that are not there. Cases that --out has already are not recorded
again. At the end comes a line for each version: seeds, cases, pods, differences, and what was left out and why. The
exit code is 1 if something differs.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from campaigns.oracle.campaign import CONFIGS, ORACLE, Plan, judge, plans, size
from campaigns.oracle.compare import Tally
from kubesched.release import RELEASES, release_of
from tests.integration.build import find_binary


def cases(seed: int, most_nodes: int) -> Iterator[Plan]:
    """The cases of one seed."""
    yield from (plan for plan in plans(seed, sorted(CONFIGS.glob("*.yaml")), most_nodes) if "--more" in plan.arguments)
    arguments = ["--seed", str(seed), *size(random.Random(f"claims {seed}"), most_nodes)]
    yield Plan(f"claims-{seed:05d}", [*arguments, "--only", "resources", "--more", "resource-claims,profiles"])


def oracles(folder: Path | None) -> dict[str, str]:
    """The oracle of each version, empty where there is none: of the known ones, and of those in the folder."""
    here = {path.parent.name: str(path) for path in sorted(folder.glob("v*/oracle"))} if folder else {}
    known = {str(release): here.get(str(release), "") for release in RELEASES}
    built = str(release_of(ORACLE.kubernetes)[0])
    return known | here | ({} if known[built] else {built: str(find_binary(print, ORACLE))})


def line(version: str, seeds: str, outcomes: dict[str, int], tally: Tally) -> str:
    """What a version shows."""
    left_out = [f"{n} {outcome}" for outcome, n in outcomes.items() if outcome.startswith("left out")]
    figures = f"{tally.cases} cases, {tally.pods} pods, {tally.by_field.total()} differences"
    return "; ".join([f"{version}: seeds {seeds}, {figures}", *left_out])


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--oracles", type=Path, help="folder with the oracle of each version")
    p.add_argument("--seeds", default="1-10", help="first-last (default 1-10)")
    p.add_argument("--only", action="append", default=[], help="a version; may be repeated (default: all)")
    p.add_argument("--out", type=Path, default=Path(".campaign/versions"), help="folder for the cases")
    p.add_argument("--nodes", type=int, default=60, help="nodes of the largest snapshots (default 60)")
    p.add_argument("--jobs", type=int, default=1, help="cases recorded at once (default 1)")
    a = p.parse_args()
    first, last = map(int, a.seeds.split("-"))
    todo = [plan for seed in range(first, last + 1) for plan in cases(seed, a.nodes)]
    lines, n_differences = [], 0
    for version, oracle in oracles(a.oracles).items():
        if a.only and version not in a.only:
            continue
        if not oracle:
            lines.append(f"{version}: left out, no oracle")
            continue
        release, note = release_of(version)
        recorded = version if note else release.recorded
        print(f"\n{recorded}{note and f': {note}'}", flush=True)
        outcomes, tally = judge(oracle, a.out / version, todo, a.jobs, recorded)
        lines.append(line(recorded, a.seeds, outcomes, tally))
        n_differences += tally.by_field.total()
    print("", *lines, sep="\n")
    return 1 if n_differences else 0


if __name__ == "__main__":
    sys.exit(main())
