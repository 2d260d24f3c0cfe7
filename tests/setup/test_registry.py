import sys
from importlib.metadata import Distribution, EntryPoint, EntryPoints
from pathlib import Path

import pytest

from kubesched.errors import PluginDefinitionError
from kubesched.framework import Plugin
from kubesched.setup import find_plugins
from kubesched.setup import registry as registry_module
from kubesched.setup.registry import ENTRY_POINT_GROUP, IN_TREE, LEGACY, Registry
from tests.setup.stand_ins import IN_TREE as STAND_INS
from tests.setup.stand_ins import stand_in

TEAM_ZONE = """
from __future__ import annotations
from kubesched.config import PluginArgs
from kubesched.framework import Plugin, Status

class Owner(PluginArgs):
    zone: str = ""

class TeamZone(Plugin):
    class Args(PluginArgs):
        owners: dict[str, Owner] = {}

    def filter(self, state, pod, node):
        return Status.SUCCESS

class Other(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS

number = 3
"""


@pytest.fixture
def file(tmp_path, monkeypatch) -> Path:
    monkeypatch.delitem(sys.modules, "team_zone", raising=False)  # other tests have modules of that name
    path = tmp_path / "team_zone.py"
    path.write_text(TEAM_ZONE)
    return path


@pytest.fixture
def plugins() -> Registry:
    return Registry(STAND_INS)


@pytest.fixture(autouse=True)
def _forget_modules():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def error_of(plugins: Registry, reference: object) -> str:
    with pytest.raises(PluginDefinitionError) as caught:
        plugins.load(str(reference))
    return str(caught.value)


def test_in_tree_plugins_come_first_in_their_order(plugins):
    assert [plugin.name for plugin in plugins] == list(STAND_INS)
    assert plugins["NodeName"].origin == IN_TREE
    assert len(plugins) == len(plugins.args_types) == len(list(plugins.args_types))


def test_a_class_is_loaded_from_a_file(plugins, file):
    assert plugins.load(f"{file}:TeamZone") == "TeamZone"
    assert plugins["TeamZone"].origin == str(file)
    assert plugins.loaded == ["TeamZone"]
    assert plugins.args_types["TeamZone"] is plugins["TeamZone"].plugin_class.Args


def test_a_file_with_two_plugins_runs_once(plugins, file):
    plugins.load(f"{file}:TeamZone")
    plugins.load(f"{file}:Other")
    classes = [plugins[name].plugin_class for name in ("TeamZone", "Other")]
    assert classes[0].__module__ == classes[1].__module__


def test_a_path_has_one_module_however_often_its_file_is_loaded_and_changed(file):
    def load() -> tuple[type[Plugin], set[str]]:
        plugins = find_plugins([f"{file}:TeamZone"])
        return plugins["TeamZone"].plugin_class, set(sys.modules)

    first, modules = load()
    assert load() == (first, modules)
    file.write_text(TEAM_ZONE.replace("number = 3", "number = 4"))  # as long as before, in the same second
    changed, after = load()
    assert after == modules
    assert (changed is first, sys.modules[changed.__module__].number) == (False, 4)
    file.write_text("raise ValueError")
    with pytest.raises(PluginDefinitionError):
        load()
    file.write_text(TEAM_ZONE)
    assert load()[1] == modules


