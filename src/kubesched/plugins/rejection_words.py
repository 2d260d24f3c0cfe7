"""Describes requirements, selectors and domains in words, for the details of a rejection."""

from collections.abc import Mapping, Sequence
from typing import Final

from kubesched.api import Node, ParsedNodeTerm, Requirement, Selector
from kubesched.documents import count, plural
from kubesched.plugins.label_providers import foreign_provider, local_words, values_words
from kubesched.state import Nodes, PodInfo

_MAX_NAMED: Final = 3


def unmet(requirement: Requirement, node: Node, nodes: Nodes) -> str:
    """A label of a node that does not meet a requirement, and what is wanted; other words where no node can meet it.

    Args:
        nodes: all of them.
    """
    key, has = requirement.key, node.labels.get(requirement.key)
    asks_for_nothing = requirement.operator == "In" and requirement.values == {""}
    if asks_for_nothing and (values := values_words(key, nodes)):
        return f"label {key} is wanted with an empty value, nodes have {values}"
    if has is None and (provider := foreign_provider(key, nodes)):
        here = local_words(key, nodes)
        return f"no node has {provider}'s label {key}, wanted: {_wish(requirement)}{f'; {here}' if here else ''}"
    return f"label {key} is {'absent' if has is None else repr(has)}, wanted: {_wish(requirement)}"


def missed_terms(terms: list[ParsedNodeTerm], node: Node, nodes: Nodes) -> list[str]:
    """What a node lacks of the term that it comes nearest to; nothing where it meets one."""
    return min((_misses(term, node, nodes) for term in terms), key=len, default=[])


def _misses(term: ParsedNodeTerm, node: Node, nodes: Nodes) -> list[str]:
    labels = [unmet(one, node, nodes) for one in term.requirements if not one.matches(node.labels)]
    return labels + [f"the name is not {_wish(field)}" for field in term.fields if not field.accepts(node.name)]


def _wish(requirement: Requirement) -> str:
    operator = requirement.operator
    if operator in ("Gt", "Lt"):
        return f"{'more' if operator == 'Gt' else 'less'} than {requirement.bound}"
    if operator in ("Exists", "DoesNotExist"):
        return "any value" if operator == "Exists" else "absent"
    values = " or ".join(repr(value) for value in sorted(requirement.values))
    return values if operator == "In" else f"not {values}"


def absent_words(key: str, nodes: Nodes) -> str:
    """A node lacks a topology key; other words where every node does."""
    return f"label {key} is absent" if (nodes.codes(key) > 0).any() else f"no node has the label {key}"


def domain_words(key: str, labels: Mapping[str, str]) -> str:
    """The domain that a node's labels put it in, such as `in zone a`; the node has the key."""
    short = key.rpartition("/")[2]
    return "on the node" if short == "hostname" else f"in {short} {labels[key]}"


def too_few_words(key: str, wanted: int, n_domains: int) -> str:
    """There are fewer domains than minDomains says."""
    short = key.rpartition("/")[2]
    there = f"{count(n_domains, short)} {plural(n_domains, 'has', 'have')} such nodes"
    return f"minDomains {wanted}, only {count(n_domains, 'such node') if short == 'hostname' else there}"


def pods_words(pods: Sequence[PodInfo]) -> str:
    """Placed pods with their nodes, and the verb after them in the singular or plural: `pod a/web (n1) has`."""
    named = [f"{info.pod.key} ({info.pod.node_name})" for info in pods[:_MAX_NAMED]]
    if len(pods) == 1:
        return f"pod {named[0]} has"
    last = f"{len(pods) - _MAX_NAMED} more" if len(pods) > _MAX_NAMED else named.pop()
    return f"pods {', '.join(named)} and {last} have"


def selector_words(selector: Selector) -> str:
    """A label selector as kubectl takes it, such as `app=db, tier in (a,b)`."""
    if selector.nothing:
        return "a selector that selects nothing"
    return ", ".join(_condition(r) for r in selector.requirements) or "any labels"


def _condition(requirement: Requirement) -> str:
    values = ",".join(sorted(requirement.values))
    match requirement.operator:
        case "In":
            return f"{requirement.key}={values}" if len(requirement.values) == 1 else f"{requirement.key} in ({values})"
        case "NotIn":
            return f"{requirement.key} not in ({values})"
        case "Exists":
            return requirement.key
        case _:
            return f"no {requirement.key}"
