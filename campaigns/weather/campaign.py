"""Send half an hour of good and broken traffic to one extender; nothing may come of it but answers.

    python -m campaigns.weather.campaign [--minutes 30] [--seed 1] [--tls] [--good 4] [--bad 12] [--only KIND]
                                         [--out DIR]

Good calls and bad weather go to one `kubesched extender`, a process of its own without a watch. The answers to the good
calls are checked. The bad clients leave, hold on, do not read, or send what is not HTTP, gzip or JSON;
kinds.py lists the kinds. The same seed gives the same bad weather in the same order. --only takes part of
a kind's name and leaves the other kinds out. --out gets the server's log. Needs Linux, for /proc.

Harm is:

- the process ends;
- a good call, /livez included, gets no answer, a wrong answer, or one that takes more than 5 seconds;
- a bad client gets an answer that its kind does not allow;
- memory at the end is more than 10% and more than 32 MiB above memory after a tenth of the run, or passes 4 GiB at any
  time, which ends the run;
- files stay open;
- the log has an error or a stack trace.

The plugin sleeps on purpose now and then. The server answers nobody in that time, so calls that wait for it may be late
and are counted apart. The exit code is 1 when there was harm.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from campaigns.weather.kinds import KINDS
from campaigns.weather.run import BEHIND, Account, Plan, run

MARKS = (0.1, 0.25, 0.5, 0.75, 1.0)


def report(account: Account) -> Iterator[str]:
    """Lines that tell what came of a run: good calls, bad weather, memory, open files, harm."""
    yield f"{len(account.samples)} s of traffic"
    yield ""
    yield f"{'good calls':34}{'times':>8}{'median':>9}{'p99':>9}{'worst':>9}"
    for kind in sorted(account.seconds, key=lambda kind: (kind == BEHIND, kind)):
        times = sorted(account.seconds[kind])
        figures = (times[len(times) // 2], times[len(times) * 99 // 100], times[-1])
        yield f"{kind:34}{len(times):8}" + "".join(f"{seconds:7.3f} s" for seconds in figures)
    yield ""
    yield f"{'bad weather':34}{'times':>8}  what came of it"
    for kind, outcomes in sorted(account.outcomes.items()):
        yield f"{kind:34}{outcomes.total():8}  {', '.join(f'{what} {n}' for what, n in outcomes.most_common())}"
    yield ""
    marks = ", ".join(f"{account.at(part):.0f} at {part:.0%}" for part in MARKS)
    peak = max(sample.rss for sample in (*account.samples, account.last))
    yield f"memory in MiB: {account.first.rss:.0f} before, {marks}, {account.last.rss:.0f} after; peak {peak:.0f}"
    files = max(sample.files for sample in account.samples)
    yield f"open files: {account.first.files} before, {account.last.files} after; peak {files}"
    yield f"harm: {'' if account.harm else 'none'}"
    yield from (f"{n:8}  {what}" for what, n in account.harm.most_common())


def progress(account: Account) -> None:
    """Print one line of interim figures."""
    n_good = sum(map(len, account.seconds.values()))
    n_bad = sum(outcomes.total() for outcomes in account.outcomes.values())
    print(
        f"{len(account.samples) // 60} min: {n_good} good calls, {n_bad} bad, {account.at(1):.0f} MiB, "
        f"{account.harm.total()} did harm",
        flush=True,
    )


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--minutes", type=float, default=30, help="of traffic (default 30)")
    p.add_argument("--seed", type=int, default=1, help="default 1")
    p.add_argument("--tls", action="store_true", help="over TLS instead of plain HTTP")
    p.add_argument("--good", type=int, default=4, help="clients that make good calls (default 4)")
    p.add_argument("--bad", type=int, default=12, help="clients that do not (default 12)")
    p.add_argument("--only", default="", metavar="KIND", help="these kinds of bad weather alone")
    p.add_argument(
        "--out",
        type=Path,
        default=Path(".campaign/weather"),
        help="folder of the server's log (default .campaign/weather)",
    )
    a = p.parse_args()
    if not any(a.only in kind for kind in KINDS):
        p.error(f"--only: no kind has {a.only!r} in its name; there are: {', '.join(KINDS)}")
    plan = Plan(a.out, seconds=60 * a.minutes, seed=a.seed, tls=a.tls, good=a.good, bad=a.bad, only=a.only)
    account = run(plan, on_minute=progress)
    print("\n".join(report(account)))
    return 1 if account.harm else 0


if __name__ == "__main__":
    sys.exit(main())
