"""The in-tree plugins' queueing hints are those of kube-scheduler v1.36.3."""

import re
from pathlib import Path

import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import Handle
from kubesched.framework.reads import readable
from kubesched.plugins import IN_TREE_PLUGINS
from tests.oracle.compare import read_case
from tests.plugins.hinting import hint
from tests.plugins.one_plugin import load, read, read_pod

RECORDED = read_case(Path(__file__).with_name("hints.json.gz"))
ITEMS = RECORDED["snapshot"]["items"]
PODS = {pod.key: pod for pod in (read_pod(item) for item in ITEMS if item["kind"] == "Pod")}
REJECTING = [name for name, plugin in IN_TREE_PLUGINS.items() if plugin.defines("events_to_register")]


def cluster_event(recorded: dict) -> ClusterEvent:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", recorded["action"]).upper()
    if (recorded["resource"], name) == ("Pod", "UPDATE"):
        name = "UPDATE_OTHER"
    return ClusterEvent(EventResource(recorded["resource"]), ActionType[name])


@pytest.fixture(scope="module")
def events() -> list[tuple]:
    """(event, waiting pod, object before, object after, the recorded hints) of each recorded event."""
    found = []
    for recorded in RECORDED["events"]:
        old, new = (read(recorded[side]) if recorded.get(side) else None for side in ("old", "new"))
        found.append((cluster_event(recorded), PODS[recorded["pod"]], old, new, recorded["hints"]))
    return found


@pytest.mark.parametrize("name", REJECTING)
def test_hints_answer_every_recorded_event_as_recorded(name: str, events: list[tuple]):
    plugin = IN_TREE_PLUGINS[name]()
    plugin.handle = Handle(load(ITEMS), reads=readable(plugin.name, plugin.reads))
    wrong = []
    for event, waiting, old, new, recorded in events:
        answer = hint(plugin, event, waiting, old, new)
        if (answer.value if answer else None) != recorded.get(name):
            wrong.append(f"{event.label} for {waiting.name}: {answer} instead of {recorded.get(name)}")
    assert wrong == []
