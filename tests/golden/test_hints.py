"""The in-tree plugins' queueing hints are those of kube-scheduler v1.36.3."""

import re
from pathlib import Path

import pytest

from campaigns.oracle.compare import read_case
from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import Handle, Plugin
from kubesched.framework.reads import readable
from kubesched.plugins import IN_TREE_PLUGINS
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


def plugin_of(name: str) -> Plugin:
    plugin = IN_TREE_PLUGINS[name]()
    plugin.handle = Handle(load(ITEMS), reads=readable(plugin.name, plugin.reads))
    return plugin


@pytest.mark.parametrize("name", REJECTING)
def test_hints_read_what_they_declare(name: str, events: list[tuple]):
    """Pods with equal parts get equal answers to all recorded events, and other objects than those named never help."""
    for event, ask, part, objects, keys_of in plugin_of(name).events_to_register():
        if ask is None:
            continue
        assert part or objects, f"{name} is asked about each waiting pod at each {event.label}"
        for happened, _, old, new, _ in events:
            about = new or old
            if not event.covers(happened):
                continue
            answers = [(pod, ask(pod, old, new).value) for pod in PODS.values() if objects or pod.uid != about.uid]
            if objects:
                keys = {key for one in (old, new) if one for key in (keys_of(one) if keys_of else [one.key])}
                assert all(keys & set(objects(pod)) for pod, answer in answers if answer == "Queue")
                continue
            by_part = {part(pod): answer for pod, answer in answers}
            assert all(by_part[part(pod)] == answer for pod, answer in answers), happened.label


@pytest.mark.parametrize("name", REJECTING)
def test_hints_answer_every_recorded_event_as_recorded(name: str, events: list[tuple]):
    plugin = plugin_of(name)
    wrong = []
    for event, waiting, old, new, recorded in events:
        answer = hint(plugin, event, waiting, old, new)
        if (answer.value if answer else None) != recorded.get(name):
            wrong.append(f"{event.label} for {waiting.name}: {answer} instead of {recorded.get(name)}")
    assert wrong == []
