"""kubesched says what each version of kube-scheduler said: the recorded cases, and small clusters of one feature."""

import json
from pathlib import Path

import pytest

from campaigns.oracle.compare import differences, read_case
from campaigns.oracle.product import answer

HERE = Path(__file__).parent
RECORDED = sorted((HERE / "versions").glob("v1.*/*.json.gz"))


def _snapshot(name: str) -> dict[str, object]:
    """What was decided: a small cluster of its own, or the snapshot and configuration of a case."""
    if name.startswith("probe-"):
        probe = HERE / "versions" / "probes" / name.removeprefix("probe-").removesuffix(".gz")
        return {"snapshot": json.loads(probe.read_text()), "config": None}
    case = read_case(HERE / "cases" / name)
    return {field: case[field] for field in ("snapshot", "config")}


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}-{path.name.removesuffix('.json.gz')}")
def test_a_version_decides_as_recorded(path: Path) -> None:
    recorded = read_case(path)
    asked = answer if recorded["place"] else lambda case: (answer(case)[0], [])
    assert list(differences({**_snapshot(path.name), **recorded}, asked)) == []


def test_every_version_has_the_same_cases() -> None:
    recorded: dict[str, set[str]] = {}
    for path in RECORDED:
        recorded.setdefault(path.parent.name, set()).add(path.name)
    of_v1_36 = recorded["v1.36"] | {path.name for path in (HERE / "cases").glob("*.json.gz")}
    newest = recorded["v1.37"]
    assert len(newest) == 97
    without_claims = newest - {"probe-dra-missing-claim.json.gz"}  # the recorder of these versions has no claims
    assert (recorded["v1.33"], recorded["v1.34"], recorded["v1.35"]) == (newest, without_claims, without_claims)
    assert newest <= of_v1_36
