"""What Reserve takes for the claims of a pod, and the steps that write it and take it back.

Rule: kube-scheduler v1.36 DynamicResources PreBind: claim after claim in the order of the pod, the claim for extended
resources last; of each the finalizer, then the status; for extended resources also the status of the pod. A claim that
has changed in the meantime is read again, and written where the plan still fits. When binding fails, claims stay
allocated without the pod among their users; the claim for extended resources is deleted.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from kubesched.api import (
    EXTENDED_RESOURCE_CLAIM,
    KubeObject,
    Pod,
    ResourceClaim,
    compare_versions,
    decode_object,
    rewritten,
)
from kubesched.framework import Action, ActionDone, CreateObject, DeleteObject, Handle, ReadObject, WriteObject
from kubesched.plugins.dynamic_resources.allocation import (
    allocated_as,
    is_used_by,
    protected,
    unprotected,
    unused_by,
    used_by,
)
from kubesched.plugins.dynamic_resources.special_claim import SPECIAL_CLAIM, SpecialClaim
from kubesched.state import ObjectStore

CLAIM: Final = "ResourceClaim"

_TRIES: Final = 5  # Rule: client-go v1.36, retries on conflict
_CREATES: Final = "Number of ResourceClaims creation requests within scheduler"


class ClaimPlan(msgspec.Struct, eq=False):
    """The claims of a pod as they should become.

    Attributes:
        claims: those that change, in the order of the pod; each has its devices and the pod among its users.
        allocating: keys of those that get their devices now.
        kept: those that have the pod among their users already, from an earlier attempt.
        special: the claim for extended resources, under a provisional name; None for none.
        request: what that asks for.
        created: the same once it was created.
        written: claims whose status was written.
    """

    claims: list[ResourceClaim] = []
    allocating: frozenset[str] = frozenset()
    kept: list[ResourceClaim] = []
    special: ResourceClaim | None = None
    request: SpecialClaim = SpecialClaim()
    created: ResourceClaim | None = None
    written: list[ResourceClaim] = []

    @property
    def assumed(self) -> list[tuple[str, KubeObject]]:
        """What the next pods see."""
        return [(CLAIM, one) for one in (*self.claims, *((self.special,) if self.special else ()))]

    def new_devices(self) -> Iterator[str]:
        """The devices that claims get, such as `default/mine=gpu.example.com/n1/gpu-0`."""
        new = [claim for claim in self.claims if claim.key in self.allocating]
        for claim in (*new, *((self.special,) if self.special else ())):
            allocation = claim.status.allocation
            for one in (allocation.devices.results or ()) if allocation is not None else ():
                yield f"{claim.key}={one.driver}/{one.pool}/{one.device}"

    def not_mapped(self, pod: Pod) -> str:
        """Why the pod cannot refer to the claim for extended resources; empty where it can, or where there is none.

        Rule: kube-scheduler v1.36.3, where the node has a device plugin for all of them.
        """
        if self.special is None or self.request.mappings:
            return ""
        return f"nil or empty request mappings, no update of pod {pod.key} ExtendedResourceClaimStatus"

    async def write(self, handle: Handle, pod: Pod) -> str:
        """Write the claims. Returns: what went wrong, in upstream's words; empty for nothing."""
        for claim in self.claims:
            is_new = claim.key in self.allocating
            if error := await self._write_claim(handle, pod, claim, is_new=is_new):
                return error
        return await self._write_special(handle, pod) if self.special is not None else ""

    async def _write_claim(self, handle: Handle, pod: Pod, planned: ResourceClaim, *, is_new: bool) -> str:
        """Write one claim; where it has changed in the meantime, what it is now, up to five times."""
        claim: ResourceClaim | None = planned
        what, error = "", ""
        for _ in range(_TRIES):
            if claim is None:
                return ""
            what, done, as_sent = await self._try(handle, claim, is_new=is_new)
            if not done.error:
                self.written.append(done.answer if isinstance(done.answer, ResourceClaim) else as_sent)
                if isinstance(done.answer, ResourceClaim):
                    handle.cluster_state.note_written(pod.uid, done.answer)
                return ""
            error = done.error
            if done.reason != "Conflict":
                break
            read = await handle.perform(ReadObject(CLAIM, planned.namespace, planned.name))
            if read.error:
                return f"{what} claim {planned.key}: {read.error}"
            current = read.answer
            if problem := _problem(planned, current, is_new=is_new):
                return f"claim {planned.key} got {problem} in the meantime"
            assert isinstance(current, ResourceClaim)
            claim = _changed(current, planned, pod, is_new=is_new)
        return f"{what} claim {planned.key}: {error}"

    async def _try(
        self, handle: Handle, claim: ResourceClaim, *, is_new: bool
    ) -> tuple[str, ActionDone, ResourceClaim]:
        """Write one version of a claim. Returns: what was done, what came of it, and the claim as it was sent."""
        guarded = protected(claim) if is_new else None
        if guarded is not None and claim.key in {one.key for one in self.written}:
            claim = guarded  # the pod lists it twice
        elif guarded is not None:
            done = await handle.perform(WriteObject(CLAIM, guarded))
            if done.error:
                return "add finalizer to", done, claim
            claim = _as_answered(guarded, done.answer)
        if is_new:
            claim = _stamped(claim, handle.clock.now())
        what = "add allocation and reservation to" if is_new else "add reservation to"
        return what, await handle.perform(WriteObject(CLAIM, claim, "status")), claim

    async def _write_special(self, handle: Handle, pod: Pod) -> str:
        assert self.special is not None
        done = await handle.perform(CreateObject(CLAIM, pod.namespace, _special_document(pod, self.request)))
        is_created = isinstance(done.answer, ResourceClaim) and not done.error
        creates = handle.metrics.counter("resourceclaim_creates", _CREATES, ("status",))
        creates.add("success" if is_created else "failure")
        if done.error or not isinstance(done.answer, ResourceClaim):
            return f"create claim for extended resources {pod.namespace}/: {done.error}"
        self.created, status = done.answer, self.special.document["status"]
        planned = rewritten(done.answer, lambda document: document.update(status=status))
        handle.cluster_state.replace_assumed(pod.uid, CLAIM, self.special, planned)
        if error := await self._write_claim(handle, pod, planned, is_new=True):
            return error
        if error := self.not_mapped(pod):
            return error
        mappings = msgspec.to_builtins(self.request.mappings)
        status = {"resourceClaimName": self.created.name, "requestMappings": mappings}
        patch = {"status": {"extendedResourceClaimStatus": status}}
        served = rewritten(pod, lambda document: document.setdefault("status", {}).update(patch["status"]))
        done = await handle.perform(WriteObject("Pod", served, "status", {"metadata": {"uid": pod.uid}, **patch}))
        return f"update pod {pod.key} ExtendedResourceClaimStatus: {done.error}" if done.error else ""

    async def take_back(self, handle: Handle, pod: Pod) -> None:
        """Undo what was written, and wait for that: the condition of the pod and its next attempt come after it."""
        for action in self.undo(pod, handle.cluster_state.objects):
            await handle.perform(action)
        self.kept, self.written, self.created = [], [], None

    def undo(self, pod: Pod, objects: ObjectStore) -> Iterator[Action]:
        """What takes back what was written.

        Args:
            objects: have what others have changed since.
        """
        for claim in (*self.kept, *self.written):
            if self.created is None or claim.name != self.created.name:
                users = [{"$patch": "delete", "uid": pod.uid}]
                patch = {"metadata": {"uid": claim.uid}, "status": {"reservedFor": users}}
                yield WriteObject(CLAIM, unused_by(claim, pod), "status", patch)
        if self.created is not None:
            written = next((one for one in self.written if one.name == self.created.name), self.created)
            yield from deletion(_newest(written, objects))


