import json
from pathlib import Path

import pytest

from kubesched.config import FieldError, PluginArgs, child
from kubesched.errors import ConfigError, InputError, PluginDefinitionError
from kubesched.framework import Plugin, Status
from kubesched.legacy import LEGACY_PLUGINS
from kubesched.plugins import IN_TREE_PLUGINS, NodeResourcesFit
from kubesched.release import Release
from kubesched.setup import Setup, convert_text, load_configuration, set_up
from tests.device_cluster import WITHOUT_DRA

EXAMPLES = Path(__file__).parents[2] / "examples" / "configurations"
HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class TeamZone(Plugin):
    class Args(PluginArgs):
        bonus: int = 10

    args: Args

    def score(self, state, pod, node):
        return self.args.bonus


def team_zone(setup: Setup) -> Plugin:
    return next(plugin for plugin in setup.profiles[0].plugins if plugin.name == "TeamZone")


@pytest.mark.parametrize(
    ("release", "message"),
    [
        (Release(36, (("Nope", True),)), "unrecognized feature gate: Nope"),
        (Release(37, (("DRAPrioritizedList", False),)), "feature is locked to true"),
        (Release(37, (("GenericWorkload", True),)), "kubesched has no rules for GenericWorkload=true"),
        (Release(36).with_gates({"NodeDeclaredFeatures": False}), "depends on features that are disabled"),
    ],
)
def test_gates_of_a_release_are_refused_as_on_the_command_line(release: Release, message: str) -> None:
    for build in (set_up, load_configuration):
        with pytest.raises(ConfigError, match=message):
            build(release=release)


def test_without_a_source_the_defaults_are_set_up():
    setup = set_up()
    assert [profile.scheduler_name for profile in setup.profiles] == ["default-scheduler"]
    assert setup.profiles[0].weights["TaintToleration"] == 3


def test_a_text_means_a_file_and_bytes_mean_its_content(tmp_path: Path):
    text = f"{HEADER}profiles:\n- schedulerName: mine\n"
    (tmp_path / "scheduler.yaml").write_text(text)
    for source in (str(tmp_path / "scheduler.yaml"), tmp_path / "scheduler.yaml", text.encode()):
        assert load_configuration(source).profiles[0].scheduler_name == "mine"


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"open missing\.yaml: no such file or directory"):
        load_configuration("missing.yaml")


def test_a_plugin_of_the_caller_runs_last_in_every_profile():
    setup = set_up(f"{HEADER}profiles:\n- schedulerName: a\n- schedulerName: b\n".encode(), [TeamZone])
    assert [profile.points["score"][-1].name for profile in setup.profiles] == ["TeamZone", "TeamZone"]
    assert setup.profiles[0].weights["TeamZone"] == 1


def test_a_configuration_that_was_read_with_a_plugin_can_be_set_up_with_it():
    configuration = load_configuration(None, [TeamZone], {"TeamZone": {"bonus": 7}})
    setup = set_up(configuration, [TeamZone])
    assert team_zone(setup).args.bonus == 7
    assert [plugin.name for plugin in setup.profiles[0].points["score"]].count("TeamZone") == 1


@pytest.mark.parametrize("form", ["args", "mapping", "bytes", "path", "name"])
def test_arguments_come_in_any_form(form: str, tmp_path: Path):
    path = tmp_path / "team_zone.yaml"
    path.write_text("bonus: 7\n")
    args = {
        "args": TeamZone.Args(bonus=7),
        "mapping": {"bonus": 7},
        "bytes": b"bonus: 7",
        "path": path,
        "name": str(path),
    }
    assert team_zone(set_up(None, [TeamZone], {"TeamZone": args[form]})).args.bonus == 7


