"""The permissions of a live scheduler: what it reads and writes, each with its reason.

The ClusterRoles `system:kube-scheduler` and `system:volume-scheduler` of Kubernetes allow more: to update what
kubesched only patches. They also allow the Lease `kube-scheduler`, and no other.
"""

from collections.abc import Iterable, Mapping, Sequence

from kubesched.api import WATCHED_KINDS
from kubesched.manifests.access import lease_rules, read_rules, rule, why_read
from kubesched.manifests.base_installation import Grant

_READS = {
    "": "Read nodes and pods, and what rules look at: namespaces and their labels, volumes and claims, and the owners "
    "of pods for default spreading.",
    "apps": "Read owners of pods, for default spreading.",
    "policy": "Read budgets, which preemption honours where it can.",
    "resource.k8s.io": "Read devices, their classes and the claims of pods.",
    "storage.k8s.io": "Read what decides where a volume can be used: classes, drivers, capacities, attachments.",
}

_FOR_PLUGINS = "Read what a plugin declares in `reads`."
_NO_READERS: Mapping[str, Sequence[str]] = {}


def cluster_grants(
    kinds: Iterable[str] = WATCHED_KINDS,
    of_plugins: Iterable[Grant] = (),
    readers: Mapping[str, Sequence[str]] = _NO_READERS,
) -> list[Grant]:
    """What a scheduler may do in the whole cluster.

    Args:
        kinds: that it watches.
        of_plugins: what its plugins may do with `handle.client`.
        readers: the names of the plugins that read a kind, by its key.
    """
    reads = [
        Grant(one, why_read(one, readers) or _READS.get(one["apiGroups"][0], _FOR_PLUGINS)) for one in read_rules(kinds)
    ]
    return [*reads, *_writes(), *_reviews(), *of_plugins]


def lease_grants(name: str) -> list[Grant]:
    """What a scheduler may do in the namespace of its Lease."""
    create, update = lease_rules(name)
    return [
        Grant(create, "Create the Lease. A rule for create cannot name the object."),
        Grant(update, "Hold the Lease: only this one."),
        _grant("", ["events"], ["create"], "Record who became the leader, as an event on the Lease."),
    ]


def _writes() -> list[Grant]:
    """Rule: Kubernetes v1.36 asks for resourceclaims/binding where a status allocates."""
    return [
        _grant("", ["pods/binding"], ["create"], "Bind a pod to its node."),
        _grant("", ["pods"], ["get"], "Find out whether a pod is bound, if the answer to a Binding was lost."),
        _grant(
            "",
            ["pods/status"],
            ["patch"],
            "Write the condition PodScheduled, the nominated node, and the condition DisruptionTarget of a victim.",
        ),
        _grant("", ["pods"], ["delete"], "Delete the victims of preemption."),
        _grant(
            "",
            ["persistentvolumeclaims", "persistentvolumes"],
            ["get", "update"],
            "Bind a claim to a volume, or set the node for which its provisioner creates one (WaitForFirstConsumer). "
            "An update writes the whole object, which is read for that.",
        ),
        _grant(
            "resource.k8s.io",
            ["resourceclaims"],
            ["create", "delete", "get", "update"],
            "Create a claim for extended resources that devices serve, and delete it where binding fails; add the "
            "finalizer that protects an allocated claim. Read a claim again that has changed in the meantime.",
        ),
        _grant(
            "resource.k8s.io",
            ["resourceclaims/binding", "resourceclaims/status"],
            ["patch", "update"],
            "Allocate a claim, note which pods use it, and give it back. Since v1.36, an API server asks for both "
            "resources: the status of a claim holds its devices.",
        ),
        _grant(
            "events.k8s.io", ["events"], ["create", "patch"], "Record Scheduled, FailedScheduling and Preempted; count."
        ),
    ]


def _reviews() -> list[Grant]:
    return [
        _grant("authentication.k8s.io", ["tokenreviews"], ["create"], "Check the token of a client of /metrics."),
        _grant(
            "authorization.k8s.io",
            ["subjectaccessreviews"],
            ["create"],
            "Check whether this client may read /metrics or /configz. Health paths need no check.",
        ),
    ]


def _grant(group: str, resources: Sequence[str], verbs: Sequence[str], why: str) -> Grant:
    return Grant(rule(group, resources, verbs), why)
