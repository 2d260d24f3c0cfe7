"""The claims that schedulers make for the extended resources of pods, by the pod."""

from kubesched.api import EXTENDED_RESOURCE_CLAIM, KubeObject, Pod, ResourceClaim
from kubesched.state.objects import ObjectStore


class SpecialClaims:
    """Kept while claims come, change and go."""

    def __init__(self, objects: ObjectStore) -> None:
        self._claims: dict[str, dict[str, ResourceClaim]] = {}  # uid of the pod -> key of the claim
        for claim in objects.list("ResourceClaim"):
            self._changed(None, claim)
        objects.listen("ResourceClaim", self._changed)

    def of(self, pod: Pod) -> ResourceClaim | None:
        """The claim that was made for a pod; None for none."""
        return next(iter(self._claims.get(pod.uid, {}).values()), None)

    def __len__(self) -> int:
        return len(self._claims)

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if old is not None and (uid := _made_for(old)):
            known = self._claims.get(uid, {})
            known.pop(old.key, None)
            if not known:
                self._claims.pop(uid, None)
        if isinstance(new, ResourceClaim) and (uid := _made_for(new)):
            self._claims.setdefault(uid, {})[new.key] = new


def _made_for(claim: KubeObject) -> str:
    """The uid of the pod that a claim of a scheduler is for; empty for any other claim."""
    owner = claim.metadata.controller
    return owner.uid if owner is not None and claim.annotations.get(EXTENDED_RESOURCE_CLAIM) == "true" else ""
