"""One run: pods come while everything breaks, then calm, then a look at what really happened."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from signal import SIGCONT, SIGSTOP, SIGUSR2

from campaigns.faults.history import Etcd, History, read, shortage
from campaigns.faults.replica import LEASE_SECONDS, Replica
from kubesched.testing import make_node, make_pod
from tests.integration.api_client import ApiError
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import NotInTime, wait_until

STORM_SECONDS = 6.0
SETTLE_SECONDS = 40.0
ASK_SECONDS = 12.0  # more than a comparison takes; a process that lost its lease is followed by another one
TOLERATED_SECONDS = 0.3  # from a process to its proxy, on a machine that is busy
EQUAL = "cache comparison: no differences"
EARLY = "cache comparison: the cache is not filled yet"
PHASES = (("before", "/binding"), ("done", "/binding"), ("done", "/events"), ("before", "/status"), ("before", "/pods"))


class RecordedPlane(ControlPlane):
    """A control plane whose etcd can be read: objects are stored as JSON."""

    @property
    def etcd(self) -> Etcd:
        return Etcd(self._etcd_url)

    def _api_server_flags(self) -> tuple[str, ...]:
        return (*super()._api_server_flags(), "--storage-media-type=application/json")


@dataclass
class Report:
    """What came of a run.

    Attributes:
        faults: that were made.
        harm: what must not happen.
        excused: pods too many on a node where a Binding arrived that had left a leader before its lease ended.
    """

    faults: Counter[str] = field(default_factory=Counter)
    harm: list[str] = field(default_factory=list)
    n_pods: int = 0
    n_bound: int = 0
    n_pending: int = 0
    n_starts: int = 0
    excused: int = 0
    settle_seconds: float = 0.0


class Run:
    """One seed."""

    def __init__(self, plane: RecordedPlane, folder: Path, seed: int) -> None:
        self.report = Report()
        self._plane = plane
        self._random = random = Random(seed)
        self._revision = plane.etcd.revision()
        self._is_alone = seed % 10 == 9  # a scheduler without a Lease, that outlives all answers being lost
        n_replicas = 1 if self._is_alone else random.choice((1, 2, 2))
        self._replicas = [
            Replica(plane, folder / f"replica-{n}", seed * 10 + n, elects=not self._is_alone) for n in range(n_replicas)
        ]
        self._n_nodes = random.randrange(3, 9)
        self._pods: list[str] = []

    def stop(self) -> None:
        for replica in self._replicas:
            replica.stop()

    def play(self) -> Report:
        """Create pods while everything breaks, wait, and judge."""
        for n in range(self._n_nodes):
            room = {
                "cpu": str(self._random.choice((1, 2, 4))),
                "memory": "8Gi",
                "pods": str(self._random.choice((4, 110))),
            }
            self._insist(lambda n=n, room=room: self._plane.client.create(make_node(f"node-{n}", allocatable=room)))
        if self._is_alone:
            self._lose_answers()
        else:
            self._storm()
        self._calm()
        began = time.monotonic()
        history = self._settled()
        self.report.settle_seconds = time.monotonic() - began
        self._judge(history)
        self._compare()
        return self.report

    # --- the storm ---

    def _storm(self) -> None:
        random = self._random
        times = sorted(random.uniform(0.2, STORM_SECONDS) for _ in range(random.randrange(2, 6)))
        faults = [(at, random.choice(list(self._faults()))) for at in times]
        began = time.monotonic()
        while (now := time.monotonic() - began) < STORM_SECONDS:
            while faults and faults[0][0] <= now:
                name, make = faults.pop(0)[1]
                self.report.faults[name] += 1
                make()
            self._add_pods(random.randrange(4))
            if random.random() < 0.1:
                self._delete_pod()
            time.sleep(0.25)

    def _lose_answers(self) -> None:
        """Lose the answers to Bindings, and all others for a while; pods wait for the room that these pods take."""
        (replica,) = self._replicas
        wait_until(replica.is_leading, "the scheduler", seconds=60)
        self.report.faults["answers lost"] += 1
        for n in range(12):
            if n == 2:
                replica.proxy.is_deaf = replica.proxy.is_blind = True
            self._add_pods(4, ("700m",))
            time.sleep(0.1)
        replica.proxy.cut_watches()
        time.sleep(self._random.uniform(8, 12))
        replica.proxy.is_deaf = False
        time.sleep(4.0)  # Bindings go through, and nothing shows them

    def _faults(self) -> Iterator[tuple[str, Callable[[], object]]]:
        """The names of all faults, and how to make them."""
        replica = self._random.choice(self._replicas)
        proxy = replica.proxy
        yield "API server killed", self._kill_api_server
        yield "watches cut", proxy.cut_watches
        yield "watches expired", proxy.expire_watches
        yield "Bindings refused", lambda: setattr(proxy, "bind_rate", 0.5)
        yield "Bindings refused", lambda: setattr(proxy, "bind_rate", 0.9)
        yield "slow answers", lambda: self._slow_down(replica)
        yield "lease stolen", self._steal_lease
        yield "killed at once", replica.kill
        for phase, end in PHASES:
            yield f"killed {phase} {end}", lambda phase=phase, end=end: self._kill_at(replica, phase, end)
        yield "stopped for 4 s", lambda: self._pause(replica)

    def _kill_api_server(self) -> None:
        self._plane.stop_api_server()
        time.sleep(self._random.uniform(0, 1.5))
        self._plane.start_api_server()

    def _slow_down(self, replica: Replica) -> None:
        replica.proxy.slow_seconds = self._random.choice((0.3, 1.0, 4.0))
        replica.proxy.slow_rate = 0.3

    def _steal_lease(self) -> None:
        stolen = {"spec": {"holderIdentity": "thief", "leaseDurationSeconds": 3}}
        self._insist(lambda: self._plane.client.patch("Lease", "kubesched", stolen, "kube-system"))

    def _kill_at(self, replica: Replica, phase: str, end: str) -> None:
        """Kill the process when the next request of a kind comes, or has been carried out."""

        def strike(at: str, method: str, path: str) -> None:
            if at == phase and path.endswith(end):
                replica.proxy.on_request = lambda phase, method, path: None
                replica.kill()

        replica.proxy.on_request = strike
        if end == "/pods":  # the lists of a start
            replica.kill()

    def _pause(self, replica: Replica) -> None:
        """Stop the process for longer than its lease, as a hibernated machine does."""
        replica.signal(SIGSTOP)
        time.sleep(LEASE_SECONDS + 1)
        replica.signal(SIGCONT)

    def _add_pods(self, n: int, cpus: tuple[str, ...] = ("100m", "300m", "700m", "9")) -> None:
        random = self._random
        pods = []
        for _ in range(n):
            name = f"pod-{len(self._pods)}"
            self._pods.append(name)
            pods.append(make_pod(name, requests={"cpu": random.choice(cpus)}))
        if pods:
            self._insist(lambda: self._plane.client.create_all(pods))

    def _delete_pod(self) -> None:
        if self._pods:
            name = self._random.choice(self._pods)
            self._insist(lambda: self._plane.client.delete("Pod", name))

    def _insist(self, call: Callable[[], object]) -> None:
        """Do something although the API server may be away for a moment; what is there or gone already is fine."""
        try:
            call()
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    def _calm(self) -> None:
        for replica in self._replicas:
            replica.proxy.calm()

    # --- the end ---

    def _history(self) -> History:
        return read(self._plane.etcd.changes(self._revision))

    def _settled(self) -> History:
        """Wait until every pod is decided rightly, and a moment longer. Returns: what happened."""

        def is_decided() -> bool:
            time.sleep(0.5)  # the proxies are in this process, and reading is work
            return not undecided(self._history())

        with suppress(NotInTime):
            wait_until(is_decided, "all pods", seconds=SETTLE_SECONDS)
        time.sleep(1.0)
        return self._history()

    def _judge(self, history: History) -> None:
        report = self.report
        report.n_pods, report.n_bound = len(self._pods), len(history.bound)
        report.n_pending = sum(1 for pod in history.pods.values() if not pod["spec"].get("nodeName"))
        report.n_starts = sum(replica.n_starts for replica in self._replicas)
        for replica in self._replicas:
            report.faults += replica.proxy.counts
        report.harm += undecided(history)
        report.harm += [f"bound twice: {text}" for text in history.rebound]
        self._judge_leases(history)
        for replica in self._replicas:
            faults = [line for line in replica.lines() if " ERROR " in line or "Traceback" in line]
            report.harm += [f"log: {line}" for line in faults if "kubesched.leaderelection" not in line]

    def _judge_leases(self, history: History) -> None:
        """No Binding leaves a process after its lease; and no node is over-committed but by one that left before."""
        report, senders = self.report, dict[tuple[str, str], set[str]]()
        for replica in self._replicas:
            for sent in replica.proxy.bindings:
                sender = replica.sender(sent.at)
                senders.setdefault((sent.pod, sent.node), set()).add(sender)
                ends = [at + LEASE_SECONDS for holder, at in history.renewals if holder == sender and at <= sent.at]
                late = sent.at - max(ends, default=0.0)
                if late > TOLERATED_SECONDS and not self._is_alone:
                    report.harm.append(f"the Binding of {sent.pod} to {sent.node} left {late:.2f} s after the lease")
        after_change = (
            set[str]()
            if self._is_alone
            else {one.node for one in history.bound if one.holder not in senders.get((one.pod, one.node), {one.holder})}
        )
        for one in history.bound:
            if one.shortage and one.node in after_change:
                report.excused += 1
            elif one.shortage:
                report.harm.append(f"{one.node} is over-committed by {one.pod}: {one.shortage}")

    def _compare(self) -> None:
        """The cache of the process that leads equals the cluster."""
        counts = {replica: len(replica.lines()) for replica in self._replicas}
        asked_at = 0.0

        def outcome() -> list[str]:
            nonlocal asked_at
            answers = [
                line for replica, n in counts.items() for line in replica.lines()[n:] if "cache comparison:" in line
            ]
            is_early = bool(answers) and EARLY in answers[-1]  # it leads, and is still listing
            leader = max(self._replicas, key=lambda replica: max(replica.proxy.claims, default=(0.0, "")))
            if time.monotonic() - asked_at > (1.0 if is_early else ASK_SECONDS) and leader.is_leading():
                asked_at = time.monotonic()
                leader.signal(SIGUSR2)
            return [line for line in answers if EARLY not in line]

        try:
            lines = wait_until(outcome, "the comparison of the cache", seconds=SETTLE_SECONDS)
        except NotInTime as error:
            lines = [str(error)]
        self.report.harm += [line for line in lines if EQUAL not in line]


def undecided(history: History) -> list[str]:
    """Pods that are pending although they fit, or do not have the right reason."""
    wrong = []
    text = rf"0/{len(history.nodes)} nodes are available: .*(Insufficient cpu|Too many pods)"
    for name, pod in history.pods.items():
        if pod["spec"].get("nodeName"):
            continue
        fitting = [node for node in history.nodes if not shortage(history, node, pod)]
        conditions = [c for c in pod["status"].get("conditions", ()) if c["type"] == "PodScheduled"]
        reasons = [(c["status"], c["reason"], bool(re.match(text, c["message"]))) for c in conditions]
        if fitting:
            wrong.append(f"{name} is pending and fits on {fitting[0]}: {conditions}")
        elif reasons != [("False", "Unschedulable", True)]:
            wrong.append(f"{name} is pending without the right reason: {conditions}")
    return wrong
