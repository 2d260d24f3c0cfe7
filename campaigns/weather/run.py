"""A run: good and bad clients against one extender, and the account of what came of it."""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from itertools import chain, count
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from campaigns.weather.calls import N_GENERATIONS, Call, Late, Wrong, filter_call, large, livez, prioritize_call, small
from campaigns.weather.connections import Connection, Target
from campaigns.weather.kinds import KINDS
from campaigns.weather.server import Sample, Server

LIMIT_SECONDS = 5.0
"""For a good call: the default httpTimeout of an extender."""
GROWTH = 1.1
FLOOR_MIB = 32
"""Growth that is always allowed, for the allocator keeps some of what bodies took; half an hour of a leak is more."""
MOST_MIB = 4096
"""Ends the run early, before the machine runs out of memory."""
SPARE_FILES = 10
BEHIND = "any, while the plugin slept"


class Plan(NamedTuple):
    """What to run.

    Attributes:
        seconds: of traffic.
        calm: seconds between the traffic and the last look at the memory.
        good, bad: clients of either sort.
        only: part of the names of the kinds to run; empty for all kinds.
        folder: for the log and what the server needs.
    """

    folder: Path
    seconds: float = 1800
    calm: float = 10
    seed: int = 1
    tls: bool = False
    good: int = 4
    bad: int = 12
    only: str = ""


class Account:
    """What came of every call; all clients write to it.

    Attributes:
        outcomes: of each kind of bad weather.
        seconds: that each kind of good call took.
        harm: what must not happen, and how often it did.
        samples: of the server, one a second; `first` and `last` are those before and after the traffic.
    """

    def __init__(self) -> None:
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.harm: Counter[str] = Counter()
        self.samples: list[Sample] = []
        self.first = self.last = Sample(0, 0)
        self._lock = threading.Lock()

    def note_good(self, kind: str, outcome: str, seconds: float, slept: float) -> None:
        """Enter a good call; `slept` of its seconds the plugin slept."""
        is_excused = outcome == "late" and slept
        with self._lock:
            self.seconds[BEHIND if slept else kind].append(seconds)
            if outcome != "200" and not is_excused:
                self.harm[f"good call: {kind}: {outcome}"] += 1
            if seconds - slept > LIMIT_SECONDS:
                self.harm[f"good call: {kind}: took more than {LIMIT_SECONDS:g} s"] += 1

    def note_bad(self, kind: str, outcome: str, slept: float) -> None:
        is_excused = outcome == "late" and slept
        with self._lock:
            self.outcomes[kind][outcome] += 1
            if outcome not in KINDS[kind].allowed and not is_excused:
                self.harm[f"{kind}: {outcome}"] += 1

    def at(self, part: float) -> float:
        """Resident memory in MiB at a part of the run: the lowest of five samples, to leave out bodies in flight."""
        end = max(1, round(part * len(self.samples)))
        return min(sample.rss for sample in self.samples[max(0, end - 5) : end])

    def judge_end(self, server: Server) -> None:
        """Judge memory, open files and log once the traffic has stopped."""
        if not server.is_running:
            self.harm["the process has ended"] += 1
        allowed = max(GROWTH * self.at(0.1), self.at(0.1) + FLOOR_MIB)
        if max(sample.rss for sample in self.samples) > MOST_MIB:
            self.harm[f"memory: more than {MOST_MIB} MiB; the run ended there"] += 1
        if self.last.rss > allowed:
            self.harm[f"memory: {self.last.rss:.0f} MiB at the end, {self.at(0.1):.0f} at 10%"] += 1
        if self.last.files > self.first.files + SPARE_FILES:
            self.harm[f"open files: {self.last.files} at the end, {self.first.files} at the start"] += 1
        for line, n in server.faults().items():
            self.harm[f"log: {line}"] += n


def run(plan: Plan, *, on_minute: Callable[[Account], None] = lambda _: None) -> Account:
    """Start an extender, run the clients against it, and stop both."""
    account = Account()
    server = Server(plan.folder, tls=plan.tls)
    try:
        _warm_up(server.target)
        account.first = server.sample()
        _blow(plan, server, account, on_minute)
        time.sleep(plan.calm)
        account.last = server.sample()
        _call(livez(), Client(Target(server.target.port, server.target.tls)), account)
        account.judge_end(server)
    finally:
        server.stop()
    return account


