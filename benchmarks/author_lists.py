#!/usr/bin/env python3
"""What a pod costs that has a long list of anything that its author may write, beside kube-scheduler's own plugins.

    python benchmarks/author_lists.py [--oracle PATH] [--lists NAME,...] [--questions NAME,...] [--json FILE]

Every list is measured with 10, 100 and 1,000 entries, in CPU time of one process; benchmarks/lists/measure.py defines
the questions. `growth` is the time with 1,000 entries to that with 100: what grows as the list does has 10 at most. The
oracle (campaigns/oracle) is asked about the pods with 1,000 entries; its figure is by the clock, with all cores, and
includes PreFilter to the choice, and PostFilter, but neither decoding nor the queue, Reserve, the binding and events.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as a script this file stands outside the package
from benchmarks.lists.lists import LISTS
from benchmarks.report.machine import machine
from benchmarks.report.markdown import header, table_line
from benchmarks.rows.runs import ONE_THREAD

ROOT = Path(__file__).resolve().parents[1]
MEASURE = ROOT / "benchmarks" / "lists" / "measure.py"
ENVIRONMENT = ONE_THREAD | {"PYTHONPATH": str(ROOT / "src")}
QUESTIONS = ("cycle", "preempt", "beside", "beside-preempt", "explain")
SIZES = (10, 100, 1000)
LIMIT_MS, TIMEOUT = 250, 300
COLUMNS = (
    ("list", -35),
    ("question", -14),
    *((f"{n:,}", 9) for n in SIZES),
    ("growth", 6),
    ("oracle", 8),
    ("over", -4),
)

Figures = dict[str, Any]


def main() -> int:
    options = parsed()
    try:
        lists, questions = chosen(options.lists, LISTS), chosen(options.questions, QUESTIONS)
        if options.oracle and not options.oracle.is_file():
            raise ValueError(f"--oracle: {options.oracle} is no file; campaigns/oracle/README.md says how to build it")
    except ValueError as error:
        print(f"author_lists.py: {error}", file=sys.stderr)
        return 2
    about = machine()
    for name, value in about.items():
        print(f"{name}: {value}")
    print("", *header(COLUMNS), sep="\n", flush=True)
    rows = []
    for row in measured(lists, questions, options):
        rows.append(row)
        print(line(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"machine": about, "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return 0


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", type=Path, help="the oracle's program; without it only our figures")
    parser.add_argument("--lists", default="", help="names with commas; all if left out")
    parser.add_argument("--questions", default="", help="names with commas; all if left out")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--json", type=Path, help="also write every figure to this file")
    return parser.parse_args()


def chosen(names: str, known: Any) -> list[str]:
    """The names of a list like `labels,gates`; all for the empty text.

    Raises:
        ValueError: there is no such name.
    """
    wanted = names.split(",") if names else list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"no list or question named {', '.join(unknown)}; there are {', '.join(known)}")
    return wanted


def measured(lists: list[str], questions: list[str], options: argparse.Namespace) -> Iterator[Figures]:
    """The rows as they are known: one process measures all of them."""
    command = measure(lists, questions, options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stdout
        figures = (json.loads(text) for text in process.stdout)
        for (name, question), some in groupby(figures, key=lambda one: (one["list"], one["question"])):
            row: Figures = {"list": name, "question": question, **{str(one["n"]): one["ms"] for one in some}}
            if options.oracle and question != "explain":
                row["oracle"] = of_oracle(name, question, options)
            yield row
    if process.returncode:
        raise SystemExit(process.returncode)


def measure(lists: list[str], questions: list[str], options: argparse.Namespace) -> list[str]:
    """The command of the measuring process."""
    chosen = ["--lists", ",".join(lists), "--questions", ",".join(questions), "--nodes", str(options.nodes)]
    return [sys.executable, str(MEASURE), *chosen]


def of_oracle(name: str, question: str, options: argparse.Namespace) -> float | None:
    """Milliseconds of the oracle for one pod with the longest list; None where the time is over."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*measure([name], [question], options), "--sizes", str(SIZES[-1]), "--snapshots", folder]
        subprocess.run(command, check=True, env=ENVIRONMENT)
        (path,) = Path(folder).iterdir()
        try:
            bench = [options.oracle, "bench", "-preempt", path]
            done = subprocess.run(bench, capture_output=True, timeout=TIMEOUT, check=True)
        except subprocess.TimeoutExpired:
            return None
    figures = json.loads(done.stdout)
    return round(1000 * float(figures["seconds"]) / int(figures["pods"]), 1) if figures["pods"] else None


def line(row: Figures) -> str:
    """One row of the table."""
    last, before = row.get(str(SIZES[-1])), row.get(str(SIZES[-2]))
    growth = f"{last / before:.1f}" if last and before else ""
    oracle = row.get("oracle")
    bound = max(LIMIT_MS, oracle or 0)
    is_over = last is None or last > bound
    figures = [f"{ms:.1f}" if (ms := row.get(str(n))) is not None else "" for n in SIZES]
    asked = "" if oracle is None else f"{oracle:.0f}"
    return table_line(COLUMNS, [row["list"], row["question"], *figures, growth, asked, "over" if is_over else ""])


if __name__ == "__main__":
    sys.exit(main())
