"""Probes /livez while hundreds of clients hold connections and say nothing, on each port of each program.

python -m campaigns.idle.campaign [--clients 250] [--probes 30] [--every 0.3] [--kind KIND] [--port PORT]

Probed are kube-scheduler and `kubesched scheduler` over HTTPS, and `kubesched extender` over HTTP, HTTPS and at its
health port, whose main port is HTTPS. clients.py has the kinds of clients. Each probe has a connection of
its own and a second for its answer. --kind and --port take part of a name and leave the others out. The exit code is 1
when a probe of kubesched failed.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from campaigns.idle.clients import KINDS
from campaigns.idle.probes import Probes, send_probes
from tests.integration.build import find_binary
from tests.integration.control_plane import ControlPlane
from tests.integration.extender_process import ExtenderProcess
from tests.integration.live_process import LiveProcess
from tests.integration.processes import free_port
from tests.integration.scheduler_process import SchedulerProcess
from tests.serving.certificates import Authority

THEIRS = "kube-scheduler"
LIMIT = ("--max-connections", "128")  # as many as `kubesched scheduler` allows
SETTLE_SECONDS = 3.0
CALM_SECONDS = 1.0
PLAIN_ALONE = ("silent before TLS", "half a handshake")  # kinds that are others where nothing is encrypted


class Port(NamedTuple):
    """One port of one program.

    Attributes:
        post: the path that bodies are sent to.
        pid: of the program.
    """

    name: str
    number: int
    pid: int
    is_encrypted: bool = True
    post: str = "/livez"

    def kinds(self) -> Iterator[str]:
        """The kinds of clients that differ here."""
        return (kind for kind in KINDS if self.is_encrypted or kind not in PLAIN_ALONE)


class Outcome(NamedTuple):
    """What came of one kind of clients at one port.

    Attributes:
        cpu: seconds of CPU time that the program used each second.
        grown: MiB of memory that it took for the clients.
    """

    port: str
    kind: str
    probes: Probes
    cpu: float
    grown: float


@contextmanager
def clients(kind: str, port: Port, n: int) -> Iterator[None]:
    """Clients for the length of the block."""
    options = ["--clients", str(n), "--post", port.post, *(["--tls"] if port.is_encrypted else [])]
    command = [sys.executable, "-m", "campaigns.idle.clients", kind, str(port.number), *options]
    attack = subprocess.Popen(command, cwd=Path(__file__).parents[2])
    try:
        yield
    finally:
        attack.kill()
        attack.wait()


def measure(kind: str, port: Port, n_clients: int, n_probes: int, every: float) -> Outcome:
    """Let the clients come, and probe."""
    memory = _memory(port.pid)
    with clients(kind, port, n_clients):
        time.sleep(SETTLE_SECONDS)
        began, used = time.monotonic(), _cpu(port.pid)
        probes = send_probes(port.number, n_probes, is_encrypted=port.is_encrypted, every=every)
        cpu = (_cpu(port.pid) - used) / (time.monotonic() - began)
        grown = _memory(port.pid) - memory
    time.sleep(CALM_SECONDS)
    return Outcome(port.name, kind, probes, cpu, grown)


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """The outcomes in Markdown."""
    yield "| port | clients | probes failed | slowest answer | CPU | memory |"
    yield "|---|---|---|---|---|---|"
    for port, kind, (n, failed, slowest), cpu, grown in outcomes:
        shown = "" if failed == n else f"{slowest:.2f} s"
        yield f"| {port} | {kind} | {failed} of {n} | {shown} | {cpu:.0%} | {grown:+.0f} MiB |"


def _ports(stack: ExitStack, folder: Path) -> Iterator[Port]:
    plane = stack.enter_context(ControlPlane(find_binary(print), _new(folder / "plane")))
    theirs = SchedulerProcess(plane, _new(folder / THEIRS))
    stack.callback(theirs.stop)
    yield Port(THEIRS, theirs.port, theirs.process.pid)
    ours = LiveProcess(plane, _new(folder / "scheduler"))
    stack.callback(ours.stop)
    yield Port("scheduler", ours.port, ours.process.pid)
    plain = ExtenderProcess(folder / "http", ["OddNodes"], *LIMIT, record=False)
    stack.callback(plain.stop)
    yield Port("extender, HTTP", plain.port, plain.process.pid, is_encrypted=False, post="/filter")
    pair, health = Authority(_new(folder / "tls")).issue("server"), free_port()
    files = ["--tls-cert-file", str(pair.certificate), "--tls-private-key-file", str(pair.key)]
    files += ["--health-port", str(health)]
    secure = ExtenderProcess(folder / "https", ["OddNodes"], *LIMIT, *files, record=False, scheme="https")
    stack.callback(secure.stop)
    yield Port("extender, HTTPS", secure.port, secure.process.pid, post="/filter")
    yield Port("extender, health port", health, secure.process.pid, is_encrypted=False)


def _new(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _cpu(pid: int) -> float:
    """Seconds of CPU time so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def _memory(pid: int) -> float:
    """Resident memory in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--clients", type=int, default=250, help="that hold a connection each (default 250)")
    p.add_argument("--probes", type=int, default=30, help="for each kind and port (default 30)")
    p.add_argument("--every", type=float, default=0.3, metavar="SECONDS", help="between two probes (default 0.3)")
    p.add_argument("--kind", default="", help="these kinds of clients alone")
    p.add_argument("--port", default="", help="these ports alone")
    args = p.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for port in list(_ports(stack, Path(folder))):
            for kind in port.kinds():
                if args.kind in kind and args.port in port.name:
                    outcomes.append(measure(kind, port, args.clients, args.probes, args.every))
                    print(*list(table(outcomes[-1:]))[2:], flush=True)
    print("", *table(outcomes), sep="\n")
    return 1 if any(one.probes.failed for one in outcomes if one.port != THEIRS) else 0


if __name__ == "__main__":
    raise SystemExit(main())
