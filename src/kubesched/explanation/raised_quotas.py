"""The step that makes room in a quota for pods that the API server refuses."""

from kubesched.admission import RefusedReplicas
from kubesched.api import Patch, PatchTarget
from kubesched.explanation.kubectl import patching


def quota_patches(refused: RefusedReplicas) -> tuple[Patch, ...]:
    """The steps of the fix; none where no quota is the reason."""
    if not refused.quota:
        return ()
    namespace, _, name = refused.quota.partition("/")
    target = PatchTarget("v1", "ResourceQuota", namespace, name)
    return (patching(refused.fix, target, {"spec": {"hard": dict(refused.hard)}}, "merge"),)