def test_arguments_of_the_configuration_win():
    text = f"{HEADER}profiles:\n- pluginConfig:\n  - name: TeamZone\n    args: {{bonus: 3}}\n"
    assert team_zone(set_up(text.encode(), [TeamZone], {"TeamZone": {"bonus": 7}})).args.bonus == 3


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("TeamZoan", {}, 'arguments for TeamZoan: no plugin has the name "TeamZoan"; did you mean "TeamZone"?'),
        (
            "NodeResourcesFit",
            {},
            "arguments for NodeResourcesFit: give the arguments of an in-tree plugin in pluginConfig",
        ),
        ("TeamZone", {"bonos": 1}, 'unknown field "bonos"'),
        ("TeamZone", {"bonus": "much"}, "bonus"),
    ],
    ids=["unknown plugin", "in-tree plugin", "unknown field", "wrong type"],
)
def test_arguments_that_do_not_hold_are_refused(name: str, args: dict, words: str):
    with pytest.raises(ConfigError) as error:
        set_up(None, [TeamZone], {name: args})
    assert words in str(error.value)


def test_a_fault_that_shows_when_profiles_are_built_names_the_file(tmp_path: Path):
    path = tmp_path / "scheduler.yaml"
    path.write_text(f"{HEADER}profiles:\n- plugins:\n    score:\n      enabled:\n      - name: Nonsense\n")
    with pytest.raises(ConfigError) as error:
        set_up(path)
    assert str(error.value).endswith(f"  in {path}")


class Binder(Plugin):
    def bind(self, state, pod, node_name):
        return Status.SUCCESS


def test_a_bind_that_default_binder_makes_unreachable_is_reported(caplog: pytest.LogCaptureFixture):
    set_up(None, [Binder])
    (message,) = caplog.messages
    assert message.startswith(
        "profile default-scheduler: DefaultBinder binds every pod before bind of Binder is called"
    )
    caplog.clear()
    disabled = f"{HEADER}profiles:\n- plugins: {{bind: {{disabled: [{{name: DefaultBinder}}]}}}}\n"
    set_up(disabled.encode(), [Binder])
    assert caplog.messages == []


def test_a_setup_and_built_profiles_are_taken_as_they_are():
    setup = set_up()
    assert set_up(setup) is setup
    assert set_up(setup.profiles).profiles == setup.profiles


# --- beside a scheduler that has the defaults ---


def beside(profiles: str = "", *plugins: type[Plugin]) -> list[dict[str, list[str]]]:
    """What runs where, in each profile."""
    source = f"{HEADER}profiles:\n{profiles}".encode() if profiles else None
    return [
        {point: [plugin.name for plugin in called] for point, called in profile.points.items() if called}
        for profile in set_up(source, plugins, default_plugins=False).profiles
    ]


def test_without_the_defaults_nothing_runs_that_nobody_enabled():
    assert beside() == beside("- schedulerName: a\n") == [{}]
    assert beside("", TeamZone) == [{"score": ["TeamZone"]}]


def test_what_the_file_enables_and_kube_scheduler_lacks_runs_where_it_says():
    mixed = """
- schedulerName: a
  plugins:
    filter: {enabled: [{name: NodeName}, {name: NodeLabel}]}
    multiPoint: {enabled: [{name: TeamZone, weight: 3}]}
- schedulerName: b
  plugins: {multiPoint: {disabled: [{name: '*'}]}}
  pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/gpu]}}]
"""
    assert beside(mixed, TeamZone) == [{"filter": ["NodeLabel"], "score": ["TeamZone"]}, {}]
    setup = set_up(f"{HEADER}profiles:{mixed}".encode(), [TeamZone], default_plugins=False)
    assert setup.profiles[0].weights == {"TeamZone": 3}


@pytest.mark.parametrize("point", ["multiPoint", "filter", "queueSort", "score", "bind"])
def test_no_in_tree_plugin_runs_beside_a_scheduler_wherever_the_file_enables_it(point: str):
    plugins = {"multiPoint": IN_TREE_PLUGINS, "queueSort": ["PrioritySort"], "bind": ["DefaultBinder"]}
    names = plugins.get(point, ["NodeAffinity", "NodeResourcesFit"])
    if point == "filter":
        names = [*names, "DynamicResources"]
    enabled = {"enabled": [{"name": name} for name in names], "disabled": [{"name": "*"}]}
    assert beside("- " + json.dumps({"plugins": {point: enabled}})) == [{}]
    assert beside("- " + json.dumps({"plugins": {point: enabled}}), TeamZone) == [{"score": ["TeamZone"]}]


