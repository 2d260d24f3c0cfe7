"""Remedies for what nodes lack to run a pod: a feature of their kubelets, or the CSI driver of a volume."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial

import msgspec
import numpy as np

from kubesched.api import CSINode, CSINodeDriver, Node, ObjectMeta, edited
from kubesched.documents import joined, plural
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.remedies.case import Case, Remedy, node_edit, node_words
from kubesched.plugins import NodeVolumeLimits, needed_features
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


def csi_drivers(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Run the CSI drivers of the pod's volumes on the nodes of a pool that lack one."""
    asked = case.evaluation.asked.get("NodeVolumeLimits")
    if asked is None or not isinstance(asked.plugin, NodeVolumeLimits):
        return
    lacking = list(asked.plugin.lacking_drivers(case.pod, case.info.volumes, case.nodes))
    drivers = list(dict.fromkeys(driver for driver, lacks in lacking if (lacks & where).any()))
    lacks_any = sum((lacks for _, lacks in lacking), np.zeros(len(case.nodes), dtype=np.bool_))
    for words, nodes in _by_pool(case, where & lacks_any):
        edits = (Edit("CSINode", node.name, partial(_running, name=node.name, drivers=drivers)) for node in nodes)
        text = f"run the CSI {plural(len(drivers), 'driver')} {joined(drivers)} on {words}"
        yield Remedy(text, "csiDriver", True, Change(edits=tuple(edits)))


def _running(old: CSINode | None, name: str, drivers: Sequence[str]) -> CSINode:
    """The CSINode of a node with drivers that say nothing of limits."""
    known = old or CSINode(metadata=ObjectMeta(name=name, uid=f"csi-{name}"))
    there = known.spec.drivers or ()
    names = {one.name for one in there}
    more = tuple(CSINodeDriver(driver) for driver in drivers if driver not in names)
    return edited(known, spec=msgspec.structs.replace(known.spec, drivers=(*there, *more)))


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
