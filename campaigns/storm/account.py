"""What came of a storm: figures and violations, as text and as JSON."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

SHOWN = 20  # violations


@dataclass(frozen=True)
class Plan:
    """How large a storm is.

    Attributes:
        waiting: pods that wait from the start to the end.
        rate: events a second.
        seed: of everything that chance decides.
        silent: clients that say nothing.
    """

    minutes: float = 10.0
    nodes: int = 100
    waiting: int = 20_000
    rate: float = 200.0
    seed: int = 1
    silent: int = 250


class Wait(NamedTuple):
    """Milliseconds; infinite where too few pods came so far."""

    median: float
    p99: float
    most: float


class Use(NamedTuple):
    """What a scheduler used in a storm.

    Attributes:
        cpu: share of a core.
        mib_before, mib_after, mib_peak: memory at the start and the end, and at most since it was started.
    """

    cpu: float
    mib_before: float
    mib_after: float
    mib_peak: float


@dataclass(frozen=True)
class Account:
    """What came of it.

    Attributes:
        created, bound: pods that fit, and how many of them got a node.
        until_seen: from the request that creates such a pod until the observer sees it; what the machine and the API
            server take.
        until_sent: the same until the first Binding that the scheduler sent.
        until_bound: the same until the observer sees it bound, with the delay of the slow API server.
        helped, until_helped: pods that fit once something happened, and how long they waited after it.
        pending: pods that must wait, by role.
        tried_after: seconds until every waiting pod had been tried once.
        settled_after: seconds from the end of the storm until all pods were as they must be.
        events: how many a second happened.
        use: what the scheduler used.
        probes, probes_failed, probes_failed_in_a_row: of /livez.
        sent: Bindings that left the scheduler.
        faults: that the slow API server made.
        violations: what must not happen, one line each.
    """

    plan: Plan
    created: int
    bound: int
    until_seen: Wait
    until_sent: Wait
    until_bound: Wait
    helped: int
    until_helped: Wait
    pending: Mapping[str, int]
    tried_after: float
    settled_after: float
    events: float
    use: Use
    probes: int
    probes_failed: int
    probes_failed_in_a_row: int
    sent: int
    faults: Mapping[str, int]
    violations: list[str]

    def as_document(self) -> dict[str, Any]:
        """All of it, for --json. Waits without an end are null."""
        document = asdict(self)
        for name in ("until_seen", "until_sent", "until_bound", "until_helped"):
            wait: Wait = getattr(self, name)
            document[name] = {key: value if math.isfinite(value) else None for key, value in wait._asdict().items()}
        return {**document, "use": self.use._asdict()}

    def lines(self) -> Iterator[str]:
        """All of it, to be read."""
        use = self.use
        yield f"events: {self.events:,.0f} a second; faults of the API server: {_counts(self.faults)}"
        yield f"pods that fit: {self.bound:,} of {self.created:,} bound"
        yield f"  from creation to seen by the observer: {_said(self.until_seen)}"
        yield f"  from creation to the first Binding sent: {_said(self.until_sent)}"
        yield f"  from creation to bound: {_said(self.until_bound)}"
        yield f"pods helped late: {self.helped:,}; from the help to bound: {_said(self.until_helped)}"
        yield f"pods that wait: {_counts(self.pending)}; all tried after {self.tried_after:,.0f} s"
        yield f"scheduler: {use.cpu:.0%} of a core; {self.sent:,} Bindings sent"
        yield f"  memory: {use.mib_before:,.0f} MiB before, {use.mib_after:,.0f} after, {use.mib_peak:,.0f} at most"
        row = self.probes_failed_in_a_row
        yield f"probes of /livez: {self.probes_failed} of {self.probes} failed, at most {row} in a row"
        yield f"settled {self.settled_after:.1f} s after the end"
        yield f"violations: {len(self.violations) or 'none'}"
        yield from (f"  {line}" for line in self.violations[:SHOWN])
        if len(self.violations) > SHOWN:
            yield f"  and {len(self.violations) - SHOWN:,} more; --json FILE has all"


def wait_of(begun: Mapping[str, float], ended: Mapping[str, float]) -> Wait:
    """How long those took that began: seconds since 1970 by name."""
    took = sorted(1000 * (ended[name] - at) for name, at in begun.items() if name in ended)

    def quantile(share: float) -> float:
        rank = int(share * (len(begun) - 1))
        return took[rank] if rank < len(took) else math.inf

    return Wait(quantile(0.5), quantile(0.99), quantile(1.0))


def _said(wait: Wait) -> str:
    return f"{wait.median:,.0f} ms median, {wait.p99:,.0f} ms p99, {wait.most:,.0f} ms at most"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counts.items())) or "none"
