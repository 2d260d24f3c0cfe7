#!/usr/bin/env python3
"""What a call of an extender costs a simulation besides the extender's own time.

    python benchmarks/extender_calls.py [--nodes 1000] [--pods 1000] [--repeat 3]

The simulator places the same pods without an extender and with one that gets names, copies them into its answers and
decides nothing: benchmarks/throughput/bare.py. `extender` is what the same requests take on a plain socket, one after
another. `adds` is the time of the run with the extender, less that of the run without and less the extender's, for
each call: the request's body, the HTTP client, reading the answer, and the event loop. `CPU` is the same in CPU time of
this process, which varies less where other programs run.
"""

import argparse
import socket
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.report.machine import machine
from benchmarks.report.markdown import header, table_line
from benchmarks.throughput.run import bare_extender
from kubesched import Simulator
from kubesched.api import KubeObject
from kubesched.config import KubeSchedulerConfiguration
from kubesched.extender_client import ExtenderCaller
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
    ("CPU", 5),
    ("target", 6),
)
HEAD = b"POST /%b HTTP/1.1\r\nHost: extender\r\nContent-Length: %d\r\n\r\n"
CONFIGURATION = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {{urlPrefix: "{url}", filterVerb: filter, prioritizeVerb: prioritize, weight: 1, nodeCacheCapable: true}}
"""


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of CPU time."""

    clock: float
    cpu: float

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(self.clock - other.clock, self.cpu - other.cpu)

    def each(self, n: int) -> "Spent":
        """Milliseconds of each of so many calls."""
        return Spent(1000 * self.clock / n, 1000 * self.cpu / n)


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
            without, with_extender, raw, n = measured(url, cluster(options.nodes, options.pods))
            adds = (with_extender - without - raw).each(n)
            added.append(adds.clock)
            cells = [str(i), f"{options.pods:,}", f"{n:,}", f"{without.clock:.2f}", f"{with_extender.clock:.2f}"]
            shown = [f"{raw.each(n).clock:.3f}", f"{adds.clock:.3f}", f"{adds.cpu:.3f}", f"< {TARGET_MS}"]
            print(table_line(TITLES, [*cells, *shown]), flush=True)
    print(f"\nmedian: {statistics.median(added):.3f} ms a call; load average at the end: {machine()['load average']}")
    return 0


def cluster(n_nodes: int, n_pods: int) -> list[KubeObject]:
    """Nodes of 32 cores, and pods that fit all of them."""
    nodes = [make_node(f"node-{i:05}", allocatable={"cpu": "32", "memory": "128Gi"}) for i in range(n_nodes)]
    return [*nodes, *(make_pod(f"pod-{i:05}", requests={"cpu": "100m", "memory": "500Mi"}) for i in range(n_pods))]


def measured(url: str, objects: Sequence[KubeObject]) -> tuple[Spent, Spent, Spent, int]:
    """Run once without and once with the extender.

    Returns: what the run without it took, that with it, the same requests on a plain socket, and how many these are.
    """
    configuration = load_configuration(CONFIGURATION.format(url=url).encode())
    without = spent_on(Simulator(objects, configuration).run)
    calls = Noting(configuration)
    with_extender = spent_on(Simulator(objects, configuration, extender_calls=calls).run)
    address = urlsplit(url)
    with socket.create_connection((str(address.hostname), int(address.port or 80))) as connection:
        raw = spent_on(lambda: [ask(connection, verb, body) for verb, body in calls.sent])
    return without, with_extender, raw, len(calls.sent)


def ask(connection: socket.socket, verb: str, body: bytes) -> None:
    """Send one request and read its answer, in the shortest way."""
    connection.sendall(HEAD % (verb.encode(), len(body)) + body)
    answer = b""
    while not (end := answer.find(b"\r\n\r\n") + 1) or len(answer) < end + 3 + content_length(answer[:end]):
        answer += connection.recv(2**18)


def content_length(head: bytes) -> int:
    return int(head.partition(b"Content-Length: ")[2].partition(b"\r")[0])


def spent_on(run: Callable[[], object]) -> Spent:
    clock, cpu = time.perf_counter(), time.process_time()
    run()
    return Spent(time.perf_counter() - clock, time.process_time() - cpu)


if __name__ == "__main__":
    sys.exit(main())
