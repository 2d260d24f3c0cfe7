"""The remedy for a node without the label that says at which site it is, such as its NVLink domain, as its pool has."""

from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np

from kubesched.controllers import is_site
from kubesched.documents import count
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.remedies.case import Case, Remedy, node_edit, with_label


def lacking_label(case: Case, where: BoolVector, key: str) -> Iterator[Remedy]:
    """The agent that labels a node does so where most nodes of its pool have the label; its value is not known.

    Args:
        key: of the label; nothing for one that does not say at which site a node is.
    """
    codes = case.nodes.codes(key)
    if not is_site(key) or not codes.any():
        return
    pools, every = case.pools, Counter(case.pools.values())
    having = Counter(pools[case.nodes.name(position)] for position in np.flatnonzero(codes).tolist())
    for node in case.at(where & (codes == 0)):
        pool = pools[node.name]
        if not pool or 2 * having[pool] <= every[pool]:
            continue
        there = codes[[pools[name] == pool for name in case.nodes.names]]
        for code in np.unique(there[there > 0]).tolist():
            value = case.nodes.label(key).values.values[code] or ""
            others = f"{having[pool]} of {count(every[pool], 'node')} of {pool} have"
            text = f"find out why {node.name} lacks the label {key}, which {others}: it fits if that is {value}"
            edit = node_edit(node.name, partial(with_label, key=key, value=value))
            yield Remedy(text, "nodeCondition", True, Change(edits=(edit,)), ladder=f"label {key}")
