"""Times a replay of a week: python -m benchmarks.replay_week [--nodes 5000] [--pods 100000]."""

import argparse
import resource
import time
from random import Random

from kubesched import Arrival, Trace, replay
from kubesched.testing import make_node, make_pod

WEEK = 7 * 86_400
CPUS = (1, 1, 2, 2, 4, 8)


def week(n_nodes: int, n_pods: int, seed: int, load: float) -> Trace:
    """Pods of six shapes and three priorities that come all week and together ask for a share of all cpu."""
    rng = Random(seed)
    room = {"cpu": "32", "memory": "128Gi"}
    nodes = tuple(make_node(f"n{i}", zone=f"z{i % 3}", allocatable=room) for i in range(n_nodes))
    mean = load * 32 * n_nodes * WEEK / n_pods / (sum(CPUS) / len(CPUS))
    arrivals = []
    for i in range(n_pods):
        cpu = rng.choice(CPUS)
        pod = make_pod(
            f"p{i}", requests={"cpu": str(cpu), "memory": f"{4 * cpu}Gi"}, priority=rng.choice((0, 0, 0, 100, 1000))
        )
        arrivals.append(Arrival(rng.uniform(0, WEEK), pod, min(rng.expovariate(1 / mean), WEEK), comes_again=True))
    arrivals.sort(key=lambda one: one.at)
    return Trace(nodes, tuple(arrivals), name="week")


def main() -> None:
    """Replay and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--load", type=float, default=0.5, help="the share of all cpu that pods ask for on average")
    asked = parser.parse_args()
    trace = week(asked.nodes, asked.pods, asked.seed, asked.load)
    begin = time.process_time()
    answer = replay(trace)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.1f} s of CPU, {len(answer.pods) / seconds:,.0f} pods/s, {peak:,.0f} MiB at most")
    for name in ("cpu_allocation", "pending", "running", "cpu_stranded"):
        print(name, answer.over_time(name))
    print(
        f"{answer.n_evicted} evictions, {len(answer.left)} pending at the end, longest wait {answer.waits[0].longest}"
    )


if __name__ == "__main__":
    main()
