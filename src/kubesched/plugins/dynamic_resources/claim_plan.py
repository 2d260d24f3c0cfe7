"""What Reserve takes for the claims of a pod, and the steps that write it and take it back.

Rule: kube-scheduler v1.36 DynamicResources PreBind: claim after claim in the order of the pod, the claim for extended
resources last; of each the finalizer, then the status; for extended resources also the status of the pod. When binding
fails, claims stay allocated without the pod among their users; the claim for extended resources is deleted.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from kubesched.api import EXTENDED_RESOURCE_CLAIM, KubeObject, Pod, ResourceClaim, decode_object, rewritten
from kubesched.framework import Action, CreateObject, DeleteObject, Handle, WriteObject
from kubesched.plugins.dynamic_resources.allocation import protected, unprotected, unused_by
from kubesched.plugins.dynamic_resources.special_claim import SPECIAL_CLAIM, SpecialClaim

CLAIM: Final = "ResourceClaim"


class ClaimPlan(msgspec.Struct, eq=False):
    """The claims of a pod as they should become.

    Attributes:
        claims: those that change, in the order of the pod; each has its devices and the pod among its users.
        special: the claim for extended resources, under a provisional name; None for none.
        request: what that asks for.
        created: the same once it was created.
        written: claims whose status was written.
    """

    claims: list[ResourceClaim] = []
    special: ResourceClaim | None = None
    request: SpecialClaim = SpecialClaim()
    created: ResourceClaim | None = None
    written: list[ResourceClaim] = []

    @property
    def assumed(self) -> list[tuple[str, KubeObject]]:
        """What the next pods see."""
        return [(CLAIM, one) for one in (*self.claims, *((self.special,) if self.special else ()))]

    async def write(self, handle: Handle, pod: Pod) -> str:
        """Write the claims. Returns: what went wrong, in upstream's words; empty for nothing."""
        for claim in self.claims:
            if error := await self._write_claim(handle, claim):
                return error
        return await self._write_special(handle, pod) if self.special is not None else ""

    async def _write_claim(self, handle: Handle, claim: ResourceClaim) -> str:
        is_new = claim.status.allocation is not None and claim.status.allocation.allocation_timestamp is None
        guarded = protected(claim) if is_new else None
        if guarded is not None and claim.key in {one.key for one in self.written}:
            claim = guarded  # the pod lists it twice
        elif guarded is not None:
            done = await handle.perform(WriteObject(CLAIM, guarded))
            if done.error:
                return f"add finalizer to claim {claim.key}: {done.error}"
            claim = _as_answered(guarded, done.answer)
        if is_new:
            claim = _stamped(claim, handle.clock.now())
        done = await handle.perform(WriteObject(CLAIM, claim, "status"))
        if done.error:
            return f"add reservation to claim {claim.key}: {done.error}"
        self.written.append(_as_answered(claim, done.answer))
        return ""

    async def _write_special(self, handle: Handle, pod: Pod) -> str:
        assert self.special is not None
        done = await handle.perform(CreateObject(CLAIM, pod.namespace, _special_document(pod, self.request)))
        if done.error or not isinstance(done.answer, ResourceClaim):
            return f"create claim for extended resources of pod {pod.key}: {done.error}"
        self.created, status = done.answer, self.special.document["status"]
        planned = rewritten(done.answer, lambda document: document.update(status=status))
        handle.cluster_state.replace_assumed(pod.uid, CLAIM, self.special, planned)
        if error := await self._write_claim(handle, planned):
            return error
        if not self.request.mappings:
            return f"nil or empty request mappings, no update of pod {pod.key} ExtendedResourceClaimStatus"
        mappings = msgspec.to_builtins(self.request.mappings)
        status = {"resourceClaimName": self.created.name, "requestMappings": mappings}
        patch = {"status": {"extendedResourceClaimStatus": status}}
        served = rewritten(pod, lambda document: document.setdefault("status", {}).update(patch["status"]))
        done = await handle.perform(WriteObject("Pod", served, "status", {"metadata": {"uid": pod.uid}, **patch}))
        return done.error

    def undo(self, pod: Pod) -> Iterator[Action]:
        """What takes back what was written."""
        for claim in self.written:
            if self.created is None or claim.name != self.created.name:
                users = [{"$patch": "delete", "uid": pod.uid}]
                patch = {"metadata": {"uid": claim.uid}, "status": {"reservedFor": users}}
                yield WriteObject(CLAIM, unused_by(claim, pod), "status", patch)
        if self.created is not None:
            written = next((one for one in self.written if one.name == self.created.name), self.created)
            yield from deletion(written)


def deletion(claim: ResourceClaim) -> Iterator[Action]:
    """What deletes a claim for extended resources."""
    yield WriteObject(CLAIM, unprotected(claim))
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
    time = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return rewritten(claim, lambda document: document["status"]["allocation"].update(allocationTimestamp=time))


def _as_answered(claim: ResourceClaim, answer: object) -> ResourceClaim:
    """The claim with the resourceVersion that a write gave it."""
    version = answer.metadata.resource_version if isinstance(answer, ResourceClaim) else ""
    if version in ("", claim.metadata.resource_version):
        return claim
    return rewritten(claim, lambda document: document["metadata"].update(resourceVersion=version))
