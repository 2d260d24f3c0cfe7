"""The queueing hints of DynamicResources are those of kube-scheduler v1.36.3."""

from pathlib import Path

from campaigns.oracle.compare import read_case
from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.framework import Handle
from kubesched.framework.reads import readable
from kubesched.plugins import DynamicResources
from tests.plugins.hinting import hint
from tests.plugins.one_plugin import load, read, read_pod

RESOURCES = {
    "DeviceClass": EventResource.DEVICE_CLASS,
    "Pod": EventResource.POD,
    "ResourceClaim": EventResource.RESOURCE_CLAIM,
    "ResourceSlice": EventResource.RESOURCE_SLICE,
}
ACTIONS = {
    "Add": ActionType.ADD,
    "Update": ActionType.UPDATE,
    "UpdatePodGeneratedResourceClaim": ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
}


def test_every_recorded_change_is_worth_a_try_or_not_as_recorded() -> None:
    recorded = read_case(Path(__file__).with_name("device-hints.json.gz"))
    items, plugin = recorded["snapshot"]["items"], DynamicResources()
    plugin.handle = Handle(load(items), reads=readable(plugin.name, plugin.reads))
    pods = {pod.key: pod for pod in (read_pod(item) for item in items if item["kind"] == "Pod")}
    answers = []
    for one in recorded["events"]:
        old, new = (read(one[side]) if one.get(side) else None for side in ("old", "new"))
        event = ClusterEvent(RESOURCES[one["resource"]], ACTIONS[one["action"]])
        answer = hint(plugin, event, pods[one["pod"]], old, new)
        answers.append(answer.value if answer else None)
    assert answers == [one["hints"]["DynamicResources"] for one in recorded["events"]]
    assert {"Queue", "QueueSkip"} <= set(answers)
