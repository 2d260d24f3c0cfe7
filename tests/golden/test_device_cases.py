"""kubesched says what kube-scheduler v1.36.3 said about pods with resource claims: every case, every field."""

from pathlib import Path

import pytest

from campaigns.devices.compare import differences
from campaigns.oracle.compare import read_case

CASES = sorted((Path(__file__).parent / "devices").glob("*.json.gz"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_devices_are_allocated_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path))) == []
