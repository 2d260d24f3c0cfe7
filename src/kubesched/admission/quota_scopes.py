"""Finds out which pods a ResourceQuota is about: its scopes and its scopeSelector.

Rule: kube-apiserver v1.36 evaluator of pods for ResourceQuota: a pod has to match every scope.
"""

from typing import Final

from kubesched.api import Pod, ResourceQuota, ScopeRequirement

_COMPUTE: Final = ("cpu", "memory")


def matches_scopes(quota: ResourceQuota, pod: Pod) -> bool:
    """Whether a quota counts a pod. A scope of other objects than pods matches none."""
    selector = quota.spec.scope_selector
    return all(_has_scope(pod, scope) for scope in quota.spec.scopes or ()) and all(
        _matches(pod, one) for one in (selector.match_expressions if selector else None) or ()
    )


def _matches(pod: Pod, requirement: ScopeRequirement) -> bool:
    if requirement.scope_name != "PriorityClass":
        return _has_scope(pod, requirement.scope_name)
    name, values = pod.spec.priority_class_name, requirement.values or ()
    if requirement.operator in ("In", "NotIn"):
        return (name in values if name else False) is (requirement.operator == "In")
    return bool(name) is (requirement.operator == "Exists")


def _has_scope(pod: Pod, scope: str) -> bool:
    if scope in ("Terminating", "NotTerminating"):
        return (pod.spec.active_deadline_seconds is not None) is (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        return _is_best_effort(pod) is (scope == "BestEffort")
    if scope == "PriorityClass":
        return bool(pod.spec.priority_class_name)
    if scope == "CrossNamespacePodAffinity":
        return any(
            term.namespaces or term.namespace_selector is not None
            for term in (pod.spec.affinity.pod_terms if pod.spec.affinity else ())
        )
    return False


def _is_best_effort(pod: Pod) -> bool:
    """Whether nothing of the pod requests cpu or memory, or limits it. With spec.resources, containers do not count."""
    whole = pod.spec.resources
    parts = [one.resources for one in (*pod.containers, *pod.init_containers)] if whole is None else [whole]
    return not any(name in _COMPUTE for one in parts if one for name in (*(one.requests or ()), *(one.limits or ())))
