"""Loads the initial cluster of a run: one function for all drivers."""

from collections.abc import Iterable

from kubesched.api import KubeObject, Pod, completed, kind_of, objects_of
from kubesched.state import ClusterState


def load_cluster(
    cluster_state: ClusterState, objects: Iterable[KubeObject], *, are_completed: bool = False
) -> list[Pod]:
    """Fill an empty state with a cluster, but for the pods that wait for a node. Namespaces and uids are `completed`.

    Args:
        are_completed: whether they have these already.
    Returns: those pods, in the given order. A driver passes them to its scheduler as events, or drops them: a pod
        without a node takes no room.
    Raises:
        InputError: one of them is not a Kubernetes object.
    """
    pending: list[Pod] = []
    placed: list[tuple[str, KubeObject]] = []
    for obj in objects if are_completed else map(completed, objects_of(objects)):
        if isinstance(obj, Pod) and not obj.node_name and not obj.is_finished:
            pending.append(obj)
        else:
            placed.append((kind_of(obj), obj))
    cluster_state.load(placed)
    return pending
