import asyncio

import pytest

from kubesched.errors import PluginError
from kubesched.framework import Plugin
from kubesched.scheduler import build_frameworks, start_plugins, stop_plugins
from kubesched.state import ClusterState
from kubesched.testing import minimal_profile


class Plain(Plugin):
    def start(self, handle):
        self.seen = [handle]

    def stop(self):
        self.seen.append("stopped")


class Waiting(Plugin):
    async def start(self, handle):
        await asyncio.sleep(0)
        self.seen = [handle]

    async def stop(self):
        await asyncio.sleep(0)
        self.seen.append("stopped")


def frameworks_of(*plugins: Plugin) -> list:
    return list(build_frameworks([minimal_profile(*plugins)], ClusterState()).values())


@pytest.mark.parametrize("plugin_class", [Plain, Waiting])
def test_plugins_start_with_their_handle_and_stop(plugin_class):
    plugin = plugin_class()
    frameworks = frameworks_of(plugin)
    start_plugins(frameworks, asyncio.run)
    stop_plugins(frameworks, asyncio.run)
    assert plugin.seen == [frameworks[0].handle, "stopped"]


def test_a_plugin_that_does_not_start_is_named():
    class Broken(Plain):
        def start(self, handle):
            raise OSError("no such host")

    with pytest.raises(PluginError, match=r'^starting plugin "Broken": OSError: no such host$'):
        start_plugins(frameworks_of(Broken()), asyncio.run)


def test_one_plugin_that_does_not_stop_keeps_no_other_from_stopping():
    class Broken(Plain):
        def stop(self):
            raise OSError("too late")

    plain = Plain()
    frameworks = frameworks_of(Broken(), plain)
    start_plugins(frameworks, asyncio.run)
    stop_plugins(frameworks, asyncio.run)
    assert plain.seen[-1] == "stopped"
