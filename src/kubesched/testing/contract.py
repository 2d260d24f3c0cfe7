"""Checks of the contract that every plugin has to keep, whatever its rule is.

`check_plugin` looks at which hooks a class defines and gives the checks that apply. Each runs the plugin over a
scenario, by default a small cluster with something of everything, and fails with a sentence that names the broken
promise.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from kubesched.config import PluginArgs, load_args
from kubesched.errors import PluginError
from kubesched.framework import HOOKS, Plugin
from kubesched.testing.answer_checks import (
    check_any_node_order,
    check_reasons,
    check_same_answer_twice,
    check_score_range,
    check_snapshot_untouched,
)
from kubesched.testing.column_checks import check_kept_columns, check_moved_pods, check_some_rows
from kubesched.testing.equality_checks import check_equal_by
from kubesched.testing.run_checks import check_allowed_answers, check_unreserve
from kubesched.testing.scenario import Scenario, varied_scenario
from kubesched.testing.subject import Subject


class ContractCheck(msgspec.Struct, frozen=True):
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
            AssertionError: the promise is broken; the text has the place and the difference.
        """
        try:
            self._run(self._subject.renewed())
        except PluginError as error:  # from start
            raise AssertionError(f"{self._subject.name}: {error}") from None

    def __str__(self) -> str:
        return self.name


def check_plugin(
    plugin_class: type[Plugin], *, args: PluginArgs | Mapping[str, Any] | None = None, scenario: Scenario | None = None
) -> list[ContractCheck]:
    """Find the checks that apply to a plugin.

    Args:
        args: the plugin's arguments, as its Args or as the configuration spells them.
        scenario: what the plugin is asked about; extend it until your rule accepts some nodes and rejects others:
            `varied_scenario().extended(pending=[...])`.
    Raises:
        ConfigError: the arguments are not valid.

    Example:
        @pytest.mark.parametrize("check", check_plugin(TeamZone, args={"owners": {"shop": "a"}}), ids=str)
        def test_contract(check):
            check()
    """
    decoded = args if isinstance(args, PluginArgs) else _decoded(plugin_class, args or {})
    subject = Subject(plugin_class, decoded, scenario or varied_scenario())
    return [
        ContractCheck(name, check, subject) for name, hooks, check in _CHECKS if _applies(hooks, check, plugin_class)
    ]


def _decoded(plugin_class: type[Plugin], fields: Mapping[str, Any]) -> PluginArgs:
    """The arguments as a configuration would bring them."""
    alias = f"checked {plugin_class.name}"  # an in-tree name would make the reader look for a kind of arguments
    decoded = load_args(msgspec.json.encode(dict(fields), enc_hook=str), alias, args_types={alias: plugin_class.Args})
    assert isinstance(decoded, PluginArgs)
    return decoded


def _check_args(subject: Subject) -> None:
    """Arguments are valid, equal to those from a file with the same fields, and reach the plugin."""
    name, args = subject.name, subject.args
    assert isinstance(args, subject.plugin_class.Args), (
        f"{name}: {args!r} is not a {subject.plugin_class.__name__}.Args"
    )
    findings = args.validate("args")
    assert not findings, f"{name}: the arguments are not valid: {'; '.join(map(str, findings))}"
    written = msgspec.to_builtins(args, enc_hook=str)
    again = _decoded(subject.plugin_class, written)
    assert again == args, f"{name}: a configuration file with the arguments {args} gives {again}"
    assert subject.plugin_class(args).args is args, f"{name}: __init__ must store its arguments"


_FILTER_HOOKS: Final = HOOKS["preFilter"] + HOOKS["filter"]
_COLUMN_HOOKS: Final = ("filter_nodes", "score_nodes")
_JUDGING: Final = _FILTER_HOOKS + HOOKS["preScore"] + HOOKS["score"]
_REJECTING: Final = HOOKS["preEnqueue"] + _FILTER_HOOKS + HOOKS["reserve"] + HOOKS["permit"]

# name, the hooks of which a class must define one, check
_CHECKS: Final[tuple[tuple[str, tuple[str, ...], Callable[[Subject], None]], ...]] = (
    ("args_survive_a_file", (), _check_args),
    ("hooks_answer_what_is_allowed", (), check_allowed_answers),
    ("same_answer_twice", _JUDGING, check_same_answer_twice),
    ("same_answer_in_any_node_order", _JUDGING, check_any_node_order),
    ("same_answer_for_some_rows", _COLUMN_HOOKS, check_some_rows),
    ("snapshot_untouched", _JUDGING, check_snapshot_untouched),
    ("scores_from_0_to_100", HOOKS["score"], check_score_range),
    ("a_reason_with_every_rejection", _REJECTING, check_reasons),
    ("kept_columns_stay_true", _COLUMN_HOOKS, check_kept_columns),
    ("equal_pods_get_equal_answers", _JUDGING, check_equal_by),
    ("moved_pods_count", HOOKS["filter"], check_moved_pods),
    ("unreserve_gives_back", HOOKS["reserve"], check_unreserve),
)


def _applies(hooks: tuple[str, ...], check: Callable[[Subject], None], plugin_class: type[Plugin]) -> bool:
    if check is check_kept_columns and not plugin_class.depends_on.is_of_rows:
        return False
    if check is check_equal_by and plugin_class.equal_by is None:
        return False
    return not hooks or any(map(plugin_class.defines, hooks))
