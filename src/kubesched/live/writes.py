"""Carries out the Scheduler's actions on an API server.

Rule: kube-scheduler v1.36: the PodScheduled condition and the nomination in one patch of the pod's status, none where
nothing would change; DisruptionTarget on a victim, then its deletion, then its event. Volumes and claims are updated
whole, in the version that was decided on; the fields that a scheduler does not read are read again for that. Claims of
devices are written as they were watched, because their JSON is kept. What an API server refuses is answered in its own
words; the log has the request, too.

What a patch has changed counts at once for the next patch of this pod, although the watch shows it later.

Writes to one object come one after another, in the order in which they were asked for: a nomination never overtakes
the Binding that follows it. Only some status patches are sent at a time, and other requests go first where the rate is
limited: thousands of pods that fit nowhere do not keep the Bindings of others waiting. A condition that still waits for
its turn is not written any more once the pod has a newer one, or is to be bound.

A process whose lease is over writes nothing: this is checked here, and by the client before each try of each request.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from kubesched.api import KINDS, KubeObject, PersistentVolume, Pod, PodStatus, compare_versions, decode_object
from kubesched.cluster import PROTOBUF, ApiClient, Backoff, bind_pod, list_path, object_path, with_finalizers
from kubesched.errors import ClusterError, ConflictError, NotFoundError, NotSentError
from kubesched.framework import (
    Action,
    ActionDone,
    Bind,
    CreateObject,
    DeleteObject,
    DeletePod,
    LimitedLog,
    PatchPodStatus,
    ReadObject,
    RecordEvent,
    WriteObject,
)
from kubesched.state import ClusterState

RecordEvents = Callable[[RecordEvent], None]

_STRATEGIC: Final = "application/strategic-merge-patch+json"
_INVALID: Final = 422
_PATCHES_AT_ONCE: Final = 8  # 32 keep a small API server so busy that a Binding takes 0.1 s
_REMEMBERED_SECONDS: Final = 300.0  # a watch never catches up with a server that was restored from a backup
_VOLUMES: Final = ("PersistentVolume", "PersistentVolumeClaim")
_LOG: Final = logging.getLogger("kubesched.scheduler")


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Patched(msgspec.Struct):
    """What is read of the answer to a patch of a pod's status."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    status: PodStatus = PodStatus()


class _Remembered(msgspec.Struct):
    """A patch that the watch may not have shown yet."""

    key: str
    version: str
    status: PodStatus
    written_at: float


class _Write(msgspec.Struct):
    """A write under way.

    Attributes:
        action: what was asked for.
        earlier: the write to the same object that comes before it.
        patch: what a status patch will write once it has its turn; None for other writes, from then on, and where it is
            not needed any more.
    """

    action: Action
    earlier: asyncio.Task[ActionDone] | None
    patch: PatchPodStatus | None
    task: asyncio.Task[ActionDone] | None = None


