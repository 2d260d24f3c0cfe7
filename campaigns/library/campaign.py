"""Ask SIG Scheduling's what-if library which nodes pods could go to, and compare kubesched's answers.

    python -m campaigns.library.campaign [--seeds 1-1000] [--program PATH]

The library is sigs.k8s.io/scheduler-library, with the plugins of kube-scheduler v1.36.3; the program around it is built
with Go unless --program names it. Every seed is a small snapshot of the generator of the campaign `oracle`, with one or
two of its rare features. It prints the first differences, and ends with exit code 1 if there is one.
"""

import argparse
import io
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from campaigns.oracle import more
from campaigns.oracle.generate import GROUPS, snapshot
from kubesched.explanation import Explainer
from kubesched.release import release_of
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.integration.build import GoProgram, find_binary

LIBRARY = GoProgram(
    "library", "library", Path(__file__).parent, ("go.mod", "go.sum", "main.go"), ("build",), "KUBESCHED_LIBRARY"
)
AT_ONCE = 50
SHOWN = 10
Feasible = dict[str, list[str]]
"""Pod -> the nodes that it could go to."""


def made(seed: int) -> dict:
    """The small cluster of a seed."""
    r = random.Random(f"library {seed}")
    wanted = r.sample([name for name in more.USUAL if name != "profiles"], r.choice([0, 1, 2]))
    items = snapshot(seed, r.randrange(3, 9), r.randrange(4, 21), 5, GROUPS, wanted)
    return {"apiVersion": "v1", "kind": "List", "items": items}


def ask(program: str, documents: list[dict]) -> list[Feasible]:
    """What the library answers for each snapshot; pods whose attempt ends with an error are left out."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{i}.json") for i in range(len(documents))]
        for file, document in zip(files, documents, strict=True):
            file.write_text(json.dumps(document))
        done = subprocess.run([program, *files], capture_output=True, text=True, check=True)
    found: dict[str, Feasible] = {str(file): {} for file in files}
    for line in map(json.loads, done.stdout.splitlines()):
        if not line.get("error"):
            found[line["snapshot"]][line["pod"]] = line["feasible"] or []
    return list(found.values())


def mine(document: dict) -> Feasible:
    """What kubesched answers."""
    cluster = load_snapshot(io.BytesIO(json.dumps(document).encode()))
    release, _ = release_of(LIBRARY.kubernetes)
    explainer = Explainer(cluster, set_up(release=release), nominations=False)
    answers = {pod.key: explainer.evaluate(pod, preempt=False) for pod in explainer.pending}
    return {key: sorted(one.feasible) for key, one in answers.items()}


def differences(theirs: Feasible, ours: Feasible) -> Iterator[str]:
    """A line for each pod that the two place otherwise."""
    for pod, nodes in theirs.items():
        if ours[pod] != nodes:
            yield f"{pod}: library {nodes}, kubesched {ours[pod]}"


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seeds", default="1-1000", help="first-last (default 1-1000)")
    p.add_argument("--program", help="the binary (default: built from this folder)")
    a = p.parse_args()
    program = a.program or str(find_binary(print, LIBRARY))
    first, last = map(int, a.seeds.split("-"))
    n_pods, n_errors, found = 0, 0, []
    for begin in range(first, last + 1, AT_ONCE):
        seeds = range(begin, min(begin + AT_ONCE, last + 1))
        documents = [made(seed) for seed in seeds]
        for seed, document, theirs in zip(seeds, documents, ask(program, documents), strict=True):
            ours = mine(document)
            n_pods += len(theirs)
            n_errors += len(ours) - len(theirs)
            found += [f"seed {seed}, {line}" for line in differences(theirs, ours)]
    print(*found[:SHOWN], sep="\n")
    left_out = f"; {n_errors} pods left out, their attempt ends with an error"
    print(f"{last - first + 1} snapshots, {n_pods} pods, {len(found)} differences{left_out}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
