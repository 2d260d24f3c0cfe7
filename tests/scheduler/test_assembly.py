import asyncio
import sys

import pytest

from kubesched.errors import PluginError
from kubesched.framework import Plugin
from kubesched.scheduler import (
    build_frameworks,
    start_plugins,
    stop_plugins,
)
from kubesched.setup import set_up
from kubesched.state import ClusterState
from kubesched.testing import minimal_profile


def test_columns_and_relations_share_one_budget() -> None:
    cluster_state = ClusterState()
    (framework,) = build_frameworks(set_up(None).profiles, cluster_state, cache_bytes=1 << 20).values()
    assert (framework.cache.budget, cluster_state.groups.budget) == (3 << 18, 1 << 18)


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
    asyncio.run(start_plugins(frameworks))
    asyncio.run(stop_plugins(frameworks))
    assert plugin.seen == [plugin.handle, "stopped"]
    assert (plugin.handle.plugin, plugin.handle.profile) == (plugin_class.__name__, "default-scheduler")


def test_a_plugin_that_does_not_start_is_named():
    class Broken(Plain):
        def start(self, handle):
            raise OSError("no such host")

    with pytest.raises(PluginError, match=r'^starting plugin "Broken": OSError: no such host \(test_assembly'):
        asyncio.run(start_plugins(frameworks_of(Broken())))


def test_plugins_that_started_before_one_that_does_not_are_stopped():
    class Broken(Plain):
        def start(self, handle):
            raise OSError("no such host")

    plain, waiting, late = Plain(), Waiting(), Plain()
    late.seen = []
    with pytest.raises(PluginError, match="no such host"):
        asyncio.run(start_plugins(frameworks_of(plain, waiting, Broken(), late)))
    assert (plain.seen[1:], waiting.seen[1:], late.seen) == (["stopped"], ["stopped"], [])


class Logged(Plugin):
    """Appends to a shared log."""

    def __init__(self, name: str, log: list[str], *, fails: bool = False, is_slow: bool = False) -> None:
        self.label, self.log, self.fails, self.is_slow = name, log, fails, is_slow

    async def start(self, handle):
        self.log.append(f"start {self.label}")
        if self.fails:
            raise OSError("no such host")
        if self.is_slow:
            await asyncio.Event().wait()

    def stop(self):
        self.log.append(f"stop {self.label}")


def test_a_driver_that_stops_after_a_failed_start_stops_nothing_twice():
    log: list[str] = []
    frameworks = frameworks_of(Logged("a", log), Logged("b", log, fails=True), Logged("c", log))
    with pytest.raises(PluginError, match="no such host"):
        asyncio.run(start_plugins(frameworks))
    asyncio.run(stop_plugins(frameworks))
    assert log == ["start a", "start b", "stop a"]


def test_plugins_that_were_not_started_are_not_stopped():
    log: list[str] = []
    asyncio.run(stop_plugins(frameworks_of(Logged("a", log))))
    assert log == []


def test_after_a_start_that_was_cancelled_only_those_that_started_are_stopped():
    log: list[str] = []
    frameworks = frameworks_of(Logged("a", log), Logged("b", log, is_slow=True))

    async def story():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await start_plugins(frameworks)
        await stop_plugins(frameworks)
        await stop_plugins(frameworks)

    asyncio.run(story())
    assert log == ["start a", "start b", "stop a"]


def test_a_plugin_that_asks_for_the_end_of_the_process_did_not_start():
    class Leaving(Plain):
        async def start(self, handle):
            sys.exit("no licence")

    with pytest.raises(PluginError, match=r'^starting plugin "Leaving": SystemExit: no licence \(test_assembly'):
        asyncio.run(start_plugins(frameworks_of(Leaving())))


def test_one_plugin_that_does_not_stop_keeps_no_other_from_stopping():
    class Broken(Plain):
        def stop(self):
            raise OSError("too late")

    plain = Plain()
    frameworks = frameworks_of(Broken(), plain)
    asyncio.run(start_plugins(frameworks))
    asyncio.run(stop_plugins(frameworks))
    assert plain.seen[-1] == "stopped"


def in_loop(*plugins: Plugin, meanwhile=None) -> list:
    """Start plugins on a loop, let something happen there, stop them."""

    async def story():
        frameworks = frameworks_of(*plugins)
        await start_plugins(frameworks)
        if meanwhile is not None:
            await meanwhile()
        await stop_plugins(frameworks)
        return frameworks

    return asyncio.run(story())


@pytest.mark.parametrize("plugin_class", [Plain, Waiting])
def test_plugins_start_and_stop_on_a_loop_that_runs(plugin_class):
    plugin = plugin_class()
    (framework,) = in_loop(plugin)
    assert plugin.seen == [plugin.handle, "stopped"]
    assert plugin.handle.cluster_state is framework.handle.cluster_state


def test_a_task_that_a_plugin_makes_goes_on_until_it_stops():
    class Refreshing(Plugin):
        async def start(self, handle):
            self.n, self.came, self.is_over = 0, asyncio.Event(), False
            self.task = asyncio.create_task(self.refresh())

        async def refresh(self):
            try:
                while True:
                    await asyncio.sleep(0)
                    self.n += 1
                    self.came.set()
            finally:
                self.is_over = True

        async def stop(self):
            self.task.cancel()
            await asyncio.wait([self.task])

        async def refreshed(self):
            self.came.clear()
            await self.came.wait()

    plugin = Refreshing()
    in_loop(plugin, meanwhile=plugin.refreshed)
    assert plugin.n >= 1
    assert plugin.is_over


@pytest.mark.parametrize("is_late", [False, True])
def test_a_plugin_that_does_not_start_on_a_loop_is_named(is_late):
    class Broken(Plain):
        def start(self, handle):
            if is_late:
                return self.fail()
            raise OSError("no such host")

        async def fail(self):
            await asyncio.sleep(0)
            raise OSError("no such host")

    with pytest.raises(PluginError, match=r'^starting plugin "Broken": OSError: no such host \(test_assembly'):
        in_loop(Broken())


def test_a_stop_that_fails_on_a_loop_keeps_no_other_from_stopping():
    class Broken(Waiting):
        async def stop(self):
            raise SystemExit(3)

    waiting = Waiting()
    in_loop(Broken(), waiting)
    assert waiting.seen[-1] == "stopped"
