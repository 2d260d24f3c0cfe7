#!/usr/bin/env python3
"""What a call of an extender costs a simulation besides the extender's own time.

    python benchmarks/extender_calls.py [--nodes 1000] [--pods 1000] [--repeat 3]

The simulator places the same pods without an extender and with one that gets names, copies them into its answers and
decides nothing: benchmarks/throughput/bare.py. `extender` is what the same requests take on a raw connection, one after
the other. `adds` is the time of the run with the extender, less that of the run without and less the extender's, for
each call: the request's body, the HTTP client, reading the answer, and the event loop.
"""

import argparse
import http.client
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.report.machine import machine
from benchmarks.report.markdown import header, table_line
from benchmarks.throughput.run import bare_extender
from kubesched import Simulator
from kubesched.api import KubeObject
from kubesched.config import KubeSchedulerConfiguration
from kubesched.extender.client import ExtenderCaller
from kubesched.framework import ActionDone, CallExtender
from kubesched.setup import load_configuration
from kubesched.testing import make_node, make_pod

TARGET_MS = 0.3
TITLES = (
    ("run", 3),
    ("pods", 6),
    ("calls", 6),
    ("without s", 9),
    ("with s", 6),
    ("ms a call: extender", 19),
    ("adds", 5),
    ("target", 6),
)
CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {{urlPrefix: "{url}", filterVerb: filter, prioritizeVerb: prioritize, weight: 1, nodeCacheCapable: true}}
"""


class Noting(ExtenderCaller):
    """Calls extenders, and notes what it sends.

    Attributes:
        sent: verb and body of each call.
    """

    def __init__(self, configuration: KubeSchedulerConfiguration) -> None:
        super().__init__(configuration.extenders)
        self.sent: list[tuple[str, bytes]] = []

    async def call(self, action: CallExtender) -> ActionDone:
        self.sent.append((action.verb, action.body))
        return await super().call(action)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(*(f"{name}: {value}" for name, value in machine().items()), "", sep="\n", flush=True)
    print(*header(TITLES), sep="\n", flush=True)
    added = []
    with bare_extender() as url:
        for i in range(options.repeat):
            row = measured(url, cluster(options.nodes, options.pods))
            added.append(row[-1])
            without, with_extender, n_calls, of_extender, adds = row
            cells = [str(i), f"{options.pods:,}", f"{n_calls:,}", f"{without:.2f}", f"{with_extender:.2f}"]
            shown = [f"{of_extender:.3f}", f"{adds:.3f}", f"< {TARGET_MS}"]
            print(table_line(TITLES, [*cells, *shown]), flush=True)
    print(f"\nmedian: {statistics.median(added):.3f} ms a call; load average at the end: {machine()['load average']}")
    return 0


def cluster(n_nodes: int, n_pods: int) -> list[KubeObject]:
    """Nodes of 32 cores, and pods that fit all of them."""
    nodes = [make_node(f"node-{i:05}", allocatable={"cpu": "32", "memory": "128Gi"}) for i in range(n_nodes)]
    return [*nodes, *(make_pod(f"pod-{i:05}", requests={"cpu": "100m", "memory": "500Mi"}) for i in range(n_pods))]


def measured(url: str, objects: Sequence[KubeObject]) -> tuple[float, float, int, float, float]:
    """Run once without and once with the extender.

    Returns: seconds without it and with it, calls, and milliseconds of each: in the extender, and besides.
    """
    configuration = load_configuration(CONFIGURATION.format(url=url).encode())
    without = seconds_of(Simulator(objects, configuration))
    calls = Noting(configuration)
    with_extender = seconds_of(Simulator(objects, configuration, extender_calls=calls))
    of_extender = seconds_on_a_raw_connection(url, calls.sent)
    n = len(calls.sent)
    return without, with_extender, n, 1000 * of_extender / n, 1000 * (with_extender - without - of_extender) / n


def seconds_of(simulator: Simulator) -> float:
    began = time.perf_counter()
    simulator.run()
    return time.perf_counter() - began


def seconds_on_a_raw_connection(url: str, sent: Sequence[tuple[str, bytes]]) -> float:
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.connect()
    began = time.perf_counter()
    for verb, body in sent:
        connection.request("POST", f"/{verb}", body, {"Content-Type": "application/json"})
        connection.getresponse().read()
    seconds = time.perf_counter() - began
    connection.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
