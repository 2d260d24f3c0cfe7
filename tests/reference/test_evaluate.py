"""The reference says what kube-scheduler v1.36.3 said: every recorded case, every field."""

from pathlib import Path

import pytest
import yaml

from campaigns.oracle.compare import differences, read_case, without_empty
from tests.reference.cluster import Cluster
from tests.reference.evaluate import evaluate, with_exact_amounts
from tests.trials import one_in

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted((GOLDEN / "cases").glob("*.json.gz"))
WITH_DEVICES = sorted((GOLDEN / "devices").glob("*.json.gz"))


@pytest.mark.parametrize("path", one_in(4, CASES), ids=lambda path: path.name.removesuffix(".json.gz"))
def test_reference_answers_a_golden_case_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path))) == []


@pytest.mark.parametrize("path", one_in(4, WITH_DEVICES), ids=lambda path: path.name.removesuffix(".json.gz"))
def test_reference_allocates_devices_as_recorded(path: Path) -> None:
    case = read_case(path)
    config = yaml.safe_load(case["config"]) if case["config"] else None
    answers = {line["pod"]: line for line in evaluate(Cluster(case["snapshot"]["items"]), config)}
    for recorded in map(with_exact_amounts, case["eval"]):
        answer = answers[recorded["pod"]]
        assert "undecided" in answer or without_empty(answer) == without_empty(recorded)