def test_files_of_one_name_in_two_folders_are_two_modules(file, tmp_path, monkeypatch):
    """A relative path is another file in another folder, even with the same contents."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / file.name).write_text(TEAM_ZONE)
    loaded = []
    for folder in (tmp_path, tmp_path / "other", tmp_path):
        monkeypatch.chdir(folder)
        loaded.append(find_plugins([f"{file.name}:TeamZone"])["TeamZone"].plugin_class)
    assert loaded[0] is loaded[2] is not loaded[1]
    assert loaded[0].__module__ != loaded[1].__module__


def test_a_class_is_loaded_from_a_module(plugins, tmp_path, monkeypatch):
    package = tmp_path / "zones"
    package.mkdir()
    (package / "team.py").write_text(TEAM_ZONE)
    monkeypatch.syspath_prepend(tmp_path)
    assert plugins.load("zones.team:TeamZone") == "TeamZone"
    assert plugins["TeamZone"].origin == "zones.team"


def test_the_same_class_may_come_twice(plugins, file):
    plugins.load(f"{file}:TeamZone")
    plugins.load(f"{file}:TeamZone")
    assert "TeamZone" in plugins


def test_a_name_that_is_taken_is_refused_in_upstream_words(plugins):
    with pytest.raises(PluginDefinitionError, match=r"^a plugin named NodeName already exists\n  one is in-tree, "):
        plugins.register(stand_in("NodeName", "filter"), "mine.py")


@pytest.mark.parametrize("reference", ["team_zone.py", "", ":TeamZone", "team_zone.py:"])
def test_a_reference_has_a_source_and_a_class(plugins, reference):
    assert error_of(plugins, reference) == (
        f'plugin "{reference}": write FILE.py:Class or package.module:Class, such as team_zone.py:TeamZone'
    )


def test_a_missing_file_is_named(plugins, tmp_path):
    assert error_of(plugins, f"{tmp_path}/nothing.py:TeamZone") == f"{tmp_path}/nothing.py: no such file"


def test_a_missing_module_is_named(plugins):
    assert error_of(plugins, "no_such_module.team:TeamZone").startswith(
        "no_such_module.team: no module no_such_module; "
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class A(:\n", "line 1: invalid syntax"),
        ("\n\nx = y\n", "line 3: NameError: name 'y' is not defined"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)\n", "line 1: SystemExit: 3"),
        ("raise KeyError\n", "line 1: KeyError"),
        ("raise ValueError('a\\n b ' * 500)\n", f"line 1: ValueError: {'a b ' * 50}..."),
        ("open('no-such-file')\n", "line 1: FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file'"),
    ],
)
def test_a_file_that_fails_is_told_with_the_line(plugins, tmp_path, text, reason):
    path = tmp_path / "bad.py"
    path.write_text(text)
    modules = set(sys.modules)
    assert error_of(plugins, f"{path}:A") == f"{path}: {reason}"
    assert set(sys.modules) == modules


SLIP = """
from kubesched.framework import Plugin, Status

class Slip(Plugin):
    def filter(self, state, pod, node):
        return Status.SUCCESS

    def preFilter(self, state, pod, nodes):
        return Status.SUCCESS

class Slips(Slip):
    pass
