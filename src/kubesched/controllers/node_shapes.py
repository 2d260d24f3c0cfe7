"""All the nodes that autoscalers may add to a cluster, whatever describes them."""

from collections.abc import Iterable, Sequence

from kubesched.api import KubeObject, NodeClaim, NodePool, Quantities
from kubesched.controllers.autoscaler_status import AutoscalerGroups, group_sizes
from kubesched.controllers.karpenter_pools import KarpenterPools, claimed_nodes, machine_types
from kubesched.controllers.node_shape import (
    MachineType,
    NodeShape,
    NodeShapes,
    ZonesOfNodes,
    limit_of,
    model_of,
    nodes_of,
)


def node_shapes(
    objects: Iterable[KubeObject], rows: Sequence[MachineType] = (), file: str = "", any_type: Quantities | None = None
) -> NodeShapes:
    """The shapes of the nodes that a cluster may have more of.

    Args:
        objects: of the cluster.
        rows: further types of machines. One that no NodePool allows and no node group is named after is a shape, too.
        file: what the rows are from.
        any_type: what some type of machine that a NodePool, or a group without nodes, may have is taken to offer; None
            for none.
    """
    cluster = list(objects)
    nodes = nodes_of(cluster)
    pools = [one for one in cluster if isinstance(one, NodePool)]
    claims = [one for one in cluster if isinstance(one, NodeClaim)]
    notes: list[str] = []
    places, types = ZonesOfNodes(nodes), machine_types(nodes, claims, rows)
    by_name = {row.name: row for row in rows}
    open_types = [] if any_type is None else [MachineType("", any_type, is_open=True)]
    karpenter = KarpenterPools(nodes, [*types.values(), *open_types], by_name, places)
    groups = AutoscalerGroups(nodes, by_name, places, next(iter(open_types), None))
    shapes = [
        *karpenter.shapes(pools),
        *claimed_nodes(claims, nodes, types),
        *groups.shapes(group_sizes(cluster, notes)),
    ]
    if pools and not rows:
        notes.append(
            "of Karpenter's types of machines only those of nodes and NodeClaims are known; a file can add others"
        )
    used = karpenter.used | groups.used
    shapes += [_of_row(row, file, places) for row in rows if row.name not in used]
    return NodeShapes(tuple(shapes), (*notes, *karpenter.notes, *groups.notes), places)


def _of_row(row: MachineType, file: str, places: ZonesOfNodes) -> NodeShape:
    zones = row.zones or places.zones
    n_more, limit = limit_of(row)
    model = model_of(row.name, row, {}, ())
    return NodeShape(row.name, file, model, zones, n_more=n_more, limit=limit, price=row.price, machine=row.name)
