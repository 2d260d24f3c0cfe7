"""Finds which kinds the plugins of an extender read, and whether requests alone contain them."""

import inspect
import sys
from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import Final

from kubesched.errors import InputError
from kubesched.framework import HOOKS, DependsOn, Plugin, Profile, kinds_read

_POD_NAMES: Final = frozenset(("held_on", "n_pods", "non_zero_requested", "pods", "port_used", "requested"))
"""Attributes of nodes and tables that are made of the pods there."""
_ASKS_FOR_PODS: Final = {"handle", "'Pod'"}
"""What code names that asks the handle for pods."""
_FILTER_POINTS: Final = ("preFilter", "filter")
_ALL_HOOKS: Final = tuple(hook for hooks in HOOKS.values() for hook in hooks)


def watched_kinds(profiles: Iterable[Profile], *, bind: bool = False) -> tuple[str, ...]:
    """The kinds to watch: nodes, the kinds that the plugins declare in `reads`, and pods if some plugin needs them.

    Pods are most of what a watch brings, in a busy cluster more than the calls. They are left out where every plugin
    depends on nodes alone, no plugin takes part in preemption, whose victims come by uid, and the extender does not
    bind.

    Args:
        bind: whether the extender binds.
    Raises:
        PluginDefinitionError: a plugin reads a kind that cannot be watched.
    """
    profiles = tuple(profiles)
    kinds = {"Node": None}
    if bind:
        kinds["Pod"] = None
    for profile in profiles:
        for plugin in profile.plugins:
            if plugin.depends_on is not DependsOn.NODE or plugin.defines("preempt") or _reads_beyond_nodes(plugin):
                kinds["Pod"] = None
    kinds |= dict.fromkeys(kinds_read(plugin for profile in profiles for plugin in profile.plugins))
    return tuple(kinds)


def check_needs_no_watch(profiles: Iterable[Profile]) -> None:
    """Refuse plugins that read more than the nodes that requests show.

    Raises:
        InputError: a plugin needs a watch.
    """
    for profile in profiles:
        for plugin in profile.plugins:
            if what := _reads_beyond_nodes(plugin):
                raise InputError(
                    f"plugin {plugin.name} reads {what}, which kube-scheduler's requests do not have; start the "
                    "extender with --kubeconfig, or --in-cluster, so that it watches the cluster itself"
                )


def counting_filters(profiles: Iterable[Profile]) -> list[str]:
    """The names of plugins whose filters read pods, as far as it can be seen; `reads = ("Pod",)` declares it, too."""
    hooks = tuple(hook for point in _FILTER_POINTS for hook in HOOKS[point])
    filtering = [plugin for profile in profiles for point in _FILTER_POINTS for plugin in profile.points[point]]
    return sorted({plugin.name for plugin in filtering if "Pod" in plugin.reads or _reads_pods(plugin, hooks)})


def _reads_beyond_nodes(plugin: Plugin) -> str:
    """What a plugin reads that only a watch gives, as far as it can be seen; empty for nothing."""
    if kinds := [kind for kind in plugin.reads if kind != "Node"]:
        return " and ".join(kind.removesuffix("?") for kind in kinds)
    return _reads_pods(plugin, _ALL_HOOKS)


def _reads_pods(plugin: Plugin, hooks: Iterable[str]) -> str:
    """What a plugin reads of pods in some hooks, as far as it can be seen; empty for nothing."""
    if plugin.depends_on in (DependsOn.ROW, DependsOn.CLUSTER):
        return f"the pods on nodes (depends_on is {plugin.depends_on})"
    for hook in filter(plugin.defines, hooks):
        named = _names_in(type(plugin), hook)
        if names := named & _POD_NAMES:
            return f"the pods on nodes ({hook} uses {', '.join(sorted(names))})"
        if named >= _ASKS_FOR_PODS:
            return f"pods ({hook} reads them from its handle)"
    return ""


def _names_in(plugin_class: type[Plugin], hook: str) -> set[str]:
    """The names in the code of a hook and of the functions in its module that it calls: attributes and quoted texts."""
    names: set[str] = set()
    pending: list[object] = [_function(plugin_class, hook)]
    while pending:
        code = getattr(pending[-1], "__code__", pending.pop())
        if isinstance(code, CodeType):
            new = set(code.co_names) - names
            names |= new
            names.update(repr(constant) for constant in code.co_consts if isinstance(constant, str))
            pending.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))
            pending.extend(_function(plugin_class, name) for name in new)
    return names


def _function(plugin_class: type[Plugin], name: str) -> object:
    """The method of a plugin's class with a name, or the function in the plugin's own modules; else None."""
    modules = {one.__module__ for one in plugin_class.__mro__} - {Plugin.__module__, object.__module__}
    for place in (plugin_class, *(sys.modules.get(module) for module in modules)):
        member = inspect.getattr_static(place, name, None)
        member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if isinstance(member, FunctionType) and member.__module__ in modules:
            return inspect.unwrap(member)
    return None
