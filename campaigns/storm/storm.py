"""One storm: pods that wait, everything that happens at once, then calm, and the account of it."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from random import Random

from benchmarks.scheduling.run import cost
from benchmarks.scheduling.waiting import Makers, as_stored

from campaigns.faults.fault_proxy import FaultProxy
from campaigns.faults.proxied_plane import ProxiedPlane
from campaigns.idle import clients as idle_clients
from campaigns.storm.account import Account, Plan, Use, wait_of
from campaigns.storm.arrivals import Arrivals
from campaigns.storm.happenings import happenings
from campaigns.storm.judge import faults_at_the_end, must_wait, role_of
from campaigns.storm.ledger import Ledger
from campaigns.storm.observer import Observer
from campaigns.storm.pods import Pools, helped, waiting
from campaigns.storm.probes import FAILURE_THRESHOLD, Probes
from campaigns.storm.slow_api import slow_down
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.processes import NotInTime, Process, wait_until

FIRST_TRIES_SECONDS, SETTLE_SECONDS = 900.0, 180.0
N_HELPED = 3  # pods of each kind


def play(plan: Plan, plane: ControlPlane, folder: Path) -> Account:
    """Let a storm come over one scheduler in an empty cluster.

    Args:
        folder: empty; takes logs.
    """
    random, pools = Random(plan.seed), Pools(plan.nodes)
    patient = [*waiting(plan.waiting), *helped(N_HELPED)]
    with ExitStack() as stack:
        plane.store(map(as_stored, [*pools.nodes(), *pools.placed(), *patient]))
        observer = stack.enter_context(closing(Observer(plane)))
        proxy = stack.enter_context(FaultProxy(plane.url, plan.seed))
        began = time.monotonic()
        scheduler = LiveProcess(ProxiedPlane(plane, proxy), folder)
        stack.callback(scheduler.stop)
        storm = Storm(plan, plane, observer, proxy, scheduler)
        wait_until(storm.are_all_tried, "a first try of each pod", seconds=FIRST_TRIES_SECONDS)
        storm.tried_after = time.monotonic() - began
        storm.rage(pools, random, folder)
        storm.settle()
        return storm.account()


class Storm:
    """The parts of one storm while it lasts, and what is noted of it."""

    def __init__(
        self, plan: Plan, plane: ControlPlane, observer: Observer, proxy: FaultProxy, scheduler: LiveProcess
    ) -> None:
        self.tried_after = 0.0
        self._plan, self._plane, self._observer = plan, plane, observer
        self._proxy, self._scheduler = proxy, scheduler

    def are_all_tried(self) -> bool:
        """Whether each pod that waits has a condition."""
        return all(one or not must_wait(name) for name, one in list(self._observer.conditions.items()))

    def rage(self, pools: Pools, random: Random, folder: Path) -> None:
        """Let everything happen at once."""
        plan, pid = self._plan, self._scheduler.process.pid
        self._arrivals = Arrivals(plan, pools, N_HELPED, random)
        silent = ["silent", str(self._scheduler.port), "--tls", "--clients", str(plan.silent)]
        clients = Process("silent clients", [sys.executable, idle_clients.__file__, *silent], folder / "clients.log")
        with ExitStack() as stack:
            stack.callback(clients.kill)
            self._probes = stack.enter_context(closing(Probes(self._scheduler.port)))
            slow_down(self._proxy)
            began, used, before = time.monotonic(), cost(pid)[0], resident_mib(pid)
            makers = stack.enter_context(closing(Makers(self._plane, happenings(pools, random), plan.rate)))
            self._arrivals.come(self._plane.client, self._observer)
            seconds = time.monotonic() - began
            self._events = makers.n_made / seconds
            self._use = Use((cost(pid)[0] - used) / seconds, before, resident_mib(pid), cost(pid)[1])

    def settle(self) -> None:
        """Wait in calm until all is as it must be, or no longer."""
        self._proxy.calm()
        began = time.monotonic()
        with suppress(NotInTime):  # the account has what is wrong
            wait_until(lambda: not self._faults_at_the_end(), "the right end of each pod", seconds=SETTLE_SECONDS)
        self._settled_after = time.monotonic() - began

    def account(self) -> Account:
        """The figures and violations."""
        bound, created, late = self._observer.bound, self._arrivals.created, self._arrivals.helped
        sent: dict[str, float] = {}
        for binding in list(self._proxy.bindings):
            sent.setdefault(binding.pod, binding.at)
        return Account(
            plan=self._plan,
            created=len(created),
            bound=sum(name in bound for name in created),
            until_seen=wait_of(created, self._observer.came),
            until_sent=wait_of(created, sent),
            until_bound=wait_of(created, bound),
            helped=len(late),
            until_helped=wait_of(late, bound),
            pending=dict(Counter(role_of(name) for name in self._observer.conditions if must_wait(name))),
            tried_after=self.tried_after,
            settled_after=self._settled_after,
            events=self._events,
            use=self._use,
            probes=self._probes.n,
            probes_failed=self._probes.n_failed,
            probes_failed_in_a_row=self._probes.most_failed,
            sent=len(self._proxy.bindings),
            faults=dict(self._proxy.counts),
            violations=[*self._violations()],
        )

    def _faults_at_the_end(self) -> list[str]:
        created = [*self._arrivals.created, *self._arrivals.helped]
        return faults_at_the_end(self._observer, created)

    def _violations(self) -> Iterator[str]:
        if self._observer.lost:
            yield f"the observer saw no more: {self._observer.lost}"
        if not self._scheduler.process.is_running:
            yield f"the scheduler has ended with exit code {self._scheduler.process.exit_code()}"
        if self._probes.most_failed >= FAILURE_THRESHOLD:
            yield f"{self._probes.most_failed} probes of /livez in a row failed; a kubelet restarts the scheduler then"
        yield from Ledger().replay(self._observer.nodes, self._observer.pods).harm
        yield from self._faults_at_the_end()
        done: set[str] = set()
        for call in self._proxy.called("create", "pods/binding"):
            if call.name in done:
                yield f"a Binding of pod {call.name} was sent after one that succeeded"
            if 200 <= call.status < 300:
                done.add(call.name)


def resident_mib(pid: int) -> float:
    """Memory of a process now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 2**20
