"""The remedy of one more node of a pool of an autoscaler, which may have no node now."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from kubesched.api import Node, Quantities, is_extended_resource, parse_quantity, whole_units
from kubesched.controllers import NodeShape, node_shapes
from kubesched.documents import count, joined
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.explanation.remedies.new_node import with_node
from kubesched.explanation.remedies.other_devices import other_devices
from kubesched.explanation.remedies.short_amounts import at_least
from kubesched.explanation.remedies.taints import toleration_of
from kubesched.plugins import untolerated_taints

_DESCRIBING: Final = ("NodePool", "NodeClaim", "v1/configmaps")
_MAX_SHAPES: Final = 12
_BY_SIZE: Final = ("cpu", "memory")
_PODS: Final = 110


def pools(case: Case) -> Iterator[tuple[Remedy, ...]]:
    """A node of each shape that is large enough and has no device that the pod does not ask for; of the smallest first.

    One that comes without anybody's doing is before one that a limit forbids. After them come NodePools that may have
    a type of machine which is not known, if it is large enough.
    """
    described = [one for kind in _DESCRIBING for one in case.objects(kind)]
    if not described:
        return
    known = node_shapes([*(info.node for info in case.nodes), *described], any_type=_enough(case))
    fitting = [one for one in known.shapes if _is_made_for(case, one.model) and _is_likely(case, one)]
    fitting.sort(
        key=lambda shape: (shape.is_open, shape.n_more == 0, *(_amount(shape.model, name) for name in _BY_SIZE))
    )
    for shape in islice(fitting, _MAX_SHAPES):
        for i, model in enumerate(shape.models_for(case.pod, known.places)):
            text = f"{_instruction(case, shape)}{f' in zone {shape.zones[i]}' if i else ''}"
            effort = Effort.OPEN if shape.is_coming else None
            node = Remedy(text, "addNode", True, with_node(case, model), ladder="addNode", effort=effort)
            blocking = tuple(untolerated_taints(model.taints, case.pod.tolerations))
            if not blocking:
                yield (node,)
            elif case.chosen is not None or any(map(is_extended_resource, case.info.requests.value.wanted)):
                yield (toleration_of(case, blocking), node)


def _enough(case: Case) -> Quantities:
    """What a node has to have for the pod, with a pod of each DaemonSet."""
    wanted = case.info.requests.value.wanted
    held = [info.requests.value.held for info in case.placed.daemon_sets.values()]
    enough = {name: amount + sum(one.get(name, 0) for one in held) for name, amount in wanted.items()}
    return {**{name: f"{n}m" if name == "cpu" else n for name, n in enough.items()}, "pods": _PODS}


def _is_likely(case: Case, shape: NodeShape) -> bool:
    """Whether unknown machines may be meant: those of a NodePool, or of a node group that the pod names.

    None is guessed to have a device where all nodes have another one of its kind.
    """
    if not shape.is_open:
        return True
    wanted = case.pod.node_selector.items()
    is_meant = _is_of_karpenter(shape) or not wanted.isdisjoint(shape.model.labels.items())
    return is_meant and not other_devices(case)


def _is_of_karpenter(shape: NodeShape) -> bool:
    return shape.source.startswith("NodePool ")


def _instruction(case: Case, shape: NodeShape) -> str:
    if shape.is_coming:
        return f"wait for {shape.source}: its node is not there yet"
    wanted = joined(f"{at_least(name, n)[0]} {name}" for name, n in case.info.requests.value.wanted.items() if n)
    if shape.is_open and shape.note and _is_of_karpenter(shape):
        return f"allow a larger instance-type in {shape.source} ({shape.note}), one with {wanted or 'room'} for pods"
    whose = "one of its types of machines has" if _is_of_karpenter(shape) else "its machines have"
    has = f", if {whose} {wanted or 'room'} for pods" if shape.is_open else ""
    if shape.n_more == 0:
        return f"raise the limit of {shape.source} ({shape.limit}){has}"
    at = f"at {count(shape.n_now, 'node')}"
    details = "; ".join(filter(None, [", ".join(filter(None, [shape.machine, at])), shape.limit, shape.note]))
    return f"scale up {shape.source} ({details}){has}"


def _is_made_for(case: Case, model: Node) -> bool:
    wanted = case.info.requests.value.wanted
    offered = model.status.allocatable or {}
    others = [name for name in offered if is_extended_resource(name) and not wanted.get(name)]
    return not any(_amount(model, name) for name in others) and all(
        amount <= _amount(model, name) for name, amount in wanted.items()
    )


def _amount(model: Node, resource: str) -> int:
    return whole_units(resource, parse_quantity((model.status.allocatable or {}).get(resource, 0)))
