"""A change of the pending pod and of a cluster, as edits of their objects."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from kubesched.api import KubeObject, Pod, completed, kind_of

PodEdit = Callable[[Pod], Pod]


class Edit(msgspec.Struct, frozen=True):
    """What happens to one object of the cluster.

    Attributes:
        kind, key: which object: a key of KINDS, and `namespace/name` or the name alone.
        change: gets the object, or None if there is none. It returns the object after the edit, or None to remove it.
    """

    kind: str
    key: str
    change: Callable[[Any], KubeObject | None]


class Change(msgspec.Struct, frozen=True):
    """Edits of the pending pod and of objects of the cluster, in the order in which they are applied.

    Example:
        gone = Change(edits=(Edit("Pod", "shop/web-7", lambda pod: None),))
        objects, pod = gone.apply(load_snapshot("cluster.json"), make_pod("new"))
    """

    of_pod: tuple[PodEdit, ...] = ()
    edits: tuple[Edit, ...] = ()

    def __add__(self, other: "Change") -> "Change":
        return Change(self.of_pod + other.of_pod, self.edits + other.edits)

    def pod(self, pod: Pod) -> Pod:
        """The pending pod after the change."""
        for edit in self.of_pod:
            pod = edit(pod)
        return pod

    def apply(self, objects: Iterable[KubeObject], pod: Pod) -> tuple[list[KubeObject], Pod]:
        """The objects of the cluster and the pending pod after the change; those that are new come last."""
        changed = {(kind_of(obj), obj.key): obj for obj in map(completed, objects)}
        for edit in self.edits:
            after = edit.change(changed.get((edit.kind, edit.key)))
            if after is not None:
                changed[edit.kind, edit.key] = after
            else:
                changed.pop((edit.kind, edit.key), None)
        return list(changed.values()), self.pod(pod)
