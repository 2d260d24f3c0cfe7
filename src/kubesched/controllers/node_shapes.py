"""All the nodes that autoscalers may add to a cluster, whatever describes them."""

from collections.abc import Iterable, Sequence

from kubesched.api import KubeObject, NodeClaim, NodePool, Quantities
from kubesched.controllers.autoscaler_status import NodeGroups, group_sizes
from kubesched.controllers.karpenter_pools import KarpenterPools, claimed_nodes, machine_types
from kubesched.controllers.node_shape import MachineType, NodeShape, NodeShapes, ZonesOfNodes, model_of, nodes_of


def node_shapes(
    objects: Iterable[KubeObject], rows: Sequence[MachineType] = (), file: str = "", any_type: Quantities | None = None
) -> NodeShapes:
    """The shapes of the nodes that a cluster may have more of.

    Args:
        objects: of the cluster.
        rows: further types of machines. One that no NodePool allows and no node group is named after is a shape, too.
        file: what the rows are from.
        any_type: what some type of machine that a NodePool may have is taken to offer; None for none.
    """
    cluster = list(objects)
    nodes = nodes_of(cluster)
    pools = [one for one in cluster if isinstance(one, NodePool)]
    claims = [one for one in cluster if isinstance(one, NodeClaim)]
    notes: list[str] = []
    places, types = ZonesOfNodes(nodes), machine_types(nodes, claims, rows)
    if any_type is not None:
        types[""] = MachineType("", any_type)
    karpenter = KarpenterPools(nodes, types, places)
    groups = NodeGroups(nodes, {row.name: row for row in rows}, places)
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
    limit = "" if row.most is None else f"at most {row.most}"
    model = model_of(row.name, row, {}, row.taints)
    return NodeShape(row.name, file, model, zones, n_more=row.most, limit=limit, price=row.price)
