"""kubesched says what kube-scheduler v1.36.3 said: every recorded case, every field, every hint."""

from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, decode_object
from kubesched.framework import EventRegistration, Framework, QueueingHint
from kubesched.setup import set_up
from kubesched.simulator import Simulator
from tests.oracle.compare import differences, read_case
from tests.oracle.product import answer

CASES = sorted((Path(__file__).parent / "cases").glob("*.json.gz"))
HINTS = read_case(Path(__file__).parent / "hints.json.gz")


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_a_case_is_answered_as_recorded(path: Path) -> None:
    assert list(differences(read_case(path), answer)) == []


def test_hints_answer_every_recorded_event_as_recorded() -> None:
    items = [read(item) for item in HINTS["snapshot"]["items"]]
    simulator = Simulator(items, set_up(None).profiles)
    pods = {pod.key: pod for pod in simulator.pending}
    registered = registrations(simulator.frameworks["default-scheduler"])
    wrong = []
    for event in HINTS["events"]:
        old, new = (read(event[side]) if side in event else None for side in ("old", "new"))
        happened = ClusterEvent(EventResource(event["resource"]), ACTIONS[event["action"]])
        said = {}
        for plugin, entries in registered.items():
            answers = [ask(entry, pods[event["pod"]], old, new) for entry in entries if entry.event.covers(happened)]
            if answers:
                said[plugin] = "Queue" if "Queue" in answers else answers[0]
        if said != event["hints"]:
            wrong.append((event["pod"], happened.label, said, event["hints"]))
    assert wrong == []


ACTIONS = {action.label: action for action in ActionType} | {"Update": ActionType.UPDATE_OTHER}


def read(document: dict) -> KubeObject:
    return decode_object(document["kind"], msgspec.json.encode(document))


def registrations(framework: Framework) -> dict[str, list[EventRegistration]]:
    found = defaultdict(list)
    for plugin in framework.profile.plugins:
        if plugin.defines("events_to_register"):
            found[plugin.name] += plugin.events_to_register()
    return found


def ask(entry: EventRegistration, pod: KubeObject, old: KubeObject | None, new: KubeObject | None) -> str:
    hint = QueueingHint.QUEUE if entry.hint is None else entry.hint(pod, old, new)
    return hint.value
