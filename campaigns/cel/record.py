#!/usr/bin/env python3
"""Record what Kubernetes makes of CEL expressions of device selectors: values, texts of errors, and costs.

    python -m campaigns.cel.record [--oracle PATH] [--out FILE] [--version v1.37.2]

Evaluates every line of expressions.txt for every device below, with the library that kube-scheduler's plugin uses.
Writes the file that tests/cel/test_recorded_expressions.py compares with. The oracle is built with Go unless --oracle
names it.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from campaigns.oracle.campaign import ORACLE
from campaigns.oracle.record import VERSION, lines, write_case
from tests.integration.build import find_binary

EXPRESSIONS = Path(__file__).parent / "expressions.txt"
RECORDED = Path(__file__).parents[2] / "tests" / "cel" / "recorded.json.gz"
DRIVER = "gpu.example.com"
DEVICES: list[dict[str, Any]] = [
    {
        "driver": DRIVER,
        "attributes": {
            "model": {"string": "A100"},
            "numa": {"int": 1},
            "ecc": {"bool": True},
            "driverVersion": {"version": "1.2.3+b1"},
            "other.com/x": {"int": -5},
        },
        "capacity": {"memory": {"value": "40Gi"}, "other.com/bw": {"value": "2500m"}},
        "allowMultipleAllocations": True,
    },
    {
        "driver": DRIVER,
        "attributes": {
            "model": {"string": "H100-é"},
            "numa": {"int": 0},
            "ecc": {"bool": False},
            "driverVersion": {"version": "2.0.0-rc.1"},
            "nope": {"string": "yes"},
        },
        "capacity": {"memory": {"value": "80Gi"}, "other.com/bw": {"value": "7"}},
        "allowMultipleAllocations": False,
    },
    {
        "driver": "dra.net",
        "attributes": {
            "rdma": {"bool": True},
            "virtual": {"bool": False},
            "numaNode": {"int": 0},
            "rdmaDevice": {"string": "mlx5_2"},
            "resource.kubernetes.io/pciBusID": {"string": "0008:06:00.0"},
        },
        "capacity": {},
    },
]


def read_expressions(file: Path = EXPRESSIONS) -> list[str]:
    """The expressions of a file; `#` begins a comment."""
    return [line for line in file.read_text().splitlines() if line and not line.startswith("# ")]


def ask(oracle: str, expressions: list[str], devices: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the oracle answers, in the order of the expressions."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump({"devices": devices, "expressions": expressions}, f)
        f.flush()
        return lines([oracle, "cel", f.name])


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--oracle", help="the oracle's binary (default: built from campaigns/oracle)")
    p.add_argument("--out", type=Path, default=RECORDED, help="default: tests/cel/recorded.json.gz")
    p.add_argument("--version", default=VERSION, help=f"the version of the oracle (default {VERSION})")
    a = p.parse_args()
    oracle = a.oracle or str(find_binary(print, ORACLE))
    answers = ask(oracle, read_expressions(), DEVICES)
    write_case(
        a.out, {"version": a.version, "command": "campaigns/cel/record.py", "devices": DEVICES, "expressions": answers}
    )
    print(f"{a.out}: {len(answers)} expressions")


if __name__ == "__main__":
    main()
