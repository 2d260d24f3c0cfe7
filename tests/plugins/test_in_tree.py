"""The table of in-tree plugins against the configuration that names them and against upstream's extension points."""

import pytest

from kubesched.config import ARGS_PLUGINS, DEFAULT_PLUGINS, PluginArgs
from kubesched.plugins import IN_TREE_PLUGINS

# Extension points of kube-scheduler v1.36; normalising belongs to score, AddPod and RemovePod to preFilter.
EXTENDS = {
    "SchedulingGates": {"preEnqueue"},
    "PrioritySort": {"queueSort"},
    "NodeUnschedulable": {"filter"},
    "NodeName": {"filter"},
    "TaintToleration": {"filter", "preScore", "score"},
    "NodeAffinity": {"preFilter", "filter", "preScore", "score"},
    "NodePorts": {"preFilter", "filter"},
    "NodeResourcesFit": {"preFilter", "filter", "preScore", "score"},
    "VolumeRestrictions": {"preFilter", "filter"},
    "NodeVolumeLimits": {"preFilter", "filter"},
    "VolumeBinding": {"preFilter", "filter", "preScore", "score", "reserve", "preBind"},
    "VolumeZone": {"preFilter", "filter"},
    "PodTopologySpread": {"preFilter", "filter", "preScore", "score"},
    "InterPodAffinity": {"preFilter", "filter", "preScore", "score"},
    "DynamicResources": {"preEnqueue", "preFilter", "filter", "postFilter", "score", "reserve", "preBind"},
    "DefaultPreemption": {"preEnqueue", "postFilter"},
    "NodeResourcesBalancedAllocation": {"preScore", "score"},
    "ImageLocality": {"score"},
    "DefaultBinder": {"bind"},
    "NodeDeclaredFeatures": {"preFilter", "filter"},
}


def test_the_table_is_in_the_order_of_the_default_configuration():
    assert tuple(IN_TREE_PLUGINS) == DEFAULT_PLUGINS.multi_point.enabled_names


@pytest.mark.parametrize("name", IN_TREE_PLUGINS)
def test_a_plugin_takes_part_where_upstreams_does(name: str):
    assert IN_TREE_PLUGINS[name].extension_points() == EXTENDS[name]


@pytest.mark.parametrize("name", IN_TREE_PLUGINS)
def test_exactly_the_plugins_with_arguments_declare_some(name: str):
    assert (IN_TREE_PLUGINS[name].Args is not PluginArgs) == (name in ARGS_PLUGINS)