def test_a_configuration_that_was_read_with_the_defaults_leaves_them_to_kube_scheduler():
    (profile,) = set_up(load_configuration(None, [TeamZone]), [TeamZone], default_plugins=False).profiles
    assert [plugin.name for plugin in profile.plugins] == ["TeamZone"]


@pytest.mark.parametrize("kube_scheduler", [True, False])
@pytest.mark.parametrize("name", ["policy-classic.json", "policy-node-labels.yaml", "policy-packing.yaml"])
def test_a_converted_file_serves_the_same_as_the_policy_itself(name: str, kube_scheduler: bool):
    file = EXAMPLES / name
    text, _ = convert_text(file, kube_scheduler=kube_scheduler)
    served = [
        [plugin.name for plugin in profile.plugins if not (kube_scheduler and plugin.name in LEGACY_PLUGINS)]
        for source in (file, text.encode())
        for profile in set_up(source, [TeamZone], default_plugins=False).profiles
    ]
    assert served[0] == served[1]
    assert "TeamZone" in served[0]


FROM_GO = "profiles: [{plugins: {multiPoint: {enabled: [{name: InGo}, {name: TeamZone, weight: 2}]}}}]"


def test_a_plugin_that_only_kube_scheduler_has_is_skipped_on_request():
    source = f"{HEADER}{FROM_GO}".encode()
    with pytest.raises(
        ConfigError, match=r'"InGo" does not exist(.|\n)*\n  to leave InGo to kube-scheduler, add --skip'
    ):
        set_up(source, [TeamZone], default_plugins=False)
    (profile,) = set_up(source, [TeamZone], default_plugins=False, skipped=["InGo"]).profiles
    assert profile.weights == {"TeamZone": 2}


