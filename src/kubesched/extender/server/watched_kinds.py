"""What the plugins of an extender read of the cluster, and whether requests alone can give it to them."""

from collections.abc import Iterable
from types import CodeType
from typing import Final

from kubesched.errors import InputError
from kubesched.framework import HOOKS, DependsOn, Plugin, Profile

__all__ = ["check_needs_no_watch", "watched_kinds"]

_POD_NAMES: Final = frozenset(("n_pods", "non_zero_requested", "pods", "port_used", "requested"))
"""Attributes of nodes and tables that are made of the pods there."""


def watched_kinds(profiles: Iterable[Profile]) -> tuple[str, ...]:
    """The kinds to watch: nodes and pods, and whatever the plugins say that they read."""
    read = dict.fromkeys(kind for profile in profiles for plugin in profile.plugins for kind in plugin.reads)
    return tuple(dict.fromkeys(("Node", "Pod", *read)))


def check_needs_no_watch(profiles: Iterable[Profile]) -> None:
    """Refuse plugins that read more than the nodes that requests show.

    Raises:
        InputError: a plugin needs a watch.
    """
    for profile in profiles:
        for plugin in profile.plugins:
            if what := _reads_beyond_nodes(plugin):
                raise InputError(
                    f"plugin {plugin.name} reads {what}, which kube-scheduler's requests do not carry; start the "
                    "extender with --kubeconfig, or --in-cluster, so that it watches the cluster itself"
                )


def _reads_beyond_nodes(plugin: Plugin) -> str:
    """What a plugin reads that only a watch gives, as far as it can be seen; empty for nothing."""
    if kinds := [kind for kind in plugin.reads if kind != "Node"]:
        return " and ".join(kinds)
    if plugin.depends_on in (DependsOn.ROW, DependsOn.CLUSTER):
        return f"the pods on nodes (depends_on is {plugin.depends_on})"
    for hooks in HOOKS.values():
        for hook in hooks:
            if plugin.defines(hook) and (names := _attributes_in(type(plugin), hook) & _POD_NAMES):
                return f"the pods on nodes ({hook} uses {', '.join(sorted(names))})"
    return ""


def _attributes_in(plugin_class: type[Plugin], hook: str) -> set[str]:
    """The attributes that the code of a hook names, with those of functions inside it."""
    code = getattr(getattr(plugin_class, hook), "__code__", None)
    found: set[str] = set()
    pending = [code]
    while pending:
        one = pending.pop()
        if isinstance(one, CodeType):
            found.update(one.co_names)
            pending.extend(constant for constant in one.co_consts if isinstance(constant, CodeType))
    return found
