"""Where nodes are: the regions of the cluster, and the labels of a node elsewhere."""

from collections.abc import Mapping

import numpy as np

from kubesched.api import REGION, ZONE
from kubesched.state import NodeInfo, Nodes


def values_of(nodes: Nodes, key: str) -> set[str]:
    """The values of a label on the nodes."""
    values = nodes.label(key).values.values
    return {value for code in np.unique(nodes.codes(key)).tolist() if (value := values[code]) is not None}


def is_of_other_region(nodes: Nodes, key: str, value: str) -> bool:
    """Whether a zone is of a region that no node is in, where the names of zones begin with those of regions."""
    regions = tuple(values_of(nodes, REGION))
    if key.rpartition("/")[2] != "zone" or not regions or value.startswith(regions):
        return False
    return all(zone.startswith(regions) for zone in values_of(nodes, ZONE))


def labels_there(template: NodeInfo, new: Mapping[str, str]) -> dict[str, str]:
    """The labels that a node like another one has elsewhere: new ones, and those of the same kind of place."""
    like = {key.rpartition("/")[2]: value for key, value in new.items()}
    return {old: like[kind] for old in template.labels if (kind := old.rpartition("/")[2]) in like} | dict(new)