"""


@pytest.mark.parametrize(("name", "line"), [("Slip", 4), ("Slips", 11)])
def test_a_misspelt_hook_is_told_with_the_line_of_its_class(plugins, tmp_path, name, line):
    path = tmp_path / "slips.py"
    path.write_text(SLIP)
    said = f"{path}: line {line}: {name}.preFilter is not a hook, so the scheduler never calls it"
    assert error_of(plugins, f"{path}:{name}").startswith(said)


def test_a_misspelt_hook_stops_no_other_class_of_the_file(plugins, file):
    file.write_text(TEAM_ZONE + SLIP)
    assert plugins.load(f"{file}:TeamZone") == "TeamZone"
    assert "Slip.preFilter is not a hook" in error_of(plugins, f"{file}:Slip")


def test_a_misspelt_hook_of_a_module_is_an_error_every_time(plugins, tmp_path, monkeypatch):
    (tmp_path / "slipped.py").write_text(SLIP)
    monkeypatch.syspath_prepend(tmp_path)
    for _ in range(2):
        assert "Slip.preFilter is not a hook" in error_of(plugins, "slipped:Slip")


def test_a_file_with_a_null_in_it_is_told(plugins, tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("x = 'a\0b'\n")
    # Python 3.11.3 and older call it a ValueError, later ones a SyntaxError.
    assert error_of(plugins, f"{path}:A").replace("ValueError: ", "") == (
        f"{path}: source code string cannot contain null bytes"
    )


def test_a_module_that_fails_is_told(plugins, tmp_path, monkeypatch):
    (tmp_path / "failing_zone.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert error_of(plugins, "failing_zone:TeamZone") == "failing_zone: ZeroDivisionError: division by zero"


def test_a_missing_class_is_told_with_the_nearest(plugins, file):
    assert error_of(plugins, f"{file}:TeamZon") == f'{file} has no class TeamZon; did you mean "TeamZone"?'
    assert error_of(plugins, f"{file}:Zzz") == f"{file} has no class Zzz; it defines TeamZone, Other"


@pytest.mark.parametrize("name", ["number", "PluginArgs", "Plugin"])
def test_what_is_no_plugin_is_refused(plugins, file, name):
    assert error_of(plugins, f"{file}:{name}") == (
        f"{file}:{name} is not a Plugin subclass; derive it from kubesched.Plugin; it defines TeamZone, Other"
    )


def test_a_class_that_would_never_be_called_is_refused(plugins, tmp_path):
    path = tmp_path / "spelt.py"
    path.write_text("from kubesched.framework import Plugin\nclass A(Plugin):\n    def fliter(self, pod): ...\n")
    message, help_line = error_of(plugins, f"{path}:A").split("\n")
    assert message.startswith(f"{path}:A defines no extension point, so it would never be called; define one ")
    assert help_line == '  fliter: did you mean "filter"?'
    assert "A" not in plugins


def test_help_offers_the_nearest_name(plugins):
    assert plugins.help_with("NodeNam") == (
        'no plugin has the name "NodeNam"; did you mean "NodeName"? "kubesched plugin list" prints them; '
        "to load your plugin, add --plugin FILE.py:Class, or in Python plugins=[Class]"
    )


class Announcing(Distribution):
    """An installed package that announces a plugin."""

    def read_text(self, filename):
        return "Name: team-zone\nVersion: 1.2\n" if filename == "METADATA" else None

    def locate_file(self, path):
        raise NotImplementedError


def announce(monkeypatch, *announced: tuple[str, str]) -> None:
    points = EntryPoints(EntryPoint(name, value, ENTRY_POINT_GROUP)._for(Announcing()) for name, value in announced)
    monkeypatch.setattr(registry_module, "entry_points", lambda *, group: points.select(group=group))


def test_packages_are_registered_and_imported_only_when_named(plugins, file, monkeypatch):
    monkeypatch.syspath_prepend(file.parent)
    announce(monkeypatch, ("TeamZone", "team_zone:TeamZone"))
    plugins.register_installed()
    assert "team_zone" not in sys.modules
    assert plugins["TeamZone"].origin == "team-zone 1.2"
    assert plugins.loaded == []
    assert plugins["TeamZone"].plugin_class.__name__ == "TeamZone"


def test_a_broken_package_stops_nobody_who_does_not_name_it(plugins, monkeypatch):
    announce(monkeypatch, ("Lost", "no_such_module:Lost"))
    plugins.register_installed()
    assert "Lost" in plugins.args_types
    with pytest.raises(PluginDefinitionError, match="no module no_such_module"):
        plugins.args_types["Lost"]


NAMED = """
from kubesched.framework import Plugin

class MyPlugin(Plugin):
    name = "my-plugin"

    def score(self, state, pod, node):
        return 1
