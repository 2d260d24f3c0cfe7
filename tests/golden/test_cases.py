"""kubesched says what kube-scheduler v1.36.3 said: every recorded case, every field."""

from pathlib import Path

import pytest

from campaigns.oracle.compare import differences, read_case
from campaigns.oracle.product import answer

CASES = sorted((Path(__file__).parent / "cases").glob("*.json.gz"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_case_is_answered_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path), answer)) == []