def _warm_up(target: Target) -> None:
    """Send every node once, so that what the server keeps of them is in its first sample."""
    with target.connection() as connection:
        for generation in range(N_GENERATIONS):
            for new_call in (filter_call, prioritize_call):
                call = new_call(range(1000), generation)
                call.check(connection.ask(call.data))


def _blow(plan: Plan, server: Server, account: Account, on_minute: Callable[[Account], None]) -> None:
    target, is_over, deck = server.target, threading.Event(), Deck(plan.seed, plan.only)
    good = [
        threading.Thread(target=_call_on, args=(target, Random(f"{plan.seed} good {i}"), is_over, account), daemon=True)
        for i in range(plan.good)
    ]
    bad = [threading.Thread(target=_misbehave, args=(target, deck, account), daemon=True) for _ in range(plan.bad)]
    for thread in (*good, *bad):
        thread.start()
    start = time.monotonic()
    for second in count(1):
        time.sleep(max(0.0, min(second, plan.seconds) - (time.monotonic() - start)))
        account.samples.append(server.sample())
        if second % 60 == 0:
            on_minute(account)
        if second >= plan.seconds or not server.is_running or account.samples[-1].rss > MOST_MIB:
            break
    is_over.set()
    for thread in good:
        thread.join()
    target.end()
    for thread in bad:
        thread.join()


# --- good clients ---


class Client:
    """Asks on one connection until it is told to close it, or until something goes wrong."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._stack = ExitStack()
        self._connection: Connection | None = None

    def ask(self, call: Call) -> str:
        """Returns: "200", or what is wrong."""
        if self._connection is None:
            self._connection = self._stack.enter_context(self.target.connection())
        connection = self._connection
        call.check(connection.ask(call.data))
        if connection.is_last:
            self.close()
        return "200"

    def close(self) -> None:
        self._stack.close()
        self._connection = None


def _call_on(target: Target, rng: Random, is_over: threading.Event, account: Account) -> None:
    """Make call after call, most of them on connections that are kept."""
    client = Client(target)
    while not is_over.wait(rng.uniform(0, 0.1)):
        draw = rng.choices((small, large, lambda _: livez()), (6, 2, 1))[0]
        if _call(draw(rng), client, account) != "200" or rng.random() < 0.1:
            client.close()
    client.close()


def _call(call: Call, client: Client, account: Account) -> str:
    start = time.monotonic()
    outcome = _outcome(lambda: client.ask(call))
    end = time.monotonic()
    account.note_good(call.name, outcome, end - start, client.target.sleeps.overlap(start, end))
    return outcome


# --- bad clients ---


class Deck:
    """The bad weather of a run: every kind once, in random order, then by weight. A seed always gives the same."""

    def __init__(self, seed: int, only: str) -> None:
        rng = Random(seed)
        kinds = [name for name in KINDS if only in name]
        weights = [KINDS[name].weight for name in kinds]
        once = rng.sample(kinds, len(kinds))
        self._names = chain(once, (rng.choices(kinds, weights)[0] for _ in count()))
        self._rngs = (Random(f"{seed} bad {i}") for i in count())
        self._lock = threading.Lock()

    def draw(self) -> tuple[str, Random]:
        """The next kind, and its random numbers."""
        with self._lock:
            return next(self._names), next(self._rngs)


def _misbehave(target: Target, deck: Deck, account: Account) -> None:
    is_over = False
    while not is_over:
        name, rng = deck.draw()
        start = time.monotonic()
        outcome = _outcome(lambda name=name, rng=rng: KINDS[name].act(target, rng))
        is_over = target.wait(rng.uniform(0, 0.5))
        if not target.is_ending.is_set():  # otherwise this side has cut the connection
            account.note_bad(name, outcome, target.sleeps.overlap(start, time.monotonic()))


def _outcome(act: Callable[[], str]) -> str:
    try:
        return act()
    except Late:
        return "late"
    except (Wrong, msgspec.MsgspecError) as error:
        return f"wrong: {error}"
    except TimeoutError:
        return "no answer"
    except (OSError, EOFError):
        return "closed"
