"""The reference's queueing hints are those of kube-scheduler v1.36.3."""

from pathlib import Path

from campaigns.oracle.compare import read_case
from tests.reference.hints import hints

GOLDEN = Path(__file__).parents[1] / "golden" / "hints.json.gz"


def test_hints_answer_every_recorded_event_as_recorded() -> None:
    recorded = read_case(GOLDEN)
    items = recorded["snapshot"]["items"]
    pods = {f"default/{item['metadata']['name']}": item for item in items if item["kind"] == "Pod"}
    wrong = [event for event in recorded["events"] if hints(event, pods[event["pod"]]) != event["hints"]]
    assert wrong == []
