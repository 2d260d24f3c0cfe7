"""A written snapshot is decided like the objects that it was made from: what the recorded cases say holds for it."""

import io
import json
from pathlib import Path

import pytest

from kubesched.snapshot import load_snapshot, only_read_fields, write_snapshot
from tests.golden.test_cases import CASES
from tests.oracle.compare import differences, read_case
from tests.oracle.product import answer

SAMPLE = CASES[::16]


def reduced(document: dict) -> dict:
    """What `kubesched snapshot` makes of a List."""
    stream = io.BytesIO()
    cluster = load_snapshot(io.BytesIO(json.dumps(document).encode()))
    write_snapshot(only_read_fields(cluster), stream, strip=True)
    return json.loads(stream.getvalue())


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_written_snapshot_is_decided_as_recorded(path: Path) -> None:
    case = read_case(path)
    smaller = reduced(case["snapshot"])
    assert list(differences(case, lambda case: answer({**case, "snapshot": smaller}))) == []
