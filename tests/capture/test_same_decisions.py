"""A written snapshot is decided like the objects that it was made from: what the recorded cases say holds for it.

`python -m campaigns.oracle.compare tests/golden/cases --answer campaigns.oracle.product:answer_of_snapshot` decides all
cases.
"""

import io
import json
from pathlib import Path

import pytest

from campaigns.oracle.compare import differences, read_case
from campaigns.oracle.product import answer_of_snapshot, reduced
from kubesched.snapshot import load_snapshot, only_read_fields
from tests.golden.test_cases import CASES
from tests.trials import one_in

SAMPLE = CASES[::16]


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_written_snapshot_is_decided_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path), answer_of_snapshot)) == []


@pytest.mark.parametrize("path", one_in(3, CASES), ids=lambda path: path.name.removesuffix(".json.gz"))
def test_everything_that_decides_is_in_a_written_snapshot(path: Path) -> None:
    document = read_case(path)["snapshot"]
    whole, again = (load_snapshot(io.BytesIO(json.dumps(one).encode())) for one in (document, reduced(document)))
    assert again.objects == only_read_fields(whole).objects
