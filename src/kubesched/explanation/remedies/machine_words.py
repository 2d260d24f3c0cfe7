"""What the label of a node says of its machine: no command makes it another one, so that such a label is never put on.

Rule: the labels of Kubernetes v1.36, of providers and of Karpenter v1; and the words of labels that people choose.
"""

from difflib import SequenceMatcher
from typing import Final

from kubesched.api import CAPACITY_LABELS, MACHINE_DOMAINS, SPOT_LABELS
from kubesched.controllers import capacity_type, is_site, label_words

OF_CAPACITY: Final = (*CAPACITY_LABELS, *SPOT_LABELS)
"""The labels of providers that say what is paid for a machine."""
OF_HOSTS: Final = frozenset({"hostname", "host"})
OF_PLACES: Final = frozenset({"zone", "region"})
OF_IMAGES: Final = frozenset({"arch", "os"}) | OF_HOSTS  # a program is built for one of them, or its data is there
OF_PRODUCTS: Final = OF_IMAGES | {"accelerator", "cpu", "family", "gpu", "instance", "machine", "product", "sku"}
_SPOT: Final = "spot"
_WORDS_OF_CAPACITY: Final = {"capacity", "capacitytype", "lifecycle", "preemptible", "provisioning", _SPOT}
_OF_POOLS: Final = {"agentpool", "node", "nodegroup", "nodepool", "pool"}
_OF_MACHINES: Final = OF_PRODUCTS | OF_PLACES | _WORDS_OF_CAPACITY | _OF_POOLS
"""Words of label keys that say what a machine is or where it is."""


def describes_machine(key: str, value: str = "") -> bool:
    """Whether a label says what a machine is, or is set by the cluster: then another value is not the node's."""
    domain = key.partition("/")[0]
    is_of_machine = domain.endswith(MACHINE_DOMAINS) or names_part(key, _OF_MACHINES) or is_site(key)
    return is_of_machine or bool(capacity(key, value))


def capacity(key: str, value: str) -> str:
    """What a label says is paid for a machine, in the words of prices, such as `spot`; empty where it says nothing."""
    if key in SPOT_LABELS:
        return _SPOT if value == "true" else ""
    known = capacity_type(value)
    return known if key in CAPACITY_LABELS or known == _SPOT else ""


def is_coined(key: str, value: str) -> bool:
    """Whether people choose a label for any node: the name of a pool without a domain, and no kind of machine."""
    is_given = "/" in key or is_site(key) or names_part(key, OF_PRODUCTS | _WORDS_OF_CAPACITY)
    return not (is_given or capacity(key, value))


def is_of_family(wanted: str, value: str) -> bool:
    """Whether a product has in its name what names another one: `NVIDIA-L4-SHARED` is an L4, and `NVIDIA-L40S` is not.

    Of a name it is the first word with a digit; of one without digits, the first word.
    """
    words = label_words(wanted)
    names = [word for word in words if not word.isalpha()] or words
    return bool(names) and names[0] in label_words(value)


def likeness(wanted: str, value: str) -> tuple[bool, int, float]:
    """How much a product is like another one, by the words of their names, and only then by their letters."""
    in_common = len({*label_words(wanted)} & {*label_words(value)})
    return is_of_family(wanted, value), in_common, SequenceMatcher(None, wanted, value).ratio()


def names_part(key: str, words: frozenset[str]) -> bool:
    """Whether one of some words is in the name of a label key."""
    return not words.isdisjoint(label_words(key.rpartition("/")[2]))
