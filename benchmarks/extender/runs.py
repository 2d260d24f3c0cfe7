"""Starts the servers, asks them in turn and collects the figures."""

import contextlib
import pstats
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from io import StringIO
from pathlib import Path

from benchmarks.extender import servers
from benchmarks.extender.cells import CONNECTIONS, NAMES, VERBS, Cell, Endurance, Figures, Result
from benchmarks.extender.client import Call, Client
from benchmarks.extender.payloads import Payloads
from benchmarks.extender.servers import Server

Start = Callable[[], AbstractContextManager[Server]]


@dataclass(frozen=True)
class Bench:
    """What the measurements need.

    Attributes:
        payloads: the cluster.
        folder: for the servers' logs.
        kubeconfig: the API server of the cluster.
        go: the Go server's program; None leaves it out.
    """

    payloads: Payloads
    folder: Path
    kubeconfig: Path
    go: Path | None

    def call(self, form: str, n: int, verb: str) -> Call:
        """A request of that form with the first n nodes."""
        return Call(verb, (self.payloads.with_names if form == NAMES else self.payloads.with_nodes)(n))

    def ours(self, form: str, profile: Path | None = None) -> Start:
        """How our server is started for requests of a form: it watches the cluster for names only."""
        return partial(servers.kubesched, self.folder, self.kubeconfig if form == NAMES else None, profile)


@contextlib.contextmanager
def prepared(n_nodes: int, folder: Path, go: Path | None) -> Iterator[Bench]:
    """A cluster of so many nodes, with an API server."""
    payloads = Payloads(n_nodes)
    with servers.api_server(folder, payloads.node_list()) as kubeconfig:
        yield Bench(payloads, folder, kubeconfig, go)


def measure(bench: Bench, form: str, n: int, *, seconds: float, repeat: int) -> Iterator[Result]:
    """Both verbs with so many nodes: each repeat starts ours and the Go server anew, one after the other."""
    for verb in VERBS:
        call = bench.call(form, n, verb)
        ours, go = ({n_connections: Figures() for n_connections in CONNECTIONS} for _ in range(2))
        for _ in range(repeat):
            _measure_once(bench.ours(form), call, seconds, ours)
            if bench.go is not None:
                _measure_once(partial(servers.go, bench.go, bench.folder), call, seconds, go)
        for n_connections in CONNECTIONS:
            cell = Cell(form, n, verb, n_connections)
            yield Result(cell, ours[n_connections], go[n_connections] if bench.go else None)


def _measure_once(start: Start, call: Call, seconds: float, figures: dict[int, Figures]) -> None:
    with start() as server:
        for n_connections, found in figures.items():
            with Client(server.port, n_connections) as client:
                first = client.run([call], least=n_connections)  # the server's first one, or those of new connections
                if n_connections == 1:
                    found.first.append(first.median)
                    client.run([call], seconds=seconds / 10)
                before = server.cpu_seconds
                times = client.run([call], seconds=seconds, least=3 * n_connections)
                found.warm.append(times)
                found.cpu.append((server.cpu_seconds - before) / len(times.each))
            found.peaks.append(server.peak)


def endure(bench: Bench, form: str, sizes: tuple[int, ...], n_requests: int) -> Endurance:
    """Mixed requests to one server of ours: both verbs; of a hundred, nine have a middle size and one the largest."""
    calls = {(n, verb): bench.call(form, n, verb) for n in sizes for verb in VERBS}
    mixed = [calls[_mixed_size(i, sizes), verb] for i in range(100) for verb in VERBS]
    n_early = n_requests // 10
    with bench.ours(form)() as server, Client(server.port, CONNECTIONS[-1]) as client:
        client.run(mixed, least=n_early)
        early = server.resident
        client.run(mixed, least=n_requests - n_early)
        what = f"{form}: {', '.join(f'{n:,}' for n in sizes)}"
        return Endurance(what, n_early, early, n_requests, server.resident)


def _mixed_size(i: int, sizes: tuple[int, ...]) -> int:
    if i % 100 == 0:
        return sizes[-1]
    return sizes[len(sizes) // 2] if i % 10 == 0 else sizes[0]


def profile(bench: Bench, form: str, n: int, verb: str, *, seconds: float, n_functions: int) -> str:
    """Where our server's time goes: the functions that took the most themselves, its start included."""
    found = bench.folder / "profile"
    call = bench.call(form, n, verb)
    with bench.ours(form, found)() as server, Client(server.port, 1) as client:
        times = client.run([call], seconds=seconds)
    text = StringIO()
    pstats.Stats(str(found), stream=text).sort_stats("tottime").print_stats(n_functions)
    return f"{len(times.each)} requests in {times.total:.1f} s\n{text.getvalue()}"
