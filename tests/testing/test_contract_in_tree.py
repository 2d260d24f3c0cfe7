"""The in-tree plugins keep the contract that outside plugins are held to."""

import pytest

from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.testing import check_plugin

CHECKS = [
    pytest.param(check, id=f"{name}-{check}")
    for name, plugin_class in IN_TREE_PLUGINS.items()
    for check in check_plugin(plugin_class)
]


@pytest.mark.filterwarnings("ignore:.*its filter accepts every pod:UserWarning")
@pytest.mark.parametrize("check", CHECKS)
def test_in_tree_plugins_keep_the_contract(check):
    check()