@pytest.mark.parametrize(
    "body", ["parallelism: 0", "profiles: [{plugins: {queueSort: {disabled: [{name: PrioritySort}]}}}]"]
)
def test_an_older_version_that_is_not_valid_is_not_said_to_be_converted(
    body: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    file = tmp_path / "old.yaml"
    file.write_text(f"{OLDER}{body}\n")
    with pytest.raises(ConfigError):
        set_up(file)
    assert caplog.messages == []
    file.write_text(OLDER)
    set_up(file)
    load_configuration(file)
    assert [message.split(";")[0] for message in caplog.messages] == 2 * [
        f"{file}: converted from kubescheduler.config.k8s.io/v1beta2"
    ]


def test_what_is_skipped_has_to_be_enabled():
    with pytest.raises(ConfigError, match=r'--skip-plugin: no profile enables "InGoo"; did you mean "InGo"\?'):
        set_up(f"{HEADER}{FROM_GO}".encode(), [TeamZone], default_plugins=False, skipped=["InGoo"])


def test_arguments_count_without_the_defaults_too():
    given = "- pluginConfig: [{name: TeamZone, args: {bonus: 7}}]\n"
    setup = set_up(f"{HEADER}profiles:\n{given}".encode(), [TeamZone], default_plugins=False)
    assert team_zone(setup).args.bonus == 7


def test_a_plugin_of_the_defaults_that_the_user_brings_has_its_own_arguments():
    enabled = "- plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 2}]}}\n"
    setup = set_up(f"{HEADER}profiles:\n{enabled}".encode(), [NodeResourcesFit], default_plugins=False)
    (plugin,) = setup.profiles[0].plugins
    assert [resource.name for resource in plugin.args.scoring_strategy.resources] == ["cpu", "memory"]
    assert setup.profiles[0].weights == {"NodeResourcesFit": 2}


def test_resources_that_an_extender_manages_ask_for_no_plugin_there():
    managed = "managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]"
    source = f"{HEADER}extenders:\n- urlPrefix: http://x\n  {managed}\n".encode()
    (profile,) = set_up(source, [TeamZone], default_plugins=False).profiles
    assert [plugin.name for plugin in profile.plugins] == ["TeamZone"]


class Strikes(Plugin):
    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


@pytest.mark.parametrize("default_plugins", [True, False])
def test_a_plugin_that_only_has_a_say_in_preemption_is_built(default_plugins: bool):
    (profile,) = set_up(None, [Strikes], default_plugins=default_plugins).profiles
    assert profile.plugins[-1].name == "Strikes"
    assert not any(plugin.name == "Strikes" for called in profile.points.values() for plugin in called)


@pytest.mark.parametrize("further", [{"plugins": [TeamZone]}, {"plugin_args": {"TeamZone": {"bonus": 1}}}])
def test_what_is_set_up_takes_no_further_plugins_or_arguments(further):
    setup = set_up()
    for built in (setup, setup.profiles):
        with pytest.raises(InputError, match="take no plugins or plugin_args"):
            set_up(built, **further)


@pytest.mark.parametrize("profiles", [[], [1]])
def test_a_list_without_profiles_is_bad_input(profiles):
    with pytest.raises(InputError, match=r"a list must have profiles, at least one; found \["):
        set_up(profiles)


def test_a_configuration_of_another_type_is_bad_input():
    with pytest.raises(InputError, match="the name of its file, or its text as bytes; found"):
        load_configuration({"kind": "X"})


def test_a_single_reference_is_a_plugin():
    with pytest.raises(PluginDefinitionError, match=r"nope\.py: no such file"):
        load_configuration(None, "nope.py:X")


class Picky(Plugin):
    class Args(PluginArgs):
        limit: int = 1

        def validate(self, path):
            return [] if self.limit else [FieldError.invalid(child(path, "limit"), self.limit, "must be positive")]

    def score(self, state, pod, node):
        return 1


def test_arguments_that_do_not_hold_name_the_file_that_they_came_from(tmp_path: Path):
    (tmp_path / "args.yaml").write_text("limit: 0\n")
    (tmp_path / "scheduler.yaml").write_text(HEADER)
    scheduler = str(tmp_path / "scheduler.yaml")
    with pytest.raises(ConfigError, match=r'"Picky": limit: Invalid value: 0: must be positive\n  in .*args\.yaml$'):
        set_up(scheduler, [Picky], {"Picky": tmp_path / "args.yaml"})
    with pytest.raises(ConfigError, match=r"must be positive$"):
        set_up(scheduler, [Picky], {"Picky": {"limit": 0}})


def test_json_is_kept_of_what_plugins_and_extenders_want() -> None:
    class Raw(Plugin):
        wants_raw = True

        def score(self, state: object, pod: object, node: object) -> int:
            return 0

    def kept(**extender: object) -> frozenset[str]:
        head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        entry = {"urlPrefix": "http://x", "weight": 1, **extender}
        return set_up(json.dumps({**head, "extenders": [entry]}).encode()).raw_kinds

    assert set_up().raw_kinds == set()
    assert set_up(plugins=[Raw]).raw_kinds == {"Node", "Pod"}
    assert kept(filterVerb="f", nodeCacheCapable=True) == {"Pod"}
    assert kept(prioritizeVerb="p") == {"Node", "Pod"}
    assert kept(preemptVerb="p") == {"Pod"}
    assert kept(bindVerb="b") == set()


def test_a_live_scheduler_keeps_the_configuration_of_drivers_which_it_copies() -> None:
    assert set_up().kinds_with_source == {"DeviceClass", "ResourceClaim"}
    assert set_up(WITHOUT_DRA).kinds_with_source == set()


OLDER = "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{OLDER}profiles: [{{plugins: {{score: {{enabled: [{{name: TeamZone}}]}}}}}}]", {"TeamZone"}),
        (
            f"{OLDER}profiles: [{{plugins: {{score: {{enabled: [{{name: SelectorSpread}}]}}}}}}]",
            {"SelectorSpread", "TeamZone"},
        ),
        ('{"predicates": [{"name": "PodFitsResources"}], "priorities": []}', {"TeamZone"}),
    ],
)
def test_beside_a_scheduler_an_older_version_enables_what_it_lacks(source, expected):
    (profile,) = set_up(source.encode(), [TeamZone], default_plugins=False).profiles
    assert {plugin.name for plugin in profile.plugins} == expected
