import pytest

from kubesched.config import PluginArgs, load_configuration
from kubesched.errors import ConfigError
from kubesched.plugins.args import InterPodAffinityArgs, NodeResourcesFitArgs
from tests.config.loading import ARGS_TYPES, error_of, first_line, load, load_profile


class TeamArgs(PluginArgs):
    bonus: int = 1


WITH_TEAM = {**ARGS_TYPES, "Team": TeamArgs}


def test_arguments_of_enabled_plugins_are_added_by_name_behind_the_given_ones():
    profile = load_profile("{pluginConfig: [{name: VolumeBinding}, {name: Nope, args: {a: 1}}]}")
    assert [entry.name for entry in profile.plugin_config] == [
        "VolumeBinding", "Nope", "DefaultPreemption", "DynamicResources", "InterPodAffinity", "NodeAffinity",
        "NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread",
    ]  # fmt: skip


def test_no_arguments_are_added_for_a_plugin_that_no_set_enables():
    profile = load_profile("{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: NodeAffinity}]}}}")
    assert [entry.name for entry in profile.plugin_config] == ["NodeAffinity"]


def test_arguments_are_typed_and_defaulted():
    profile = load_profile("{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [a]}}]}")
    assert profile.plugin_config[0].args == NodeResourcesFitArgs(ignored_resources=("a",)).with_defaults()


def test_arguments_of_unknown_plugins_are_kept_as_json():
    profile = load_profile("{pluginConfig: [{name: Nope, args: {b: [1, null]}}, {name: Nix}]}")
    assert [entry.args for entry in profile.plugin_config[:2]] == [b'{"b":[1,null]}', None]


def test_in_tree_plugins_without_a_kind_of_arguments_take_anything():
    profile = load_profile("{pluginConfig: [{name: NodeName, args: {foo: 1}}]}")
    assert profile.plugin_config[0].args == b'{"foo":1}'


def test_arguments_of_registered_plugins_outside_the_tree_are_strict():
    profile = load_profile("{pluginConfig: [{name: Team, args: {bonus: 2}}]}", WITH_TEAM)
    assert profile.plugin_config[0].args == TeamArgs(2)
    assert error_of("profiles: [{pluginConfig: [{name: Team, args: {bonsu: 2}}]}]", WITH_TEAM) == (
        "strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: "
        'decoding args for plugin Team: strict decoding error: unknown field "bonsu"\n'
        '  profiles[0].pluginConfig[0].args.bonsu: did you mean "bonus"?'
    )


def test_only_arguments_that_are_used_are_looked_up():
    class Careful(dict):
        def __getitem__(self, name):
            assert name != "Team", "the class of a plugin that nobody names was asked for"
            return super().__getitem__(name)

    assert load("", Careful(WITH_TEAM)).profiles[0].scheduler_name == "default-scheduler"


def test_findings_in_arguments_follow_those_around_them():
    message = first_line(
        error_of(
            "foo: 1\nprofiles: [{bar: 1, pluginConfig: [{name: NodeResourcesFit, args: {foo: 1, Bar: 2}},"
            "{name: NodeAffinity, args: {foo: 1}}]}]"
        )
    )
    fit = 'decoding args for plugin NodeResourcesFit: strict decoding error: unknown field "Bar", unknown field "foo"'
    affinity = 'decoding args for plugin NodeAffinity: strict decoding error: unknown field "foo"'
    assert message == (
        'strict decoding error: unknown field "foo", unknown field "profiles[0].bar", '
        f"decoding .profiles[0].pluginConfig[0]: strict decoding error: {fit}, "
        f"decoding .profiles[0].pluginConfig[1]: strict decoding error: {affinity}"
    )


def test_repeated_fields_of_json_are_found_at_the_top_too():
    text = '{"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1", "parallelism": 1,'
    with pytest.raises(ConfigError) as caught:
        load_configuration(text + '"parallelism": 2}', args_types={})
    assert str(caught.value) == 'strict decoding error: duplicate field "parallelism"'


def test_a_wrong_type_counts_before_unknown_fields():
    assert error_of("foo: 1\nparallelism: x") == 'parallelism: expected an integer, found "x"'
    assert first_line(
        error_of("foo: 1\nprofiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: x}}]}]")
    ) == (
        "decoding .profiles[0].pluginConfig[0]: decoding args for plugin VolumeBinding: "
        'bindTimeoutSeconds: expected an integer, found "x"'
    )


def test_args_that_are_no_mapping_are_refused():
    assert "expected an object, found [" in error_of("profiles: [{pluginConfig: [{name: NodeAffinity, args: []}]}]")


def test_two_profiles_have_arguments_of_their_own():
    first, second = load(
        "profiles: [{schedulerName: a, pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 5}}]},"
        "{schedulerName: b}]"
    ).profiles
    args = [{entry.name: entry.args for entry in profile.plugin_config} for profile in (first, second)]
    assert [each["InterPodAffinity"] for each in args] == [InterPodAffinityArgs(5), InterPodAffinityArgs(1)]
