"""Record many fresh cases, and compare kubesched's answers with them.

    python -m campaigns.oracle.campaign [--seeds 100-199] [--out DIR] [--oracle PATH] [--configs DIR] [--nodes 400]
                                        [--jobs N]

Feature groups, features of `--more`, configurations and sizes come in turn. Every seed gives six cases, one of each
kind:

- `all`: every feature group, defaults;
- `group`: one feature group alone;
- `more`: one to three features of more.py, laid on thickly, over one or two feature groups;
- `most`: every usual feature of more.py at once;
- `copies`: three small pods of one or two feature groups, ten times each, so that they share decisions;
- `config`: a configuration of --configs, every second time with all features of more.py.

Most snapshots have 5 to 60 nodes; --nodes lets one seed in ten have up to that many. A seed always gives the same
cases. Cases that DIR has already are not recorded again, so an interrupted campaign goes on where it stood. Where the
oracle itself cannot answer (a plugin fails while scoring) the case is left out and counted. The oracle is built with Go
unless --oracle names it. At the end: what was recorded, and in what kubesched differs. The exit code is 1 when it does.
"""

import argparse
import collections
import concurrent.futures
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from campaigns.oracle import more, product
from campaigns.oracle.compare import Tally, compare
from campaigns.oracle.record import GROUPS, HERE, VERSION, OracleError, record
from tests.integration.build import GoProgram, find_binary

CONFIGS = Path(__file__).resolve().parents[2] / "tests" / "golden" / "configs"
PENDING = 30
SHOWN = 10
ORACLE = GoProgram(
    "oracle", "oracle", HERE, ("go.mod", "go.sum", "main.go", "cel.go", "dra.go"), ("build",), "KUBESCHED_ORACLE"
)


@dataclass(frozen=True)
class Plan:
    """One case to record."""

    name: str
    arguments: list[str]
    config: Path | None = None


def plans(seed: int, configs: list[Path], most_nodes: int) -> Iterator[Plan]:
    """The cases of one seed."""
    r = random.Random(f"campaign {seed}")
    base = ["--seed", str(seed), *size(r, most_nodes)]
    yield Plan(f"all-{seed:05d}", base)
    group = GROUPS[seed % len(GROUPS)]
    yield Plan(f"group-{group}-{seed:05d}", [*base, "--only", group])
    feature = list(more.USUAL)[seed % len(more.USUAL)]
    chosen = sorted({feature, *r.sample(more.USUAL, r.choice([0, 0, 1, 2]))})
    groups = sorted({"resources", *r.sample(GROUPS, r.choice([0, 1]))})
    yield Plan(f"more-{feature}-{seed:05d}", [*base, "--only", ",".join(groups), "--more", ",".join(chosen)])
    yield Plan(f"most-{seed:05d}", [*base, "--more", "all"])
    groups = sorted({group, *r.sample(GROUPS, r.choice([0, 1]))} - {"gates"})
    few = [*base[:-1], "3", "--copies", "10"]
    yield Plan(f"copies-{seed:05d}", [*few, "--only", ",".join(groups)])
    if configs:
        config = configs[seed % len(configs)]
        extra = ["--more", "all"] if seed // len(configs) % 2 else ["--more", "profiles,pressure"]
        yield Plan(f"config-{config.stem}-{seed:05d}", ["--seed", str(seed), *size(r, most_nodes), *extra], config)


def size(r: random.Random, most_nodes: int) -> list[str]:
    nodes = min(r.choice([5, 8, 12, 16, 20, 25, 30, 40, 60]), most_nodes)
    if most_nodes > 60 and r.random() < 0.1:
        nodes = r.randrange(60, most_nodes + 1)
    return ["--nodes", str(nodes), "--bound", str(r.randrange(nodes, 5 * nodes + 1)), "--pending", str(PENDING)]


def run(oracle: str, out: Path, plan: Plan, version: str = VERSION) -> str:
    """Record one case; what became of it."""
    if (out / f"{plan.name}.json.gz").exists():
        return "there already"
    try:
        record(oracle, out, plan.name, plan.arguments, plan.config, version)
    except OracleError as error:
        with (out / "left-out.txt").open("a") as log:
            log.write(f"{plan.name}: generate.py {' '.join(plan.arguments)}: {error}\n")
        return f"left out: {error.summary}"
    return "recorded"


def judge(oracle: str, out: Path, todo: list[Plan], jobs: int, version: str) -> tuple[dict[str, int], Tally]:
    """Record what is not recorded, and compare. Returns: what became of how many cases, and what differs."""
    out.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        outcomes = collections.Counter(pool.map(lambda plan: run(oracle, out, plan, version), todo))
    print(f"{len(todo)} cases: " + ", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common()), flush=True)
    tally, files = Tally(SHOWN), [out / f"{plan.name}.json.gz" for plan in todo]
    compare([file for file in files if file.exists()], product.answer, tally)
    tally.report()
    return outcomes, tally


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--oracle", help="the oracle's binary (default: built from this folder)")
    p.add_argument("--seeds", default="1-50", help="first-last (default 1-50)")
    p.add_argument("--out", type=Path, default=Path(".campaign/oracle"), help="folder for the cases")
    p.add_argument("--configs", type=Path, default=CONFIGS, help="folder of configurations (default: the golden ones)")
    p.add_argument("--nodes", type=int, default=400, help="nodes of the largest snapshots (default 400)")
    p.add_argument("--jobs", type=int, default=1, help="cases recorded at once (default 1)")
    p.add_argument("--version", default=VERSION, help=f"of kube-scheduler in the oracle (default {VERSION})")
    a = p.parse_args()
    oracle = a.oracle or str(find_binary(print, ORACLE))
    first, last = map(int, a.seeds.split("-"))
    configs = sorted(a.configs.glob("*.yaml"))
    todo = [plan for seed in range(first, last + 1) for plan in plans(seed, configs, a.nodes)]
    _, tally = judge(oracle, a.out, todo, a.jobs, a.version)
    return 1 if tally.by_field else 0


if __name__ == "__main__":
    sys.exit(main())
