"""Compare what is decided about clusters with devices with what is decided about the files of `kubesched snapshot`.

    python -m campaigns.devices.saved [CASES...] [--pods 2]

CASES are recorded cases or folders of them; the default is tests/golden/devices. The file of the whole cluster has to
be decided as recorded, and so has the one with other names. With a salt, names have another order, and kube-scheduler
takes pools in this order: the same nodes have to fit. In the smallest file around a pod, it has to get the same
devices, or the same reasons. The exit code is 1 if something differs.
"""

import argparse
import collections
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from campaigns.devices.compare import differences
from campaigns.oracle.compare import Lines, read_case
from campaigns.oracle.product import answer
from kubesched import explain
from kubesched.api import ResourceSlice
from kubesched.capture import anonymize, smallest_around
from kubesched.explanation import Explanation
from kubesched.setup import set_up
from kubesched.snapshot import ClusterObjects, load_snapshot, only_read_fields, write_snapshot

CASES = Path(__file__).parents[2] / "tests" / "golden" / "devices"
LEFT_OUT = ("config", "finalizers")
"""What a file does not have of claims: it decides nothing."""
IN_ORDER = ("allocations", "claims")
"""The devices that claims get: in the order of the search."""
REPLACEMENT = re.compile(r"(?<![0-9a-z])(?:[a-z]+-[0-9]+|x[0-9a-z]{2,9})(?![0-9a-z])")


def saved(case: dict) -> ClusterObjects:
    """What `kubesched snapshot` writes of the objects of a case."""
    return only_read_fields(load_snapshot(io.BytesIO(json.dumps(case["snapshot"]).encode())))


def document_of(cluster: ClusterObjects) -> dict:
    """The file of a cluster."""
    stream = io.BytesIO()
    write_snapshot(cluster, stream)
    document: dict = json.loads(stream.getvalue())
    return document


def translated(value: Lines, table: dict[str, str]) -> Lines:
    """Every replacement in every text by its word."""
    text = json.dumps(value)
    lines: Lines = json.loads(REPLACEMENT.sub(lambda word: table.get(word[0], word[0]), text))
    return lines


def in_any_order(value: object) -> object:
    """Lists and messages sorted, because words that stay are elsewhere in the order."""
    if isinstance(value, dict):
        return {
            key: _pieces(one) if key.lower().endswith("message") else in_any_order(one) for key, one in value.items()
        }
    if isinstance(value, list):
        return sorted((in_any_order(one) for one in value), key=repr)
    return value


def _pieces(message: object) -> list[str]:
    return sorted(re.split(r", |: ", str(message).rstrip(".")))


def faults(case: dict) -> Iterator[str]:
    """What differs between the case and its files."""
    cluster = saved(case)
    before = answer({**case, "snapshot": document_of(cluster)})
    written = {mode: _deciding(lines) for mode, lines in zip(("eval", "place"), before, strict=True)}
    recorded = {**case, **{mode: _deciding(case[mode]) for mode in written}}
    yield from (f"as it is: {one}" for one in differences(recorded, lambda _: tuple(written.values())))
    for salt in ("", "a salt"):
        renamed = anonymize(cluster, salt, keep=[case["config"] or ""])
        after = answer({**case, "snapshot": document_of(renamed.cluster)})
        for lines, new_lines in zip(before, after, strict=True):
            for line, new in zip(translated(lines, {}), translated(new_lines, renamed.table), strict=True):
                if _compared(line, salt) != _compared(new, salt):
                    yield f"{'with a salt' if salt else 'with other names'}: {line['pod']}: {line} became {new}"


def faults_around(case: dict, n_pods: int) -> Iterator[str]:
    """What differs between the case and the smallest files around some of its pods."""
    setup, cluster = set_up(case["config"].encode() if case["config"] else None), saved(case)
    step = max(1, len(case["eval"]) // n_pods)
    for line in case["eval"][::step][:n_pods]:
        small = smallest_around(cluster, line["pod"], setup)
        before, after = explain(cluster, line["pod"], setup), explain(small, line["pod"], setup)
        if _answer(before) != _answer(after):
            yield f"around {line['pod']}: {_answer(before)} became {_answer(after)}"
        all_slices, kept = _slices(cluster), _slices(small)
        yield from (
            f"around {line['pod']}: pool {pool} is not complete" for pool in kept if kept[pool] < all_slices[pool]
        )


def _slices(cluster: ClusterObjects) -> collections.Counter[tuple[str, str, int]]:
    """How many slices each generation of a pool has."""
    specs = [one.spec for one in cluster.of(ResourceSlice)]
    return collections.Counter((spec.driver, spec.pool.name, spec.pool.generation) for spec in specs)


def _answer(explanation: Explanation) -> object:
    """The node with the devices that the claims get there, or what is in the way; and all reasons."""
    reasons = sorted({str(status.reasons) for status in explanation.rejections.values()})
    if explanation.best:
        return reasons, explanation.best[0], explanation.allocations.get(explanation.best[0])
    obstacles = [one for row in explanation.rows[:3] for one in row.obstacles]
    return reasons, [one.details for one in obstacles if one.plugin == "DynamicResources"]


def _deciding(value: object) -> object:
    if isinstance(value, dict):
        return {key: _deciding(one) for key, one in value.items() if key not in LEFT_OUT}
    return [_deciding(one) for one in value] if isinstance(value, list) else value


def _compared(line: dict, salt: str) -> object:
    if salt:
        return in_any_order([line["pod"], line.get("feasible")])
    return in_any_order(line), [line.get(field) for field in IN_ORDER]


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pods", type=int, default=2, help="pods of each case around which a file is made (default 2)")
    p.add_argument("cases", nargs="*", type=Path, default=[CASES], help="files or folders of *.json.gz")
    a = p.parse_args()
    named = a.cases
    n_faults = 0
    files = [file for path in named for file in (sorted(path.glob("*.json.gz")) if path.is_dir() else [path])]
    for path in files:
        case = read_case(path)
        found = [*faults(case), *faults_around(case, a.pods)]
        print(f"{path.name}: {len(found)} differences", *(one[:1000] for one in found), sep="\n  ", flush=True)
        n_faults += len(found)
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
