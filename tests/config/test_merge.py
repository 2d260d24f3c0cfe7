import pytest

from kubesched.config import PluginEntry, PluginSet
from kubesched.config.defaults import merge_plugin_set

DEFAULT = PluginSet(enabled=(PluginEntry("A", 1), PluginEntry("B", 2), PluginEntry("C", 3)))


def entries(text: str) -> tuple[PluginEntry, ...]:
    """`A=5 B` -> A with weight 5, B without."""
    pairs = (word.partition("=") for word in text.split())
    return tuple(PluginEntry(name, int(weight or 0)) for name, _, weight in pairs)


@pytest.mark.parametrize(
    ("enabled", "disabled", "merged"),
    [
        ("", "", "A=1 B=2 C=3"),
        ("D=4", "", "A=1 B=2 C=3 D=4"),
        ("B=9", "", "A=1 B=9 C=3"),
        ("", "B", "A=1 C=3"),
        ("B=9", "B", "A=1 C=3 B=9"),
        ("D B", "*", "D B"),
        ("B=7 B=8", "", "A=1 B=8 C=3 B=7"),
        ("D D", "", "A=1 B=2 C=3 D D"),
    ],
)
def test_custom_plugins_change_the_default_ones_as_upstream_does(enabled, disabled, merged):
    result = merge_plugin_set(DEFAULT, PluginSet(entries(enabled), entries(disabled)))
    assert result == PluginSet(entries(merged), entries(disabled))
