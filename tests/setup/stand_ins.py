"""Plugins that stand in for kube-scheduler's own: their names, extension points and arguments, without rules."""

from kubesched.config import PluginArgs
from kubesched.framework import HOOKS, Plugin, Status
from kubesched.plugins import args as in_tree_args
from kubesched.setup.registry import Registry

# Extension points as kube-scheduler v1.36 lists them.
POINTS = {
    "SchedulingGates": "preEnqueue",
    "PrioritySort": "queueSort",
    "NodeUnschedulable": "filter",
    "NodeName": "filter",
    "TaintToleration": "filter preScore score",
    "NodeAffinity": "preFilter filter preScore score",
    "NodePorts": "preFilter filter",
    "NodeResourcesFit": "preFilter filter preScore score",
    "VolumeRestrictions": "preFilter filter",
    "NodeVolumeLimits": "preFilter filter",
    "VolumeBinding": "preFilter filter preScore score reserve preBind",
    "VolumeZone": "preFilter filter",
    "PodTopologySpread": "preFilter filter preScore score",
    "InterPodAffinity": "preFilter filter preScore score",
    "DynamicResources": "preEnqueue preFilter filter postFilter score reserve preBind",
    "DefaultPreemption": "preEnqueue postFilter",
    "NodeResourcesBalancedAllocation": "preScore score",
    "ImageLocality": "score",
    "DefaultBinder": "bind",
    "NodeDeclaredFeatures": "preFilter filter",
}


def stand_in(name: str, points: str, args: type[PluginArgs] = PluginArgs) -> type[Plugin]:
    """A plugin class that takes part at these points and is content with everything."""
    hooks = {HOOKS[point][0]: lambda self, *given: Status.SUCCESS for point in points.split()}
    return type(name, (Plugin,), {**hooks, "Args": args})


IN_TREE = {
    name: stand_in(name, points, getattr(in_tree_args, f"{name}Args", PluginArgs)) for name, points in POINTS.items()
}


def registry(*outside: type[Plugin]) -> Registry:
    """The in-tree stand-ins, and plugins from outside the tree."""
    result = Registry(IN_TREE)
    for plugin_class in outside:
        result.register(plugin_class, "a test")
    return result
