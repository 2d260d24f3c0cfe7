import pytest

from kubesched.config import KubeSchedulerProfile, PluginArgs
from kubesched.framework import Plugin
from kubesched.setup.added_plugins import enable_loaded
from kubesched.setup.profiles import build_profiles
from kubesched.setup.registry import Registry
from tests.config.loading import load
from tests.setup.stand_ins import IN_TREE, stand_in


class TeamArgs(PluginArgs):
    bonus: int = 1


def loaded_registry() -> Registry:
    """A registry to which the user added Team."""
    plugins = Registry(IN_TREE)
    plugins.register(stand_in("Team", "filter score", TeamArgs), "team.py")
    plugins.loaded.append("Team")
    return plugins


def added(body: str = "", **args: PluginArgs) -> tuple[KubeSchedulerProfile, ...]:
    plugins = loaded_registry()
    return enable_loaded(load(body, plugins.args_types), plugins, args).profiles


def test_a_plugin_that_no_profile_names_runs_last_everywhere_with_weight_1():
    plugins = loaded_registry()
    body = "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {score: {disabled: [{name: '*'}]}}}]"
    for profile in build_profiles(enable_loaded(load(body), plugins), plugins):
        assert [profile.points[point][-1].name for point in ("filter", "score")] == ["Team", "Team"]
        assert profile.weights["Team"] == 1


@pytest.mark.parametrize(
    "plugins",
    ["filter: {enabled: [{name: Team}]}", "score: {disabled: [{name: Team}]}", "multiPoint: {enabled: [{name: Team}]}"],
)
def test_a_profile_that_names_it_decides_for_all(plugins):
    body = f"profiles: [{{schedulerName: a, plugins: {{{plugins}}}}}, {{schedulerName: b}}]"
    assert added(body) == load(body, loaded_registry().args_types).profiles


def test_arguments_alone_do_not_name_it():
    (profile,) = added("profiles: [{pluginConfig: [{name: Team, args: {bonus: 3}}]}]")
    assert "Team" in profile.plugins.filter.enabled_names
    assert profile.plugin_config[0].args == TeamArgs(3)


def test_arguments_given_apart_count_where_the_configuration_has_none():
    body = "profiles: [{schedulerName: a, pluginConfig: [{name: Team, args: {bonus: 3}}]}, {schedulerName: b}]"
    args = [[e.args for e in profile.plugin_config if e.name == "Team"] for profile in added(body, Team=TeamArgs(5))]
    assert args == [[TeamArgs(3)], [TeamArgs(5)]]


def test_plugins_that_only_packages_announce_stay_off():
    plugins = loaded_registry()
    plugins.loaded.clear()
    assert enable_loaded(load(), plugins) == load()


def test_a_plugin_without_an_extension_point_is_built_and_runs_nowhere():
    plugins = Registry(IN_TREE)
    plugins.register(type("Strikes", (Plugin,), {"preempt": lambda self, *given: {}}), "strikes.py")
    plugins.loaded.append("Strikes")
    (profile,) = build_profiles(enable_loaded(load(), plugins), plugins)
    assert profile.plugins[-1].name == "Strikes"
    assert not any(plugin.name == "Strikes" for called in profile.points.values() for plugin in called)
