"""Remedies for what nodes lack to run a pod: a feature of their kubelets."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

import msgspec

from kubesched.api import Node, edited
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.remedies.case import Case, Remedy, node_edit, node_words
from kubesched.plugins import needed_features
from kubesched.release import numbers_of


def kubelets(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Upgrade the kubelets of a pool that are older than the version, so that they declare what the pod needs."""
    names = needed_features(case.pod)
    for words, nodes in _by_pool(case, where):
        older = [node for node in nodes if _is_older(node, case.evaluation.snapshot.cluster_state.release.minor)]
        if len(older) == len(nodes):
            declare = partial(_declaring, names=names)
            change = Change(edits=tuple(node_edit(node.name, declare) for node in nodes))
            yield Remedy(f"upgrade the kubelets of {words}", "kubelet", True, change)


def _by_pool(case: Case, where: BoolVector) -> Iterator[tuple[str, list[Node]]]:
    """The nodes of a mask by their pools: the name of one that has no others, else the nodes."""
    sizes, pools = Counter(case.pools.values()), defaultdict(list)
    for node in case.at(where):
        pools[case.pools[node.name]].append(node.node)
    for pool, nodes in pools.items():
        yield pool if pool and sizes[pool] == len(nodes) else node_words(node.name for node in nodes), nodes


def _is_older(node: Node, minor: int) -> bool:
    numbers = numbers_of(node.status.node_info.kubelet_version)
    return numbers is not None and numbers[1] < minor


def _declaring(node: Node, names: tuple[str, ...]) -> Node:
    declared = dict.fromkeys((*(node.status.declared_features or ()), *names))
    return edited(node, status=msgspec.structs.replace(node.status, declared_features=tuple(declared)))
