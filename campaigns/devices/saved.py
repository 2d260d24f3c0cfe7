"""Compare what is decided about clusters with devices with what is decided about the files of `kubesched snapshot`.

    python -m campaigns.devices.saved [CASES...]

CASES are recorded cases or folders of them; the default is tests/golden/devices. The file of the whole cluster has to
be decided as recorded, and so has the one with other names. With a salt, names have another order, and kube-scheduler
takes pools in this order: the same nodes have to fit. The smallest file around a pod has to have the same reasons. The
exit code is 1 if something differs.
"""

import argparse
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from campaigns.devices.compare import differences
from campaigns.oracle.compare import Lines, read_case
from campaigns.oracle.product import answer
from kubesched.capture import anonymize
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
    p.add_argument("cases", nargs="*", type=Path, default=[CASES], help="files or folders of *.json.gz")
    named = p.parse_args().cases
    n_faults = 0
    files = [file for path in named for file in (sorted(path.glob("*.json.gz")) if path.is_dir() else [path])]
    for path in files:
        found = list(faults(read_case(path)))
        print(f"{path.name}: {len(found)} differences", *(one[:1000] for one in found), sep="\n  ", flush=True)
        n_faults += len(found)
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