class ApiWriter:
    """Writes what the Scheduler decides.

    Args:
        record: takes events for users.
        may_write: whether this process may lead at this moment.
    """

    def __init__(
        self,
        client: ApiClient,
        cluster_state: ClusterState,
        record: RecordEvents,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self._client = client
        self._cluster_state = cluster_state
        self._record = record
        self.may_write = may_write
        # A client that deletes pods and re-creates them under the same names makes as many patches fail.
        self._failures = LimitedLog(_LOG, "%d more writes that failed were not logged", client.timing.monotonic)
        self._last: dict[tuple[str, str], _Write] = {}  # by object
        self._tasks: set[asyncio.Task[ActionDone]] = set()  # all writes in flight
        self._patches = asyncio.Semaphore(_PATCHES_AT_ONCE)
        self._patched: dict[str, _Remembered] = {}  # by uid, the oldest first
        self._writers: dict[type[Action], Callable[[Any], Awaitable[object]]] = {
            Bind: self._bind,
            PatchPodStatus: self._patch,
            DeletePod: self._evict,
            WriteObject: self._update,
            ReadObject: self._read,
            CreateObject: self._create,
            DeleteObject: self._delete,
        }

    def emit(self, action: Action) -> None:
        """Carry out an action without waiting for its outcome; a failure is logged, up to eight in a minute."""
        if isinstance(action, RecordEvent):
            self._record(action)
        else:
            self._begin(action)

    async def perform(self, action: Action) -> ActionDone:
        """Carry out an action."""
        if isinstance(action, RecordEvent):
            self._record(action)
            return ActionDone(action)
        task = self._begin(action)
        return await asyncio.shield(task)

    async def finish(self) -> None:
        """Wait for the writes under way, unless the lease is over; what is left or takes too long is cancelled."""
        try:
            while self._tasks and self.may_write():
                await asyncio.wait(self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()

    # --- order ---

    def _begin(self, action: Action) -> asyncio.Task[ActionDone]:
        target = _target(action)
        last = self._last.get(target)
        earlier = None if last is None else last.task
        if last is not None and last.task is not None and last.patch is not None:  # it waits for its turn
            if isinstance(action, PatchPodStatus):
                last.patch = _merged(last.patch, action)
                return last.task
            if isinstance(action, Bind) and self._is_moot(last.patch):
                last.patch, earlier = None, last.earlier
        write = _Write(action, earlier, action if isinstance(action, PatchPodStatus) else None)
        write.task = task = asyncio.create_task(self._after(write))
        self._last[target] = write
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(target, done))
        return task

    async def _after(self, write: _Write) -> ActionDone:
        action = write.action
        if write.earlier is not None:
            await asyncio.wait((write.earlier,))
            write.earlier = None
        writer = self._writers.get(type(action))
        if writer is None:
            return ActionDone(action, f"this scheduler cannot do {type(action).__name__}")
        if not self.may_write():
            return ActionDone(action, "the lease of this process is over, so it writes nothing")
        try:
            is_patch = isinstance(action, PatchPodStatus)
            return ActionDone(action, answer=await (self._patch_in_turn(write) if is_patch else writer(action)))
        except ClusterError as error:
            # A Binding that fails fails its attempt, and the log of attempts has the error.
            is_binding, is_conflict = isinstance(action, Bind), isinstance(error, ConflictError)
            is_expected = isinstance(error, NotFoundError | NotSentError) or (
                is_conflict and isinstance(action, WriteObject)  # the caller tries again
            )
            if is_binding or is_expected:
                _LOG.debug("%s", error)
            else:
                self._failures.note(str(error))
            text = str(error) if is_binding else error.message or str(error)
            return ActionDone(action, text, reason=error.reason)

    def _ended(self, target: tuple[str, str], task: asyncio.Task[ActionDone]) -> None:
        self._tasks.discard(task)
        last = self._last.get(target)
        if last is not None and last.task is task:
            del self._last[target]

    def _is_moot(self, patch: PatchPodStatus) -> bool:
        """Whether a status patch is not needed once the pod is bound: it sets a condition, and no nomination."""
        return patch.nominated_node_name in (None, self._newest_status(self._current(patch.pod)).nominated_node_name)

    # --- what is written ---

    async def _bind(self, action: Bind) -> None:
        """Bind a pod. While there is no answer, the pod may be on its node, so its room is not given to others."""
        pod, node, annotations = action.pod, action.node_name, action.annotations
        backoff, may_be_bound = Backoff(self._client.timing, first=0.2, longest=5.0), False
        while True:
            try:
                await bind_pod(
                    self._client, pod.namespace, pod.name, pod.uid, node, annotations, may_be_bound=may_be_bound
                )
                return
            except ClusterError as error:
                if error.status or not self.may_write():
                    raise
                may_be_bound = True
                _LOG.warning("%s; trying again, because the pod may be bound", error)
                await self._client.timing.sleep(backoff.next())
                if not self.may_write():
                    raise

    async def _patch_in_turn(self, write: _Write) -> None:
        async with self._patches:
            patch, write.patch = write.patch, None
            if patch is not None:
                await self._patch(patch, is_patient=True)

    async def _patch(self, action: PatchPodStatus, *, is_patient: bool = False) -> None:
        pod = self._current(action.pod)
        has_generations = self._cluster_state.release.has("PodObservedGenerationTracking")
        status = _status_changes(pod, self._newest_status(pod), action, has_generations=has_generations)
        if not status:
            return
        path = object_path("Pod", pod.namespace, pod.name, "status")
        body = {"metadata": {"uid": pod.uid}, "status": status}
        answer = await self._client.request(
            "PATCH", path, body=body, content_type=_STRATEGIC, retry=True, type=_Patched, is_patient=is_patient
        )
        self._remember(pod, answer)

    def _current(self, pod: Pod) -> Pod:
        """The pod as the watch shows it."""
        current = self._cluster_state.objects.get("Pod", pod.key)
        return current if isinstance(current, Pod) and current.uid == pod.uid else pod

    def _newest_status(self, pod: Pod) -> PodStatus:
        last = self._patched.get(pod.uid)
        return last.status if last is not None and _is_older(pod, last) else pod.status

    def _remember(self, pod: Pod, answer: _Patched) -> None:
        now = self._client.timing.monotonic()
        self._patched.pop(pod.uid, None)
        self._patched[pod.uid] = _Remembered(pod.key, answer.metadata.resource_version, answer.status, now)
        while self._patched:
            uid, oldest = next(iter(self._patched.items()))
            known = self._cluster_state.objects.get("Pod", oldest.key)
            is_awaited = isinstance(known, Pod) and known.uid == uid and _is_older(known, oldest)
            if is_awaited and now - oldest.written_at < _REMEMBERED_SECONDS:
                break
            del self._patched[uid]

    async def _evict(self, action: DeletePod) -> None:
        """Mark the victim, delete it, and record the event. A victim that is already gone counts as deleted."""
        pod, preemptor = action.pod, action.preemptor
        text = f"{preemptor.scheduler_name}: preempting to accommodate a higher priority pod"
        condition = ("DisruptionTarget", "True", "PreemptionByScheduler", text)
        try:
            await self._patch(PatchPodStatus(pod, condition))
            body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": pod.uid}}
            await self._client.request("DELETE", object_path("Pod", pod.namespace, pod.name), body=body, retry=True)
        except NotFoundError:
            return
        note = f"Preempted by pod {preemptor.uid} on node {action.node_name}"
        self._record(RecordEvent("Preempted", "Normal", "Preempting", pod, note, preemptor))

    async def _update(self, action: WriteObject) -> KubeObject:
        """Write an object as a plugin changed it, unless another client has changed it in the meantime."""
        changed = action.object
        path = object_path(action.kind, changed.namespace, changed.name, action.subresource)
        if action.patch is not None:
            patch, type_ = action.patch, dict[str, Any]
            answer = await self._client.request("PATCH", path, body=patch, content_type=_STRATEGIC, type=type_)
            return decode_object(action.kind, msgspec.json.encode(answer))
        if action.kind not in _VOLUMES:
            return await self._put(action, path)
        document = await self._client.request("GET", path, type=dict[str, Any])
        document["metadata"]["resourceVersion"] = changed.metadata.resource_version  # a newer one is a conflict
        document["metadata"]["annotations"] = changed.annotations
        if isinstance(changed, PersistentVolume):
            document["spec"]["claimRef"] = _claim_ref(changed)
        return decode_object(action.kind, await self._client.request("PUT", path, body=document))

    async def _put(self, action: WriteObject, path: str) -> KubeObject:
        """Write an object as it is known, and once more as it is by now."""
        kind, changed = action.kind, action.object
        try:
            return await self._put_object(action, changed, path)
        except ConflictError:
            if action.again is None:
                raise
        current = await self._read(ReadObject(kind, changed.namespace, changed.name))
        return await self._put_object(action, action.again(current), path)

    async def _put_object(self, action: WriteObject, changed: KubeObject, path: str) -> KubeObject:
        """Write an object whole; of a claim for devices the finalizers alone, where JSON cannot carry its spec."""
        body = {**_type_of(action.kind), **changed.document}
        try:
            return decode_object(action.kind, await self._client.request("PUT", path, body=body))
        except ClusterError as error:
            if action.kind != "ResourceClaim" or action.subresource or error.status != _INVALID:
                raise
        known, finalizers = changed.metadata.resource_version, changed.document["metadata"].get("finalizers") or ()
        exact = with_finalizers(await self._client.request("GET", path, accept=PROTOBUF), known, finalizers)
        answer = await self._client.request("PUT", path, body=exact, content_type=PROTOBUF)
        return decode_object(action.kind, answer)

    async def _read(self, action: ReadObject) -> KubeObject:
        path = object_path(action.kind, action.namespace, action.name)
        return decode_object(action.kind, await self._client.request("GET", path))

    async def _create(self, action: CreateObject) -> KubeObject:
        path = list_path(action.kind, action.namespace)
        return decode_object(action.kind, await self._client.request("POST", path, body=action.document))

    async def _delete(self, action: DeleteObject) -> None:
        """Delete an object. One that is already gone counts as deleted."""
        path = object_path(action.kind, action.object.namespace, action.object.name)
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": action.object.uid}}
        with suppress(NotFoundError):
            await self._client.request("DELETE", path, body=body, retry=True)


def _type_of(kind: str) -> dict[str, str]:
    """The fields of an object that items of a list do not have."""
    known = KINDS[kind]
    return {"apiVersion": known.api_version, "kind": known.name}


def _target(action: Action) -> tuple[str, str]:
    """The kind and the key of what an action writes."""
    if isinstance(action, WriteObject | DeleteObject):
        return action.kind, action.object.key
    if isinstance(action, CreateObject):
        return action.kind, f"{action.namespace}/"
    if isinstance(action, ReadObject):
        return action.kind, f"{action.namespace}/{action.name}" if action.namespace else action.name
    return "Pod", action.pod.uid if isinstance(action, Bind | PatchPodStatus | DeletePod) else ""


def _merged(patch: PatchPodStatus, later: PatchPodStatus) -> PatchPodStatus:
    """Both patches of one pod as one; a later value counts."""
    return PatchPodStatus(
        later.pod,
        patch.condition if later.condition is None else later.condition,
        patch.nominated_node_name if later.nominated_node_name is None else later.nominated_node_name,
    )


def _is_older(pod: Pod, patched: _Remembered) -> bool:
    order = compare_versions(pod.metadata.resource_version, patched.version)
    return order is not None and order < 0


def _status_changes(pod: Pod, current: PodStatus, action: PatchPodStatus, *, has_generations: bool) -> dict[str, Any]:
    """The part of status to patch; empty where nothing would change.

    Args:
        has_generations: whether conditions have the generation of the pod; one that has it keeps it.
    """
    changes: dict[str, Any] = {}
    if action.condition is not None:
        type_, status, reason, message = action.condition
        old = next((c for c in current.conditions or () if c.type == type_), None)
        has_generation = has_generations or (old is not None and old.observed_generation > 0)
        generation = pod.metadata.generation if has_generation else 0
        wanted = (status, reason, message, generation)
        if old is None or (old.status, old.reason, old.message, old.observed_generation) != wanted:
            entry: dict[str, Any] = {"type": type_, "status": status, "reason": reason, "message": message}
            if generation:
                entry["observedGeneration"] = generation
            if old is None or old.status != status:
                entry["lastTransitionTime"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            changes["conditions"] = [entry]
    nominated = action.nominated_node_name
    if nominated is not None and nominated != current.nominated_node_name:
        changes["nominatedNodeName"] = nominated or None
    return changes


def _claim_ref(volume: PersistentVolume) -> dict[str, str] | None:
    ref = volume.spec.claim_ref
    if ref is None:
        return None
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **msgspec.to_builtins(ref)}
