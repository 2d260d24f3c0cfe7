"""Finds nodes by their names, which people and tables shorten, and by their labels."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final

from kubesched.api import KubeObject, Node
from kubesched.documents import did_you_mean, listed
from kubesched.errors import InputError
from kubesched.naming.label_hints import selected

_KIND: Final = re.compile(r"(?:nodes?|no)[/ ]", re.IGNORECASE)  # `node/NAME`, and `Node NAME` of tables
_FEWEST: Final = 2
_WORTH_IT: Final = (
    9  # characters; `kind-` and `ip-10-0-` stay, because names without them are not recognised; neither are numbers
)


def shared_ends(names: Iterable[str]) -> tuple[str, str]:
    """What tables leave out of the names of some nodes: the beginning up to a dash, and the end from the first dot on.

    Both are empty where not all names share them. A short beginning stays, and so does one without which a name would
    be a number.

    Example:
        assert shared_ends(["gke-prod-pool-a1.example", "gke-prod-pool-b2.example"]) == ("gke-prod-pool-", ".example")
    """
    distinct = set(names)
    if len(distinct) < _FEWEST:
        return "", ""
    domains = {_domain(name) for name in distinct}
    end = domains.pop() if len(domains) == 1 else ""
    hosts = [name.removesuffix(end) for name in distinct]
    first, last = min(hosts), max(hosts)
    n_shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    start = first[: first.rfind("-", 0, n_shared) + 1]
    is_number = any(host.removeprefix(start).isdecimal() for host in hosts)
    return (start if len(start) >= _WORTH_IT and not is_number else ""), end


def nodes_named(objects: Iterable[KubeObject], names: Iterable[str]) -> list[Node]:
    """The nodes of these names, in the order of the names, each once; see `full_names`.

    Args:
        names: a single name stands for a list of one.
    Raises:
        InputError: as from `full_names`.
    """
    nodes = {obj.name: obj for obj in objects if isinstance(obj, Node)}
    return [nodes[name] for name in full_names(nodes, [names] if isinstance(names, str) else names)]


def full_names(nodes: Collection[str], typed: Iterable[str], option: str = "") -> list[str]:
    """The full names of the nodes that some names mean, in the order of these names, each once.

    A name may be cut at its first dot, and may be written `node/NAME`, as `kubectl get nodes -o name` prints it, or
    `Node NAME`. It may lack what tables leave out: see `shared_ends`.

    Args:
        nodes: the names of all nodes.
        option: which one has the names, such as `--node: `.
    Raises:
        InputError: there is no such node, or a short name belongs to several.
    """
    by_host: dict[str, list[str]] = {}
    for name in nodes:
        by_host.setdefault(name.partition(".")[0], []).append(name)
    meant: dict[str, None] = {}
    for name in (_KIND.sub("", given, count=1) if _KIND.match(given) else given for given in typed):
        matches = [name] if name in nodes else by_host.get(name) or _as_printed(name, nodes)
        if len(matches) > 1:
            write = f"write the full name, such as {matches[0]}"
            raise InputError(f"{option}several nodes have the name {name}; {write}")
        if not matches:
            near = did_you_mean(name, [*nodes, *by_host]) or f"found: {listed(nodes, first=5) or 'no nodes'}"
            raise InputError(f"{option}no node has the name {name}; {near}")
        meant[matches[0]] = None
    return list(meant)


def nodes_matching(objects: Iterable[KubeObject], selector: str) -> list[Node]:
    """The nodes that a label selector selects, written as `kubectl get nodes -l` takes it.

    Raises:
        InputError: the selector does not parse, or it selects no node.
    """
    nodes = [obj for obj in objects if isinstance(obj, Node)]
    return selected(nodes, selector, f"selector {selector}", f" selects none of the {len(nodes)} nodes", "node")


def chosen_nodes(objects: Sequence[KubeObject], names: Iterable[str]) -> list[str]:
    """The full names of the nodes that names and label selectors choose, each once.

    Raises:
        InputError: as from `nodes_named` and `nodes_matching`.
    """
    chosen: dict[str, None] = {}
    for name in names:
        find: Callable[..., list[Node]] = nodes_matching if is_selector(name) else nodes_named
        chosen |= dict.fromkeys(node.name for node in find(objects, name))
    return list(chosen)


def is_selector(text: str) -> bool:
    """Whether a text chooses nodes by their labels: no name has these characters."""
    return any(sign in text for sign in "=!<>( ") and not _KIND.match(text)


def _domain(name: str) -> str:
    """The end of a name from its first dot on."""
    return name[len(name.partition(".")[0]) :]


def _as_printed(short: str, nodes: Collection[str]) -> list[str]:
    """The nodes that a table may have shortened to a name: of a table of all nodes, or else of a table of some."""
    start, end = shared_ends(nodes)
    whole = f"{start}{short}{end}"
    return [whole] if whole in nodes else list(_shortened_to(short, nodes))


def _shortened_to(short: str, nodes: Iterable[str]) -> Iterator[str]:
    ending = f"-{short}"
    for name in () if short.isdecimal() else nodes:
        for whole in (name, name.partition(".")[0]):
            if whole.endswith(ending) and len(whole) - len(short) >= _WORTH_IT:
                yield name
                break
