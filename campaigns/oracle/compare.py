"""Hold an implementation against recorded cases, and print what differs by field and plugin.

    python -m campaigns.oracle.compare CASES... [--answer reference|command|MODULE:FUNCTION] [--resume FILE] [--show N]

CASES are files or folders of `*.json.gz`, as recorded by record.py and campaign.py; tests/golden/README.md describes
the fields. What answers is a callable in this process, `answer(case) -> (eval lines, place lines)`:

- `reference`, the default: the slow reference of tests/reference;
- `command`: `kubesched simulate`, a process per case (KUBESCHED = another command), and what an Explainer says in this
  process of each pod alone, which no command prints for all pods;
- MODULE:FUNCTION: any other callable that can be imported.

A preemption outcome is right if it was recorded, or if the reference, which agrees with everything else recorded, says
that kube-scheduler could have taken it. Exit status 0 when everything agrees, 1 when something differs.
"""

import argparse
import collections
import gzip
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from campaigns.oracle import product
from tests.reference import evaluate as reference

Lines = list[dict]
Answer = Callable[[dict], tuple[Lines, Lines]]
Difference = tuple[str, str, object, object]  # (field, pod, wanted, got)

EVAL_FIELDS = ("profile", "plugins", "filter", "feasible", "scores", "total", "best", "message")
PLACE_FIELDS = ("profile", "node", "message", "postFilterMessage", "preemption")
BY_PLUGIN = ("plugins", "scores")
CHOICE = re.compile(r"preemption: found a potential placement for pod on node (\S+), preempting \d+ victims")


def read_case(path: Path) -> dict:
    return json.loads(gzip.decompress(path.read_bytes()))


def differences(case: dict, answer: Answer = reference.answer) -> Iterator[Difference]:
    """Everything in which the answers differ from the recorded ones; empty values and absent ones are the same."""
    for mode, fields, lines in zip(("eval", "place"), (EVAL_FIELDS, PLACE_FIELDS), answer(case), strict=True):
        got = {line["pod"]: line for line in lines}
        for wanted in case[mode]:
            mine = got.pop(wanted["pod"], {})
            for field in fields:
                if repr(wanted.get(field)) == repr(mine.get(field)):  # as values, 0 and False would be equal
                    continue
                for name, a, b in parts(field, without_empty(wanted.get(field)), without_empty(mine.get(field))):
                    if a == b or (field == "preemption" and is_possible(case, wanted["pod"], a, b, answer)):
                        continue
                    if field != "postFilterMessage" or not is_about_its_choice(a, b, mine):
                        yield f"{mode}.{name}", wanted["pod"], a, b
        for pod in got:
            yield f"{mode}.pod", pod, None, "answered, but not recorded"
        if [line["pod"] for line in case[mode]] != [line["pod"] for line in lines]:
            yield f"{mode}.order", "", [line["pod"] for line in case[mode]], [line["pod"] for line in lines]


def parts(field: str, wanted: object, got: object) -> Iterator[tuple[str, object, object]]:
    """A field by plugin where it is a table of plugins."""
    if field not in BY_PLUGIN:
        yield field, wanted, got
        return
    wanted, got = wanted or {}, got or {}
    for plugin in sorted(wanted.keys() | got.keys()):
        yield f"{field}.{plugin}", wanted.get(plugin), got.get(plugin)


def is_possible(case: dict, pod: str, recorded: Lines | None, mine: Lines | None, answer: Answer) -> bool:
    """Whether other outcomes than the recorded ones are right too: kube-scheduler takes any of equal candidates."""
    if not recorded or not mine:
        return False
    if getattr(answer, "every_outcome", False):
        return all(outcome in mine for outcome in recorded)
    if all(outcome in recorded for outcome in mine):
        return True
    possible = next(line.get("preemption", []) for line in reference.answer(case)[1] if line["pod"] == pod)
    return all(outcome in possible for outcome in mine)


def is_about_its_choice(recorded: object, text: object, mine: dict) -> bool:
    """Whether two texts of PostFilter differ by the node that was chosen, which the outcome of preemption shows too."""
    found = [CHOICE.fullmatch(str(one)) for one in (recorded, text)]
    nodes = [one[1] for one in found if one]
    return len(nodes) == 2 and nodes[0] != nodes[1] and nodes[1] in [one["node"] for one in mine["preemption"]]


