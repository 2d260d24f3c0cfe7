"""Labels that say at which site a machine is: in which rack, block of a network or NVLink domain."""

import re
from typing import Final

import msgspec

from kubesched.api import HOSTNAME, Node, edited

SITE_WORDS: Final = frozenset(
    (
        *("block", "cage", "chassis", "clique", "imex", "island", "leaf", "nvlink", "rack", "rail", "row", "spine"),
        *("subblock", "superblock", "superpod", "switch", "topology"),
    )
)
"""Words of label keys that say where in a building, a rack or a network a machine is."""
_NO_SITES: Final = frozenset({"arch", "host", "hostname", "os", "region", "zone"})
_TOPOLOGY: Final = "topology."  # in the domain of a label
_WORD: Final = re.compile("[a-z0-9]+")


def is_site(key: str) -> bool:
    """Whether a label says in which rack, block of a network or NVLink domain a machine is.

    A zone or a region can be chosen for a new machine, such a place cannot.

    Example:
        assert is_site("nvidia.com/gpu.clique") and not is_site("topology.kubernetes.io/zone")
    """
    domain, sign, name = key.rpartition("/")
    words = label_words(name)
    is_named_so = not SITE_WORDS.isdisjoint(words) or (bool(sign) and _TOPOLOGY in domain)
    return is_named_so and _NO_SITES.isdisjoint(words)


def label_words(text: str) -> list[str]:
    """The words of the name of a label, or of its value, in lower case."""
    return _WORD.findall(text.lower())


def off_site(node: Node) -> Node:
    """The model of new nodes without what is of the one machine: its sites, and its name in labels of drivers."""
    own = [key for key, value in node.labels.items() if is_site(key) or (value == node.name and key != HOSTNAME)]
    if not own:
        return node
    kept = {key: value for key, value in node.labels.items() if key not in own}
    return edited(node, metadata=msgspec.structs.replace(node.metadata, labels=kept))
