import pytest

from kubesched.config import FieldError, PluginArgs
from kubesched.errors import ConfigError
from kubesched.framework import Plugin, Profile, Status
from kubesched.setup.profiles import build_profiles
from tests.config.loading import load
from tests.setup.stand_ins import POINTS, registry, stand_in


class TeamArgs(PluginArgs):
    bonus: int = 1

    def validate(self, path: str) -> list[FieldError]:
        return [] if self.bonus else [FieldError.invalid("bonus", self.bonus, "must not be 0")]


class NeedyArgs(PluginArgs):
    must: int


class Grumpy(Plugin):
    def __init__(self, args: PluginArgs | None = None) -> None:
        raise RuntimeError("not today")

    def filter(self, state, pod, node) -> Status:
        return Status.SUCCESS


Team = stand_in("Team", "filter score", TeamArgs)
OUTSIDE = [Team, stand_in("Needy", "filter", NeedyArgs), Grumpy, stand_in("OldestFirst", "queueSort")]


def build(body: str = "") -> tuple[Profile, ...]:
    plugins = registry(*OUTSIDE)
    return build_profiles(load(body, plugins.args_types), plugins)


def error_of(body: str) -> str:
    with pytest.raises(ConfigError) as caught:
        build(body)
    return str(caught.value)


CREATING = "initializing profiles: creating profile for scheduler name default-scheduler: "
ENABLE = "profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: {}}}]}}}}, pluginConfig: [{}]}}]"


def test_the_default_profile_runs_every_plugin_where_upstream_does():
    (profile,) = build()
    assert profile.scheduler_name == "default-scheduler"
    ran = {
        point: tuple(plugin.name for plugin in plugins)
        for point, plugins in profile.points.items()
        if not point.startswith("placement")
    }
    assert ran == {point: tuple(name for name, points in POINTS.items() if point in points.split()) for point in ran}


def test_the_default_weights_are_upstream_s():
    assert build()[0].weights == {
        "TaintToleration": 3, "NodeAffinity": 2, "NodeResourcesFit": 1, "VolumeBinding": 1, "PodTopologySpread": 2,
        "InterPodAffinity": 2, "DynamicResources": 2, "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1,
    }  # fmt: skip


def test_a_profile_has_one_instance_of_each_plugin_that_it_needs():
    first, second = build("profiles: [{schedulerName: a}, {schedulerName: b}]")
    assert {id(plugin) for plugins in first.points.values() for plugin in plugins} == set(map(id, first.plugins))
    assert not set(map(id, first.plugins)) & set(map(id, second.plugins))
    assert [plugin.name for plugin in first.plugins] == list(POINTS)


def test_arguments_reach_the_plugin():
    (profile,) = build(ENABLE.format("Team", "{name: Team, args: {bonus: 7}}"))
    assert [plugin.args for plugin in profile.plugins if plugin.name == "Team"] == [TeamArgs(7)]


def test_a_plugin_without_arguments_in_the_file_has_its_defaults():
    (profile,) = build(ENABLE.format("Team", "{name: NodeName, args: {foo: 1}}"))
    args = {plugin.name: plugin.args for plugin in profile.plugins}
    assert (args["Team"], args["NodeName"]) == (TeamArgs(1), PluginArgs())


def test_a_profile_s_own_percentage_counts_before_the_global_one():
    profiles = build(
        "percentageOfNodesToScore: 40\nprofiles: [{schedulerName: a},{schedulerName: b, percentageOfNodesToScore: 0}]"
    )
    assert [profile.percentage_of_nodes_to_score for profile in profiles] == [40, 0]


def test_arguments_from_outside_the_tree_are_checked_when_the_plugin_is_built():
    assert error_of(ENABLE.format("Team", "{name: Team, args: {bonus: 0}}")) == (
        f'{CREATING}initializing plugin "Team": bonus: Invalid value: 0: must not be 0'
    )


def test_a_missing_argument_is_required():
    assert error_of(ENABLE.format("Needy", "")) == (
        f'{CREATING}initializing plugin "Needy": decoding args for plugin Needy: must: Required value'
    )


def test_a_plugin_that_raises_is_named():
    assert error_of(ENABLE.format("Grumpy", "")).startswith(
        f'{CREATING}initializing plugin "Grumpy": RuntimeError: not today (test_profiles.py:24 in __init__)\n  '
    )


def test_plugins_that_no_set_enables_are_not_built():
    body = (
        "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}, pluginConfig: "
        "[{name: NodeResourcesFit, args: {scoringStrategy: {}}}, {name: Grumpy}]}]"
    )
    assert "NodeResourcesFit" not in [plugin.name for plugin in build(body)[0].plugins]


WAY_OUT = (
    "all profiles share one queue; write this below plugins of every profile: "
    "queueSort: {disabled: [{name: PrioritySort}], enabled: [{name: OldestFirst}]}"
)


def test_two_queue_sort_plugins_by_multi_point_are_counted():
    message = error_of(ENABLE.format("OldestFirst", ""))
    assert message == (
        f"{CREATING}only one queue sort plugin required for profile with scheduler name "
        '"default-scheduler", but got 2\n'
        f"  profiles[0].plugins: enabled are PrioritySort, OldestFirst; leave exactly one enabled; {WAY_OUT}"
    )


def test_all_profiles_sort_the_queue_alike():
    other = "multiPoint: {disabled: [{name: PrioritySort}], enabled: [{name: OldestFirst}]}"
    assert error_of(f"profiles: [{{schedulerName: a}}, {{schedulerName: b, plugins: {{{other}}}}}]") == (
        'initializing profiles: different queue sort plugins for profile "b": "OldestFirst", first: "PrioritySort"\n'
        f"  {WAY_OUT}"
    )


def test_all_profiles_tell_the_queue_sort_plugin_the_same():
    body = "profiles: [{schedulerName: a}, {schedulerName: b, pluginConfig: [{name: PrioritySort, args: {a: 1}}]}]"
    assert error_of(body) == 'initializing profiles: different queue sort plugin args for profile "b"'


IGNORED = "extenders: [{managedResources: [{name: a.b/c, ignoredByScheduler: true}, {name: a.b/d}]}]"


def test_resources_that_an_extender_wants_ignored_replace_the_list_of_fit():
    (profile,) = build(
        f"{IGNORED}\nprofiles: [{{pluginConfig: [{{name: NodeResourcesFit, args: {{ignoredResources: [x]}}}}]}}]"
    )
    (fit,) = (plugin for plugin in profile.plugins if plugin.name == "NodeResourcesFit")
    assert fit.args.ignored_resources == ("a.b/c",)


def test_resources_cannot_be_ignored_without_fit():
    assert error_of(
        f"{IGNORED}\nprofiles: [{{plugins: {{multiPoint: {{disabled: [{{name: NodeResourcesFit}}]}}}}}}]"
    ).startswith("couldn't build extenders: can't find NodeResourcesFitArgs in plugin config\n  ")


def test_an_extender_with_a_ca_that_is_not_to_be_checked_is_refused():
    body = "extenders: [{urlPrefix: 'https://x', tlsConfig: {insecure: true, caFile: ca.crt}}]"
    with pytest.raises(ConfigError) as caught:
        build_profiles(load(body), registry())
    assert str(caught.value) == (
        "couldn't build extenders: specifying a root certificates file with the insecure flag is not allowed\n"
        "  extenders[0].tlsConfig.insecure: remove insecure: true, or the CA"
    )
