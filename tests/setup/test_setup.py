from pathlib import Path

import pytest

from kubesched.config import PluginArgs
from kubesched.errors import ConfigError, InputError
from kubesched.framework import Plugin
from kubesched.setup import Setup, load_configuration, set_up

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class TeamZone(Plugin):
    class Args(PluginArgs):
        bonus: int = 10

    args: Args

    def score(self, state, pod, node):
        return self.args.bonus


def team_zone(setup: Setup) -> Plugin:
    return next(plugin for plugin in setup.profiles[0].plugins if plugin.name == "TeamZone")


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
        ("TeamZoan", {}, 'arguments for TeamZoan: no plugin is named "TeamZoan"; did you mean "TeamZone"?'),
        ("NodeResourcesFit", {}, "arguments for NodeResourcesFit: an in-tree plugin takes them from pluginConfig"),
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


def test_a_setup_and_built_profiles_are_taken_as_they_are():
    setup = set_up()
    assert set_up(setup) is setup
    assert set_up(setup.profiles).profiles == setup.profiles
