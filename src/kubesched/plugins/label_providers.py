"""Labels of a provider that no node here is of, and the labels that say the same here."""

from itertools import chain

from kubesched.api import CAPACITY_LABELS, POOL_LABELS, POOL_WORDS, PROVIDER_DOMAINS, SPOT_LABELS
from kubesched.documents import joined, listed
from kubesched.state import Nodes

_MAX_VALUES = 5
_OF_CAPACITY = (*CAPACITY_LABELS, *SPOT_LABELS)


def foreign_provider(key: str, nodes: Nodes) -> str:
    """Whose label a key is, such as `GKE`, where all nodes with labels of a provider are of others; empty otherwise."""
    if not (provider := _provider(key)):
        return ""
    here = set(map(_provider, _keys(nodes))) - {""}
    return provider if here and provider not in here else ""


def local_keys(key: str, nodes: Nodes) -> list[str]:
    """The labels of nodes that name pools, or what is paid for machines, as a provider's label does."""
    used = _keys(nodes)
    if key in POOL_LABELS:
        named = sorted(key for key in used if key.rpartition("/")[2] in POOL_WORDS)
        return [key for key in POOL_LABELS if key in used] or named
    return [other for other in _OF_CAPACITY if other in used] if key in _OF_CAPACITY else []


def local_words(key: str, nodes: Nodes) -> str:
    """What is used here instead: `pools here are named by pool (a, b)`; empty for nothing."""
    here = joined(f"{other} ({values_words(other, nodes)})" for other in local_keys(key, nodes))
    what = "pools here are named" if key in POOL_LABELS else "capacity types here are named"
    return f"{what} by {here}" if here else ""


def values_words(key: str, nodes: Nodes) -> str:
    """The values that nodes have for a label, without an empty one: `a, b`; empty where they have none."""
    values = {value for value in nodes.label(key).values.values if value}
    return listed(sorted(values), _MAX_VALUES)


def _provider(key: str) -> str:
    domain = key.partition("/")[0]
    return next((name for end, name in PROVIDER_DOMAINS.items() if domain.endswith(end)), "")


def _keys(nodes: Nodes) -> set[str]:
    return set(chain.from_iterable(node.labels for node in nodes))
