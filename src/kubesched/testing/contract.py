"""Checks of the plugin contract: what holds for every plugin, whatever its rule is.

`check_plugin` looks at which hooks a class defines and gives the checks that apply. Each runs the plugin over a
scenario, by default a small cluster with something of everything, and fails with a sentence that says which promise was
broken.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from kubesched.config import PluginArgs, load_args
from kubesched.framework import DependsOn, Plugin
from kubesched.testing.answer_checks import (
    check_any_node_order,
    check_reasons,
    check_same_answer_twice,
    check_score_range,
    check_snapshot_untouched,
)
from kubesched.testing.column_checks import check_kept_columns, check_moved_pods, check_some_rows
from kubesched.testing.run_checks import check_allowed_answers, check_unreserve
from kubesched.testing.scenario import Scenario, varied_scenario
from kubesched.testing.subject import Subject

__all__ = ["Check", "check_plugin"]


class Check(msgspec.Struct, frozen=True):
    """One promise of a plugin: call it; `str()` names it.

    Attributes:
        name: what is promised.
    """

    name: str
    _run: Callable[[Subject], None]
    _subject: Subject

    def __call__(self) -> None:
        """Hold the plugin to it.

        Raises:
            AssertionError: the promise is broken; the text says where and how.
        """
        self._run(self._subject.renewed())

    def __str__(self) -> str:
        return self.name


def check_plugin(
    plugin_class: type[Plugin],
    *,
    args: PluginArgs | Mapping[str, Any] | None = None,
    scenario: Scenario | None = None,
) -> list[Check]:
    """Find the checks that apply to a plugin.

    Args:
        args: the plugin's arguments, as its Args or as the configuration spells them.
        scenario: what the plugin is asked about; give it pods and nodes that make your rule say yes and no:
            `varied_scenario().extended(pending=[...])`.
    Raises:
        ConfigError: the arguments do not hold.

    Example:
        @pytest.mark.parametrize("check", check_plugin(TeamZone, args={"owners": {"shop": "a"}}), ids=str)
        def test_contract(check):
            check()
    """
    subject = Subject(plugin_class, _as_args(plugin_class, args), scenario or varied_scenario())
    return [Check(name, run, subject) for name, applies, run in _CHECKS if applies(plugin_class)]


def _as_args(plugin_class: type[Plugin], args: PluginArgs | Mapping[str, Any] | None) -> PluginArgs:
    if isinstance(args, PluginArgs):
        return args
    return _decoded(plugin_class, dict(args or {}))


def _decoded(plugin_class: type[Plugin], fields: Mapping[str, Any]) -> PluginArgs:
    """The arguments as a configuration would bring them."""
    alias = "CheckedPlugin"  # an in-tree name would make the reader look for a kind of arguments
    decoded = load_args(msgspec.json.encode(fields), alias, args_types={alias: plugin_class.Args})
    assert isinstance(decoded, PluginArgs)
    return decoded


def _check_args(subject: Subject) -> None:
    """Arguments hold, are what a file with the same fields gives, and reach the plugin."""
    name, args = subject.name, subject.args
    assert isinstance(args, subject.plugin_class.Args), f"{name}: {args!r} is no {name}.Args"
    findings = args.validate("args")
    assert not findings, f"{name}: the arguments do not hold: {'; '.join(map(str, findings))}"
    written = msgspec.to_builtins(args, enc_hook=str)
    again = _decoded(subject.plugin_class, written)
    assert again == args, f"{name}: arguments come back from a file as {again}, not as {args}"
    assert subject.plugin_class(args).args is args, f"{name}: __init__ must store the arguments that it is given"


def _always(plugin_class: type[Plugin]) -> bool:
    return True


def _filters_or_scores(plugin_class: type[Plugin]) -> bool:
    return not plugin_class.extension_points().isdisjoint({"preFilter", "filter", "preScore", "score"})


def _rejects(plugin_class: type[Plugin]) -> bool:
    return not plugin_class.extension_points().isdisjoint({"preEnqueue", "preFilter", "filter", "reserve", "permit"})


def _scores(plugin_class: type[Plugin]) -> bool:
    return "score" in plugin_class.extension_points()


def _has_columns(plugin_class: type[Plugin]) -> bool:
    return plugin_class.defines("filter_nodes") or plugin_class.defines("score_nodes")


def _has_kept_columns(plugin_class: type[Plugin]) -> bool:
    return _has_columns(plugin_class) and plugin_class.depends_on in (DependsOn.NODE, DependsOn.ROW)


def _looks_at_moved_pods(plugin_class: type[Plugin]) -> bool:
    return plugin_class.defines("filter_nodes") or plugin_class.defines("filter")


def _reserves(plugin_class: type[Plugin]) -> bool:
    return "reserve" in plugin_class.extension_points()


_CHECKS: Final = (
    ("args_survive_a_file", _always, _check_args),
    ("hooks_answer_what_is_allowed", _always, check_allowed_answers),
    ("same_answer_twice", _filters_or_scores, check_same_answer_twice),
    ("same_answer_in_any_node_order", _filters_or_scores, check_any_node_order),
    ("same_answer_for_some_rows", _has_columns, check_some_rows),
    ("snapshot_untouched", _filters_or_scores, check_snapshot_untouched),
    ("scores_from_0_to_100", _scores, check_score_range),
    ("a_reason_with_every_rejection", _rejects, check_reasons),
    ("kept_columns_stay_true", _has_kept_columns, check_kept_columns),
    ("moved_pods_count", _looks_at_moved_pods, check_moved_pods),
    ("unreserve_gives_back", _reserves, check_unreserve),
)
