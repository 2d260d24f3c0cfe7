"""Let clients break off, send too much, or take no answer, and see whether an extender gives the memory back.

    python -m campaigns.memory.campaign [--rounds 5] [--clients 40] [--only SCENARIO] [--out .campaign/memory]

Each scenario has an extender of its own, which has answered some calls before: uploads of 70 MiB and of 250 KiB that
end in the middle; bodies that are announced and do not come; bodies that would unpack to gigabytes; answers that nobody
takes. Harm is

- memory that stays more than 10% above what it was before;
- calls that get no answer meanwhile, bombs that are not refused, unread requests that are not counted;
- more than 250 MiB for answers that nobody takes;
- a log with an error or a stack trace.

--only takes part of a scenario's name. OUT has the logs. The exit code is 1 when there was harm.
"""

import argparse
import sys
from pathlib import Path

from campaigns.memory.scenarios import SCENARIOS, Size, play


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5, help="of clients that break off (default 5)")
    p.add_argument("--clients", type=int, default=40, help="at a time (default 40)")
    p.add_argument("--only", default="", metavar="SCENARIO", help="these scenarios alone")
    p.add_argument("--out", type=Path, default=Path(".campaign/memory"), help="folder of the logs")
    a = p.parse_args()
    names = [name for name in SCENARIOS if a.only in name]
    if not names:
        p.error(f"--only: no scenario has {a.only!r} in its name; there are: {', '.join(SCENARIOS)}")
    n_harmed = 0
    for number, name in enumerate(names):
        account = play(name, a.out / str(number), Size(a.rounds, a.clients))
        print(f"{name}: {account.before:.0f} MiB before, {account.after:.0f} after", flush=True)
        print("".join(f"  HARM {what}\n" for what in account.harm), end="", flush=True)
        n_harmed += bool(account.harm)
    return 1 if n_harmed else 0


if __name__ == "__main__":
    sys.exit(main())
