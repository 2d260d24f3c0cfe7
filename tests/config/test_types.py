from kubesched.config import PluginEntry, Plugins, PluginSet


def test_plugin_sets_are_listed_by_the_names_of_files():
    assert list(Plugins().by_point()) == [
        "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit",
        "preBind", "bind", "postBind", "placementGenerate", "placementScore", "podGroupPostFilter",
        "multiPoint",
    ]  # fmt: skip


def test_the_plugins_to_build_are_those_that_some_set_enables():
    plugins = Plugins(
        filter=PluginSet(enabled=(PluginEntry("A"),), disabled=(PluginEntry("B"),)),
        multi_point=PluginSet(enabled=(PluginEntry("C"),)),
    )
    assert plugins.enabled_names == {"A", "C"}
    assert plugins.filter.disabled_names == {"B"}
