"""What PreBind writes and waits for, with an API server that the test plays."""

import asyncio
from collections.abc import Callable, Iterable

import msgspec
import pytest

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.framework import ActionDone, ObjectName, Status, WriteObject
from kubesched.plugins import VolumeBinding
from kubesched.plugins.args import VolumeBindingArgs
from tests.plugins.one_plugin import Asked, node, pod, read
from tests.plugins.storage_objects import HOST, SELECTED_NODE, claim, storage_class, uses, volume

NODES = [node(name, labels={HOST: name}) for name in ("a", "b")]
CLASSES = [storage_class("local", "kubernetes.io/no-provisioner"), storage_class("csi")]
Change = Callable[["Binding"], None]


class Binding:
    """A pod with one local claim and one to be provisioned, on its way to node a."""

    def __init__(self, *, write_error: str = "", is_answered: bool = True) -> None:
        self.write_error = write_error
        self.is_answered = is_answered
        self.written: list[tuple[str, str]] = []
        self.waited: float | None = None
        self.changes: list[Change] = []
        items = [claim("local", "local"), claim("csi", "csi"), volume("pv", "local", on=("a",))]
        incoming = pod(volumes=uses("local", "csi"))
        plugin = VolumeBinding(VolumeBindingArgs(bind_timeout_seconds=30))
        self.asked = Asked(plugin, [*NODES, *CLASSES, *items], incoming)
        self.cluster = self.asked.cluster
        self.tell(read(incoming))
        plugin.handle = msgspec.structs.replace(plugin.handle, perform=self._perform, wait=self._wait)
        assert self.asked.pre_filter() == Status.SUCCESS
        self.cluster.assume(self.asked.state.pod, "a")
        assert plugin.reserve(self.asked.state, self.asked.pod, "a") == Status.SUCCESS

    async def _perform(self, action: WriteObject) -> ActionDone:
        self.written.append((action.kind, action.object.name))
        if self.write_error:
            return ActionDone(action, error=self.write_error)
        return ActionDone(action, answer=versioned(action.object, 7) if self.is_answered else None)

    async def _wait(self, condition: Callable[[], object], seconds: float, reads: Iterable[ObjectName]) -> bool:
        self.waited = seconds
        for change in self.changes:
            if condition():
                return True
            change(self)
        return bool(condition())

    def tell(self, obj: KubeObject) -> None:
        self.cluster.apply(WatchEvent(EventType.MODIFIED, type(obj).__name__, obj))

    def run(self, *changes: Change) -> Status:
        self.changes = list(changes)
        return asyncio.run(self.asked.plugin.pre_bind(self.asked.state, self.asked.pod, "a"))


def versioned(obj: KubeObject, version: int | str) -> KubeObject:
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, resource_version=str(version)))


def shown(document: dict, version: int | str = 9) -> Change:
    return lambda binding: binding.tell(versioned(read(document), version))


def gone(document: dict) -> Change:
    return lambda binding: binding.cluster.apply(WatchEvent(EventType.DELETED, document["kind"], read(document)))


LOCAL_BOUND = shown(claim("local", "local", volume="pv"))
TAKEN = shown(volume("pv", "local", on=("a",), taker="local", phase="Bound"))
MADE = shown(volume("pvc-1", "csi", on=("a",), taker="csi", phase="Bound"))
ON_A = {SELECTED_NODE: "a", "pv.kubernetes.io/bind-completed": "yes"}
CSI_BOUND = shown(claim("csi", "csi", volume="pvc-1", annotations=ON_A))


def test_volumes_are_written_first_then_claims_and_the_pod_waits_until_all_are_bound():
    binding = Binding()
    assert binding.run(TAKEN, LOCAL_BOUND, MADE, CSI_BOUND) == Status.SUCCESS
    assert binding.written == [("PersistentVolume", "pv"), ("PersistentVolumeClaim", "csi")]
    assert binding.waited == 30


def test_a_write_that_fails_ends_it_before_anything_else_is_written():
    binding = Binding(write_error="the object has been modified")
    assert binding.run() == Status.error("the object has been modified")
    assert binding.written == [("PersistentVolume", "pv")]


@pytest.mark.parametrize("changes", [(), (TAKEN, LOCAL_BOUND), (MADE, CSI_BOUND)])
def test_claims_that_are_not_bound_in_time_fail_the_pod(changes: tuple[Change, ...]):
    assert Binding().run(*changes) == Status.error("binding volumes: context deadline exceeded")


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (shown(volume("pv", "local", on=("a",))), 'ClaimRef got reset for pv "pv"'),
        (
            shown(volume("pv", "local", on=("b",), taker="local")),
            'pv "pv" node affinity doesn\'t match node "a": no matching NodeSelectorTerms',
        ),
        (shown(claim("csi", "csi")), 'selectedNode annotation reset for PVC "csi"'),
        (shown(claim("csi", "csi", annotations={"a": "b"})), 'provisioning failed for PVC "csi"'),
        (gone(volume("pv")), 'failed to check binding: persistentvolumes "pv" not found'),
        (gone(claim("local")), 'failed to check binding: persistentvolumeclaims "default/local" not found'),
        (gone(claim("csi")), 'failed to check provisioning pvc: persistentvolumeclaims "default/csi" not found'),
        (gone(NODES[0]), 'failed to get node "a": node "a" not found'),
    ],
)
def test_what_can_no_longer_be_bound_fails_the_pod_at_once(change: Change, error: str):
    assert Binding().run(change, TAKEN, LOCAL_BOUND, MADE, CSI_BOUND) == Status.error(f"binding volumes: {error}")


def test_a_volume_that_was_made_where_the_node_does_not_reach_it_fails_the_pod():
    elsewhere = shown(volume("pvc-1", "csi", on=("b",), taker="csi", phase="Bound"))
    error = 'binding volumes: pv "pvc-1" node affinity doesn\'t match node "a": no matching NodeSelectorTerms'
    assert Binding().run(elsewhere, CSI_BOUND) == Status.error(error)


def test_a_pod_that_is_deleted_meanwhile_waits_no_longer():
    def delete(binding: Binding) -> None:
        binding.cluster.apply(WatchEvent(EventType.DELETED, "Pod", binding.asked.pod))

    error = 'binding volumes: pod does not exist any more: pod "p" not found'
    assert Binding().run(delete) == Status.error(error)


def test_news_from_before_the_write_says_nothing():
    stale = shown(volume("pv", "local", on=("a",)), version=6)
    assert Binding().run(stale, TAKEN, LOCAL_BOUND, MADE, CSI_BOUND) == Status.SUCCESS


def test_without_versions_everything_that_is_shown_counts():
    taken = shown(volume("pv", "local", on=("a",), taker="local", phase="Bound"), version="")
    bound = shown(claim("local", "local", volume="pv"), version="")
    provisioned = shown(claim("csi", "csi", volume="pvc-1", annotations=ON_A), version="")
    assert Binding(is_answered=False).run(taken, bound, MADE, provisioned) == Status.SUCCESS
