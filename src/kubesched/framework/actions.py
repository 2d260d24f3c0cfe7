"""Actions that the core requests from its driver. The driver carries them out and returns the outcome.

The core does no I/O: it emits actions, or awaits them in binding-cycle hooks through `handle.perform`.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kubesched.api import KubeObject, Pod, kind_of
from kubesched.config import ExtenderConfig


class Action(msgspec.Struct, frozen=True):
    """Base of all actions."""


class Bind(Action, frozen=True):
    """Create the Binding of a pod.

    Attributes:
        annotations: written into the Binding's metadata.

    Example:
        async def bind(self, state, pod, node_name):
            done = await self.handle.perform(Bind(pod, node_name))
            return Status.error(done.error) if done.error else Status.SUCCESS
    """

    pod: Pod
    node_name: str
    annotations: dict[str, str] = {}


class PatchPodStatus(Action, frozen=True):
    """Set a condition of a pod, its nomination, or both.

    Attributes:
        condition: type, status, reason, message; None for no change.
        nominated_node_name: the new value, "" to clear it; None for no change.
    """

    pod: Pod
    condition: tuple[str, str, str, str] | None = None
    nominated_node_name: str | None = None


class DeletePod(Action, frozen=True):
    """Delete a pod that was chosen as a victim.

    Attributes:
        preemptor: for whom.
        node_name: where.
    """

    pod: Pod
    preemptor: Pod
    node_name: str


class WriteObject(Action, frozen=True):
    """Update an object.

    Attributes:
        kind: as in KINDS.
        object: as it should become; of a PersistentVolume and a PersistentVolumeClaim, the fields that a scheduler
            reads count.
        subresource: what of it is written, such as `status`; empty for all but that.
        patch: the change, to send it as a strategic merge patch; None to send the object.
        again: makes the same change to a newer version, where the object has changed in the meantime; without it, that
            is an error.

    Example:
        async def pre_bind(self, state, pod, node_name):
            claim = self.handle.get("PersistentVolumeClaim", pod.namespace, "data")
            await self.handle.perform(WriteObject("PersistentVolumeClaim", claim))
            return Status.SUCCESS
    """

    kind: str
    object: KubeObject
    subresource: str = ""
    patch: dict[str, Any] | None = None
    again: Callable[[Any], KubeObject] | None = None


class ReadObject(Action, frozen=True):
    """Read an object from the API server, which may be newer than what the watch has shown; the answer is the object.

    Attributes:
        kind: as in KINDS.
        namespace: empty for kinds outside namespaces.
    """

    kind: str
    namespace: str
    name: str


class CreateObject(Action, frozen=True):
    """Create an object; the answer is the object as it was created.

    Attributes:
        kind: as in KINDS.
        namespace: empty for kinds outside namespaces.
        document: the object; it may have a generateName instead of a name.
    """

    kind: str
    namespace: str
    document: dict[str, Any]


class DeleteObject(Action, frozen=True):
    """Delete an object.

    Attributes:
        kind: as in KINDS.
    """

    kind: str
    object: KubeObject


class RecordEvent(Action, frozen=True):
    """Tell users what happened to an object (events.k8s.io/v1).

    Attributes:
        action: what was being done; of an event of a plugin, the name of the plugin.
        regarding: a pod, unless a plugin records the event.
        controller: the scheduler name of the profile, for an event of a plugin; empty for that of the pod.
        is_of_plugin: whether a plugin records it for its users, with `handle.event`.

    Example:
        pod, _ = read_pod("pod.yaml")
        RecordEvent("Scheduled", "Normal", "Binding", pod, f"Successfully assigned {pod.key} to n1")
    """

    reason: str
    type: str
    action: str
    regarding: KubeObject
    note: str
    related: Pod | None = None
    controller: str = ""
    is_of_plugin: bool = False

    @property
    def reporting_controller(self) -> str:
        """The scheduler that records it: for a victim, that of its preemptor."""
        pod = self.related or self.regarding
        return self.controller or (pod.scheduler_name if isinstance(pod, Pod) else "")

    @property
    def series_key(self) -> tuple[str, ...]:
        """What equal events have in common, in every run. The first note counts; a changed object starts a new event.

        Rule: client-go v1.36 tools/events, whose key has no note and the resourceVersion of the object.
        """
        about = self.regarding.metadata
        what = (self.type, self.action, self.reason, self.reporting_controller, kind_of(self.regarding))
        return (*what, about.namespace, about.name, about.uid, about.resource_version)


class CallExtender(Action, frozen=True):
    """Ask an extender of the configuration about a pod; the answer is the body of its response.

    Attributes:
        verb: filter, prioritize, preempt or bind.
        body: the request.
    """

    extender: ExtenderConfig
    verb: str
    pod: Pod
    body: bytes


class ActionDone(msgspec.Struct, frozen=True):
    """The outcome of an action.

    Attributes:
        error: what went wrong, empty when nothing did.
        answer: what came back, if anything.
        seconds: how long it took; 0 where it was not measured.
        reason: the API server's word for the error, such as `Conflict` for an object that has changed; empty for none.
    """

    action: Action
    error: str = ""
    answer: object = None
    seconds: float = 0.0
    reason: str = ""
