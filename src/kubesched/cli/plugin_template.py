"""The two files that `kubesched plugin new` writes: a plugin with arguments, a filter and a score, and its test."""

import re
from typing import Final

_PLUGIN: Final = '''"""{plugin}: nodes that are labelled for a team are for the pods of that team."""

from kubesched import CycleState, NodeInfo, Plugin, PluginArgs, Pod, Status


class {name}(Plugin):
    """Keep pods off the nodes of other teams, and prefer the nodes of their own team."""
{declared}
    class Args(PluginArgs):
        """Arguments in pluginConfig.

        Attributes:
            label: the label of nodes and pods that names the team.
        """

        label: str = "team"

    args: Args

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        """Called for each node: can the pod run there?"""
        owner = node.labels.get(self.args.label)
        if owner in (None, pod.labels.get(self.args.label)):
            return Status.SUCCESS
        return Status.unresolvable("node(s) belonged to another team")

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        """Called for each node that fits: how good is it, from 0 to 100?"""
        return 100 if self.args.label in node.labels else 0
'''

_TEST: Final = '''"""Tests of {name}. Run them with: python -m pytest test_{module}.py"""

import pytest
from {module} import {name}

from kubesched import Status
from kubesched.testing import check_plugin, filter_all, make_node, make_pod, score_all, varied_scenario

NODES = [
    make_node("red-1", labels={{"team": "red"}}),
    make_node("blue-1", labels={{"team": "blue"}}),
    make_node("shared-1"),
]
POD = make_pod("web", labels={{"team": "red"}})


def test_the_nodes_of_other_teams_are_closed():
    assert filter_all({name}(), POD, NODES) == {{
        "red-1": Status.SUCCESS,
        "blue-1": Status.unresolvable("node(s) belonged to another team").by("{plugin}"),
        "shared-1": Status.SUCCESS,
    }}


def test_the_nodes_of_the_team_are_best():
    assert score_all({name}(), POD, NODES) == {{"red-1": 100, "shared-1": 0}}


def test_the_label_is_an_argument():
    args = {name}.Args(label="squad")
    assert score_all({name}(args), POD, NODES) == {{"red-1": 0, "blue-1": 0, "shared-1": 0}}


# The contract of all plugins. Extend the scenario until your rule accepts some nodes and rejects others.
SCENARIO = varied_scenario().extended(nodes=NODES, pending=[POD])


@pytest.mark.parametrize("check", check_plugin({name}, scenario=SCENARIO), ids=str)
def test_contract(check):
    check()
'''


def module_of(name: str) -> str:
    """The module for a class.

    Example:
        assert module_of("GPUTeams") == "gpu_teams"
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def class_of(plugin: str) -> str:
    """The class for a plugin whose name is not that of a class.

    Example:
        assert class_of("my-plugin") == "MyPlugin"
    """
    return "".join(word[:1].upper() + word[1:] for word in re.split("[._-]", plugin))


def plugin_files(name: str, plugin: str) -> dict[str, str]:
    """File -> text of a new plugin and of its test.

    Args:
        name: of the class.
        plugin: the name in configurations.
    """
    module = module_of(name)
    declared = "" if plugin == name else f'\n    name = "{plugin}"\n'
    texts = {f"{module}.py": _PLUGIN, f"test_{module}.py": _TEST}
    return {
        file: text.format(name=name, plugin=plugin, module=module, declared=declared) for file, text in texts.items()
    }
