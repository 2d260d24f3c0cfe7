"""How a pod makes way: it is deleted while the nodes that it has to leave are cordoned, and re-created elsewhere.

Kubernetes cannot move a pod, and kubectl cannot choose its node.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubesched.api import KubeObject, Patch, PatchTarget, Pod
from kubesched.controllers import CORDON
from kubesched.documents import joined, plural
from kubesched.explanation.kubectl import command_lines, deleting, recreating
from kubesched.plugins import untolerated_taints

_MAX_CORDONED: Final = 20
_SECONDS: Final = "10"


class Departure(msgspec.Struct, frozen=True):
    """How a pod leaves its node.

    Attributes:
        pod: the pod, on its node.
        nodes: those that it has to leave and that are not cordoned.
        owner: what creates it again, such as `ReplicaSet web-5d`; empty for nothing.
        why_lost: why it may not be re-created; empty if it is.
        budgets: `namespace/name` of the disruption budgets that select it; they allow its eviction now.
    """

    pod: Pod
    nodes: tuple[str, ...]
    owner: str = ""
    why_lost: str = ""
    budgets: tuple[str, ...] = ()


def moved_pod(text: str, departure: Departure, after: KubeObject | None) -> Iterator[Patch]:
    """The steps that move a pod to where it fits, or delete it.

    Args:
        after: the pod on its new node; None where it has none.
    """
    pod = departure.pod
    target = PatchTarget("v1", "Pod", pod.namespace, pod.name)
    hints = tuple(_hints(departure))
    if not isinstance(after, Pod) and departure.owner:
        yield Patch(text)  # the new pod would compete for the same node
    elif not isinstance(after, Pod):
        yield deleting(text, target, joined(("no controller creates it again", *hints)))
    elif len(departure.nodes) > _MAX_CORDONED or not untolerated_taints([CORDON], pod.tolerations):
        yield Patch(text)
    else:
        lines = tuple(_lines(text, departure, after, target, hints))
        yield Patch(text, target, "move", {"spec": {"nodeName": after.node_name}}, "merge", lines)


def _lines(text: str, departure: Departure, after: Pod, target: PatchTarget, hints: tuple[str, ...]) -> Iterator[str]:
    nodes, pod = departure.nodes, departure.pod
    fits = f"{after.node_name} has room for it"
    if nodes:
        yield from command_lines("kubectl", "cordon", *nodes, names=nodes, comment="until the pod is elsewhere")
    if departure.owner:
        again = f"{departure.owner} creates it again; kube-scheduler chooses the node, {fits}"
        yield from deleting(text, target, "; ".join((again, *hints))).commands
    else:
        again = f"no controller creates it again, so this does; kube-scheduler chooses the node, {fits}"
        body = {"spec": {"nodeName": None}}
        yield from recreating(text, target, body, "merge", "; ".join((again, *hints))).commands
    if nodes:
        look = (
            f"then look whether pods of {pod.namespace} have their nodes: kubectl get pods -n {pod.namespace} -o wide"
        )
        yield from command_lines("sleep", _SECONDS, comment=look)
        yield from command_lines("kubectl", "uncordon", *nodes, names=nodes)


def _hints(departure: Departure) -> Iterator[str]:
    """What is lost, and which disruption budgets a deletion ignores."""
    volumes = [one.name for one in departure.pod.spec.volumes or () if one.empty_dir]
    if volumes:
        yield f"what is in emptyDir {joined(volumes)} is lost"
    if departure.owner.startswith("Job "):
        yield "it starts over"
    if departure.owner and departure.why_lost:
        yield f"it may be lost: {departure.why_lost}"
    if departure.budgets:
        names = f"{plural(len(departure.budgets), 'budget')} {joined(departure.budgets)}"
        yield f"{names} {plural(len(departure.budgets), 'allows', 'allow')} it now, which a deletion does not ask"