def _newest(claim: ResourceClaim, objects: ObjectStore) -> ResourceClaim:
    """The claim as a driver may have changed it since."""
    current = objects.get(CLAIM, claim.key)
    if not isinstance(current, ResourceClaim) or current.uid != claim.uid:
        return claim
    order = compare_versions(current.metadata.resource_version, claim.metadata.resource_version)
    return current if order is not None and order > 0 else claim


def _problem(planned: ResourceClaim, current: object, *, is_new: bool) -> str:
    """What became of a claim that makes its plan worthless; empty for nothing.

    Rule: kube-scheduler v1.36, which goes on, however, with a claim that was created again, and with one that was
        allocated again, maybe for another node.
    """
    if not isinstance(current, ResourceClaim) or current.is_terminating or current.uid != planned.uid:
        return "deleted"
    if is_new:
        return "allocated elsewhere" if current.status.allocation is not None else ""
    if current.status.allocation is None:
        return "deallocated elsewhere"
    return "allocated elsewhere" if current.status.allocation != planned.status.allocation else ""


def _changed(current: ResourceClaim, planned: ResourceClaim, pod: Pod, *, is_new: bool) -> ResourceClaim | None:
    """The claim as it is, with what was planned; None where nothing is to be written any more."""
    if is_new:
        return allocated_as(current, planned, pod)
    return None if is_used_by(current, pod) else used_by(current, pod)


def deletion(claim: ResourceClaim) -> Iterator[Action]:
    """What deletes a claim for extended resources."""
    yield WriteObject(CLAIM, unprotected(claim), again=unprotected)
    yield DeleteObject(CLAIM, claim)


def new_special_claim(pod: Pod, request: SpecialClaim) -> ResourceClaim:
    """The claim for extended resources of a pod as it will be created; its name is provisional."""
    document = _special_document(pod, request)
    document["metadata"]["name"] = f"{pod.name}-{SPECIAL_CLAIM}"
    claim = decode_object(CLAIM, msgspec.json.encode(document))
    assert isinstance(claim, ResourceClaim)
    return claim


def _special_document(pod: Pod, request: SpecialClaim) -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": CLAIM,
        "metadata": {
            "generateName": f"{pod.name}-extended-resources-",
            "namespace": pod.namespace,
            "annotations": {EXTENDED_RESOURCE_CLAIM: "true"},
            "ownerReferences": [owner],
        },
        "spec": {"devices": {"requests": msgspec.to_builtins(request.requests)}},
    }


def _stamped(claim: ResourceClaim, seconds: float) -> ResourceClaim:
    """The claim with the time of its allocation, in seconds since 1970."""
    time = datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")
    return rewritten(claim, lambda document: document["status"]["allocation"].update(allocationTimestamp=time))


def _as_answered(claim: ResourceClaim, answer: object) -> ResourceClaim:
    """The claim with the resourceVersion that a write gave it."""
    version = answer.metadata.resource_version if isinstance(answer, ResourceClaim) else ""
    if version in ("", claim.metadata.resource_version):
        return claim
    return rewritten(claim, lambda document: document["metadata"].update(resourceVersion=version))
