"""Writes a realistic snapshot to standard output."""

import argparse
import sys

from tests.clusters import MIN_NODES, SHAPES, realistic


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.clusters", description="Write a realistic snapshot.")
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("--nodes", type=int, default=100, help=f"at least {MIN_NODES}  [default: 100]")
    parser.add_argument("--seed", type=int, default=0, help="[default: 0]")
    arguments = parser.parse_args()
    sys.stdout.buffer.write(realistic(arguments.shape, arguments.nodes, arguments.seed))


if __name__ == "__main__":
    main()
