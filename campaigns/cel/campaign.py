"""Evaluate random CEL expressions of device selectors, and compare with the library of kube-scheduler.

    python -m campaigns.cel.campaign [--seeds 1-20] [--count 1000] [--oracle PATH]

Every seed gives --count expressions, which are evaluated for the devices of record.py. Values and texts of errors have
to be equal. The same seed gives the same expressions. The oracle is built with Go unless --oracle names it. If
cel-expr-python is installed, it is asked, too, about expressions without functions of Kubernetes. The exit code is 1 if
an answer differs.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from campaigns.cel.answers import answers, device_of
from campaigns.cel.random_expressions import expressions_of
from campaigns.cel.record import DEVICES, ask
from campaigns.cel.second_judge import PACKAGE, SecondJudge, judged
from campaigns.oracle.campaign import ORACLE
from tests.integration.build import find_binary

SHOWN = 10
PANIC = "internal error: interface conversion"


@dataclass(frozen=True)
class Difference:
    """An expression that kubesched answers differently."""

    expression: str
    expected: Any
    found: Any


def compare(recorded: list[dict[str, Any]], devices: list[dict[str, Any]]) -> Iterator[Difference]:
    """The differences between what was recorded and kubesched's answers, but for faults of the library in Go."""
    values = [device_of(fields) for fields in devices]
    for case in recorded:
        expected, found = case.get("error", case.get("results")), answers(case["expression"], values)
        if found != expected and PANIC not in str(expected):
            yield Difference(case["expression"], expected, found)


def ask_second_judge(expressions: list[str]) -> list[Difference]:
    """Compare with cel-expr-python, if it is installed. Returns: the differences."""
    try:
        judge = SecondJudge()
    except ImportError:
        print(f"no second judge: {PACKAGE} is not installed")
        return []
    cases = list(judged(judge, expressions, DEVICES))
    print(f"second judge: {len(cases)} of these expressions")
    return [Difference(*case) for case in cases if case[1] != case[2]]


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seeds", default="1-20", help="first-last (default 1-20)")
    p.add_argument("--count", type=int, default=1000, help="expressions of a seed (default 1000)")
    p.add_argument("--oracle", help="the oracle's binary (default: built from campaigns/oracle)")
    a = p.parse_args()
    oracle = a.oracle or str(find_binary(print, ORACLE))
    first, last = map(int, a.seeds.split("-"))
    differences: list[Difference] = []
    expressions = [one for seed in range(first, last + 1) for one in expressions_of(seed, a.count)]
    for start in range(0, len(expressions), a.count):
        differences += compare(ask(oracle, expressions[start : start + a.count], DEVICES), DEVICES)
    differences += ask_second_judge(expressions)
    print(f"{len(expressions)} expressions, {len(DEVICES)} devices, {len(differences)} differences")
    for difference in differences[:SHOWN]:
        print(f"{difference.expression}\n  expected {difference.expected}\n  found    {difference.found}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