def without_empty(value: object) -> object:
    """Without empty members at any depth; None where nothing is left. Numbers stay, 0 among them."""
    if isinstance(value, dict):
        value = {key: kept for key, member in value.items() if (kept := without_empty(member)) is not None}
    if isinstance(value, list):
        value = [without_empty(member) for member in value]
    return None if value in ({}, [], "") or value is False else value


def find_answer(name: str) -> Answer:
    if name in ("reference", "command"):
        return {"reference": reference.answer, "command": answer_of_command}[name]
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def answer_of_command(case: dict) -> tuple[Lines, Lines]:
    """What the kubesched command says about a case."""
    with tempfile.TemporaryDirectory() as folder:
        snapshot, config = Path(folder, "snapshot.json"), Path(folder, "config.yaml")
        snapshot.write_text(json.dumps(case["snapshot"]))
        config.write_text(case["config"] or "")
        extra = ["--config", str(config)] if case["config"] else []
        how = ["--no-preemption-effects", "--tie-break", "first", "-o", "jsonl"]
        return product.answer(case)[0], output_lines(["simulate", str(snapshot), *how, *extra])


def output_lines(arguments: list[str]) -> Lines:
    command = [*shlex.split(os.environ.get("KUBESCHED", "kubesched")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{shlex.join(command)}: exit status {done.returncode}: {done.stderr[-300:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


class Tally:
    """What a run has seen: differences by field, and the one in the smallest case to begin with."""

    def __init__(self, show: int):
        self.cases = self.pods = self.shown = 0
        self.show = show
        self.by_field: collections.Counter[str] = collections.Counter()
        self.smallest: tuple[int, str] | None = None

    def add(self, name: str, case: dict, found: list[Difference]) -> None:
        self.cases += 1
        self.pods += len(case["eval"])
        size = len(case["snapshot"]["items"])
        for field, pod, wanted, got in found:
            self.by_field[field] += 1
            text = f"{name} {pod} {field}\n  wanted {shortened(wanted, got)}\n  got    {shortened(got, wanted)}"
            if self.shown < self.show:
                self.shown += 1
                print(text, flush=True)
            if self.smallest is None or size < self.smallest[0]:
                self.smallest = size, text

    def report(self) -> None:
        print(f"{self.cases} cases, {self.pods} pods, {self.by_field.total()} differences")
        for field, n in self.by_field.most_common():
            print(f"  {n:6} {field}")
        if self.smallest:
            print(f"smallest: {self.smallest[0]} objects, {self.smallest[1]}")


def shortened(value: object, other: object) -> str:
    """As JSON; of two tables only the entries in which they differ."""
    if isinstance(value, dict) and isinstance(other, dict):
        value = {
            key: shortened_member(member, other.get(key)) for key, member in value.items() if other.get(key) != member
        }
    return json.dumps(value)[:600]


def shortened_member(member: object, other: object) -> object:
    if isinstance(member, dict) and isinstance(other, dict):
        return {key: value for key, value in member.items() if other.get(key) != value}
    return member


def compare(files: list[Path], answer: Answer, tally: Tally, resume: Path | None = None) -> None:
    """Compare case after case. `resume` remembers the files that agreed, so that a second run starts behind them."""
    agreed = set(resume.read_text().splitlines()) if resume and resume.exists() else set()
    for file in files:
        if str(file) in agreed:
            continue
        case = read_case(file)
        try:
            found = list(differences(case, answer))
        except Exception as error:  # noqa: BLE001 - a case that breaks the answer is a finding, and the others follow
            found = [("crash", "", None, f"{type(error).__name__}: {error}")]
        tally.add(file.name, case, found)
        if resume and not found:
            with resume.open("a") as log:
                log.write(f"{file}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=Path, help="files or folders of *.json.gz")
    parser.add_argument("--answer", default="reference", help="reference, command or MODULE:FUNCTION")
    parser.add_argument("--resume", type=Path, help="remember agreeing files here and skip those that it lists")
    parser.add_argument("--show", type=int, default=10, help="differences to print in full")
    options = parser.parse_args()
    files = [f for path in options.cases for f in (sorted(path.glob("*.json.gz")) if path.is_dir() else [path])]
    if not files:
        parser.error("no *.json.gz found")
    begin, tally = time.monotonic(), Tally(options.show)
    compare(files, find_answer(options.answer), tally, options.resume)
    tally.report()
    print(f"{time.monotonic() - begin:.1f} s")
    sys.exit(1 if tally.by_field else 0)


if __name__ == "__main__":
    main()
