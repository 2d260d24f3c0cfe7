"""Notes what a fix changes, as it is before, so that its patches can be derived later."""

from collections.abc import Iterable

from kubesched.admission import added_parts
from kubesched.api import OwnerReference, Pod, workload_of
from kubesched.controllers import api_version_of, is_from_manifest, successor_of
from kubesched.explanation.change import Change
from kubesched.explanation.departures import Departure
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.patches import Before
from kubesched.explanation.pod_patches import Owners
from kubesched.explanation.trial import Move
from kubesched.state import Snapshot


def before_of(evaluation: Evaluation, change: Change, moves: Iterable[Move]) -> Before:
    """What a change of a cluster meets.

    Args:
        evaluation: of the pending pod.
        moves: the pods that make way.
    """
    pod, snapshot = evaluation.pod, evaluation.snapshot
    names = dict.fromkeys((edit.kind, edit.key) for edit in change.edits)
    objects = {name: known for name in names if (known := snapshot.objects.get(*name)) is not None}
    departures = {move.pod.key: _departure(move, snapshot) for move in moves if move.pod.node_name}
    added = added_parts(pod, snapshot.objects.get)
    return Before(pod, owners_of(pod, snapshot), is_from_manifest(pod), objects, departures, added)


def owners_of(pod: Pod, snapshot: Snapshot) -> Owners:
    """The controller of a pod, and that of the controller as far as it is known; empty for none."""
    owner = pod.metadata.controller
    if owner is None:
        return ()
    known = snapshot.objects.get(owner.kind, f"{pod.namespace}/{owner.name}")
    if known is not None:
        above = known.metadata.controller
        return (owner,) if above is None else (owner, above)
    workload = workload_of(pod, {})
    if workload is None or workload.kind == owner.kind:
        return (owner,)
    return owner, OwnerReference(api_version_of(workload.kind), workload.kind, workload.name, controller=True)


def _departure(move: Move, snapshot: Snapshot) -> Departure:
    pod = move.pod
    owner = pod.metadata.controller
    nodes = [node for node in _left(move, snapshot) if not snapshot.node_info(node).node.spec.unschedulable]
    why = successor_of(pod, snapshot.objects.get).why
    budgets = tuple(budget.key for budget in snapshot.cluster_state.disruption_budgets.selecting(pod))
    return Departure(pod, tuple(nodes), f"{owner.kind} {owner.name}" if owner is not None else "", why, budgets)


def _left(move: Move, snapshot: Snapshot) -> list[str]:
    """The nodes that a pod has to leave: its own one, or all of a domain."""
    domains = move.domains
    if not domains:
        return [move.pod.node_name]
    return [node.name for node in snapshot.nodes if not domains.isdisjoint(node.labels.items())]
