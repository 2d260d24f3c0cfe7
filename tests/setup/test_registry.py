import pytest

from kubesched.errors import PluginDefinitionError
from kubesched.framework import Plugin
from kubesched.setup import find_plugins


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
def test_what_is_no_plugin_is_refused(wrong):
    with pytest.raises(PluginDefinitionError, match=r"allowed are classes derived from kubesched\.Plugin"):
        find_plugins([wrong])
