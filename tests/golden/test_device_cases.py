"""kubesched says what kube-scheduler said about pods with resource claims: every case, every field."""

from pathlib import Path

import pytest

from campaigns.devices.compare import differences
from campaigns.oracle.compare import read_case

HERE = Path(__file__).parent
CASES = sorted((HERE / "devices").glob("*.json.gz"))
OTHER_VERSIONS = sorted((HERE / "versions" / "devices").glob("v1.*/*.json.gz"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_devices_are_allocated_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path))) == []


@pytest.mark.parametrize(
    "path", OTHER_VERSIONS, ids=lambda path: f"{path.parent.name}-{path.name.removesuffix('.json.gz')}"
)
def test_a_version_allocates_devices_as_recorded(path: Path) -> None:
    case = read_case(HERE / "devices" / path.name)
    assert list(differences({**case, **read_case(path)})) == []