"""


@pytest.fixture
def named_file(file) -> Path:
    path = file.parent / "named_plugin.py"
    path.write_text(NAMED)
    return path


def test_the_name_that_a_class_sets_is_the_name_of_the_plugin(plugins, named_file):
    assert plugins.load(f"{named_file}:MyPlugin") == "my-plugin"
    assert plugins.loaded == ["my-plugin"]
    assert "MyPlugin" not in plugins
    assert plugins.named("MyPlugin") is plugins.named("my-plugin") is plugins["my-plugin"]


def test_a_class_name_in_the_place_of_the_plugins_name_is_explained(plugins, named_file):
    plugins.load(f"{named_file}:MyPlugin")
    said = 'no plugin has the name "MyPlugin"; the class MyPlugin is the plugin "my-plugin"; write my-plugin'
    assert plugins.help_with("MyPlugin") == said
    assert error_of(plugins, f"{named_file}:my-plugin") == (
        f"{named_file} has no class my-plugin; the class of the plugin my-plugin is MyPlugin; write MyPlugin"
    )


@pytest.mark.parametrize("entry", ["my-plugin", "MyPlugin", "anything"])
def test_an_entry_point_may_have_any_name(plugins, named_file, monkeypatch, entry):
    monkeypatch.syspath_prepend(named_file.parent)
    announce(monkeypatch, (entry, "named_plugin:MyPlugin"))
    plugins.register_installed()
    assert [plugin.name for plugin in plugins.those(["my-plugin"])] == ["my-plugin"]
    assert plugins["my-plugin"].plugin_class.__name__ == "MyPlugin"
    assert plugins.named(entry) is plugins.named("MyPlugin") is plugins["my-plugin"]


def test_the_name_of_an_entry_point_is_not_that_of_a_plugin_and_is_shown(plugins, file, monkeypatch):
    monkeypatch.syspath_prepend(file.parent)
    announce(monkeypatch, ("Zone", "team_zone:TeamZone"))
    plugins.register_installed()
    assert "Zone" not in plugins
    assert plugins["TeamZone"].origin == "team-zone 1.2, entry point Zone"
    assert plugins.help_with("Zone").endswith('the entry point Zone is the plugin "TeamZone"; write TeamZone')


def test_entry_points_of_one_class_are_one_plugin(plugins, named_file, monkeypatch):
    monkeypatch.syspath_prepend(named_file.parent)
    announce(monkeypatch, ("a", "named_plugin:MyPlugin"), ("b", "named_plugin:MyPlugin"))
    plugins.register_installed()
    assert plugins.load("named_plugin:MyPlugin") == "my-plugin"
    assert [plugin.name for plugin in plugins][len(STAND_INS) :] == ["my-plugin"]


def test_entry_points_may_exchange_the_names_of_their_plugins(plugins, file, monkeypatch):
    monkeypatch.syspath_prepend(file.parent)
    announce(monkeypatch, ("Other", "team_zone:TeamZone"), ("TeamZone", "team_zone:Other"))
    plugins.register_installed()
    assert plugins["Other"].plugin_class.__name__ == "Other"
    assert plugins["TeamZone"].plugin_class.__name__ == "TeamZone"


def test_two_classes_of_one_name_are_refused(plugins, file, named_file, monkeypatch):
    (file.parent / "again.py").write_text(NAMED)
    monkeypatch.syspath_prepend(file.parent)
    announce(monkeypatch, ("mine", "named_plugin:MyPlugin"), ("theirs", "again:MyPlugin"))
    plugins.register_installed()
    with pytest.raises(PluginDefinitionError, match="a plugin named my-plugin already exists"):
        list(plugins)


def test_the_user_may_name_the_module_that_a_package_announces(plugins, file, monkeypatch):
    monkeypatch.syspath_prepend(file.parent)
    announce(monkeypatch, ("TeamZone", "team_zone:TeamZone"))
    plugins.register_installed()
    assert plugins.load("team_zone:TeamZone") == "TeamZone"
    assert plugins.loaded == ["TeamZone"]


def test_a_class_that_only_has_a_say_in_preemption_takes_part(plugins: Registry):
    strikes = type("Strikes", (Plugin,), {"preempt": lambda self, state, pod, victims_by_node: victims_by_node})
    plugins.register(strikes, "a test")
    assert plugins["Strikes"].plugin_class.extension_points() == frozenset()


class TeamZone(Plugin):
    def score(self, state, pod, node):
        return 1


def test_in_tree_plugins_are_always_there():
    assert "NodeResourcesFit" in find_plugins()


def test_classes_and_references_stand_side_by_side(tmp_path):
    source = "from kubesched import Plugin\nclass Other(Plugin):\n    def score(self, state, pod, node): return 1\n"
    (tmp_path / "other.py").write_text(source)
    registry = find_plugins([TeamZone, f"{tmp_path}/other.py:Other"])
    assert registry["TeamZone"].plugin_class is TeamZone
    assert registry.loaded == ["TeamZone", "Other"]


@pytest.mark.parametrize("wrong", [TeamZone(), int, None], ids=["instance", "no plugin", "None"])
def test_find_plugins_refuses_what_is_no_plugin(wrong):
    with pytest.raises(PluginDefinitionError, match=r"expected a subclass of kubesched\.Plugin"):
        find_plugins([wrong])


def test_a_plugin_of_the_user_replaces_a_legacy_plugin_of_its_name():
    mine = type("NodeLabel", (Plugin,), {"score": lambda self, state, pod, node: 1})
    registry = find_plugins([mine])
    assert registry["NodeLabel"].plugin_class is mine
    assert find_plugins()["NodeLabel"].origin == LEGACY
