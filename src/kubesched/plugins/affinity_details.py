"""The details of InterPodAffinity's rejections: the pods in the way, with their nodes."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from kubesched.plugins.pod_terms import all_match, group_of
from kubesched.plugins.rejection_words import absent_words, domain_words, pods_words, selector_words
from kubesched.state import Has, Identity, NodeInfo, PodInfo, Snapshot, Term

_ABOVE_ALL: Final = 2**62  # higher than every priority


def missed_affinity(terms: Iterable[Term], node: NodeInfo, snapshot: Snapshot) -> Iterator[str]:
    """Each affinity term that no pod in the node's domain meets."""
    for term in terms:
        if term.topology_key not in node.labels:
            yield absent_words(term.topology_key, snapshot.nodes)
        elif not _matching(term, node, snapshot):
            yield f"no pod has {selector_words(term.selector)} {domain_words(term.topology_key, node.labels)}"


def broken_anti_affinity(terms: Iterable[Term], node: NodeInfo, snapshot: Snapshot) -> Iterator[str]:
    """Each anti-affinity term that pods in the node's domain break, with these pods."""
    for term in terms:
        pods = _matching(term, node, snapshot) if term.topology_key in node.labels else []
        if pods:
            where = domain_words(term.topology_key, node.labels)
            yield f"{pods_words(pods)} {selector_words(term.selector)} {where}"


def anti_affinity_of_others(
    me: Identity, topology_keys: Iterable[str], node: NodeInfo, snapshot: Snapshot
) -> Iterator[str]:
    """The pods in the node's domains whose own required anti-affinity matches the incoming pod."""
    my_labels = snapshot.namespace_labels(me.namespace)
    nodes, columns = snapshot.nodes, snapshot.columns
    for key in sorted(set(topology_keys) & node.labels.keys()):
        in_domain = np.flatnonzero(nodes.codes(key) == nodes.label(key).code(node.labels[key]))
        placed, _ = columns.pod_table.below(_ABOVE_ALL, nodes.all_rows[in_domain], columns.n_rows)
        pods = [
            info
            for info in placed.chosen(placed.having(Has.ANTI_AFFINITY)).infos
            if any(
                term.topology_key == key and term.matches(me.namespace, me.labels, my_labels)
                for term in info.terms.value.required_anti_affinity
            )
        ]
        if pods:
            yield f"{pods_words(pods)} anti-affinity against the pod {domain_words(key, node.labels)}"


def _matching(term: Term, node: NodeInfo, snapshot: Snapshot) -> list[PodInfo]:
    """The pods in the node's domain that a term matches, node by node; the node has the key."""
    nodes, key = snapshot.nodes, term.topology_key
    in_domain = nodes.codes(key) == nodes.label(key).code(node.labels[key])
    positions = np.flatnonzero(in_domain & (nodes.take(group_of(snapshot, term).counts) > 0))
    return [
        info
        for position in positions.tolist()
        for info in nodes.pods(position)
        if all_match((term,), info.identity.value)
    ]
