"""The reference says what kube-scheduler v1.36.3 said: every recorded case, every field."""

from pathlib import Path

import pytest

from campaigns.oracle.compare import differences, read_case
from tests.trials import one_in

CASES = sorted((Path(__file__).parents[1] / "golden" / "cases").glob("*.json.gz"))


@pytest.mark.parametrize("path", one_in(4, CASES), ids=lambda path: path.name.removesuffix(".json.gz"))
def test_reference_answers_a_golden_case_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path))) == []
