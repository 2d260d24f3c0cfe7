"""The remedy of one more node of a pool that an autoscaler knows, which may have no node now."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from kubesched.api import Node, is_extended_resource, parse_quantity, whole_units
from kubesched.controllers import NodeShape, node_shapes
from kubesched.documents import count
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.explanation.remedies.new_node import with_node

_DESCRIBING: Final = ("NodePool", "NodeClaim", "v1/configmaps")
_MAX_SHAPES: Final = 12


def pools(case: Case) -> Iterator[tuple[Remedy]]:
    """A node of each shape that is large enough and has no device that the pod does not ask for; of the smallest first.

    One that comes without anybody's doing is before one that a limit forbids.
    """
    described = [one for kind in _DESCRIBING for one in case.objects(kind)]
    if not described:
        return
    known = node_shapes([*(info.node for info in case.nodes), *described])
    fitting = [shape for shape in known.shapes if _is_made_for(case, shape.model)]
    fitting.sort(key=lambda shape: (shape.n_more == 0, _amount(shape.model, "cpu"), _amount(shape.model, "memory")))
    for shape in islice(fitting, _MAX_SHAPES):
        for i, model in enumerate(shape.models_for(case.pod, known.places)):
            where = f" in zone {shape.zones[i]}" if i else ""
            text = f"{_instruction(shape)}{where}"
            effort = Effort.OPEN if shape.is_coming else None
            yield (Remedy(text, "addNode", True, with_node(case, model), ladder="addNode", effort=effort),)


def _instruction(shape: NodeShape) -> str:
    if shape.is_coming:
        return f"wait for {shape.source}: its node is not there yet"
    if shape.n_more == 0:
        return f"raise the limit of {shape.source} ({shape.limit})"
    machine = shape.name.partition(": ")[2]
    at = f"at {count(shape.n_now, 'node')}"
    details = "; ".join(filter(None, [f"{machine}, {at}" if machine else at, shape.limit, shape.note]))
    return f"scale up {shape.source} ({details})"


def _is_made_for(case: Case, model: Node) -> bool:
    wanted = case.info.requests.value.wanted
    offered = model.status.allocatable or {}
    others = [name for name in offered if is_extended_resource(name) and not wanted.get(name)]
    return not any(_amount(model, name) for name in others) and all(
        amount <= _amount(model, name) for name, amount in wanted.items()
    )


def _amount(model: Node, resource: str) -> int:
    return whole_units(resource, parse_quantity((model.status.allocatable or {}).get(resource, 0)))
