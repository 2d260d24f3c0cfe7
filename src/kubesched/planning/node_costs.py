"""What the nodes of a drain cost, so that their price is saved once they are gone."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from kubesched.api import KubeObject, Node
from kubesched.controllers import Prices, price_of, priced_as
from kubesched.planning.drain_result import Drain, NodesCost


def with_cost(result: Drain, cluster: Iterable[KubeObject], prices: Prices) -> Drain:
    """A drain with the cost of its nodes.

    Args:
        cluster: with these nodes.
    """
    nodes = [one for one in cluster if isinstance(one, Node) and one.name in result.nodes]
    known = [price for node in nodes if (price := price_of(node.labels, prices)) is not None]
    unpriced = Counter(priced_as(node.labels, prices) for node in nodes if price_of(node.labels, prices) is None)
    return msgspec.structs.replace(result, cost=NodesCost(sum(known), dict(unpriced)))
