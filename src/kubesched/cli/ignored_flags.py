"""Flags of kube-scheduler that `kubesched scheduler` accepts, so that its command lines work, and ignores.

Rule: kube-scheduler v1.36. Flags that it has no longer are unknown here, too: to ignore a --policy-config-file would
place pods by other rules.
"""

from typing import Any, Final

import click

from kubesched.cli.parameters import Command
from kubesched.known_flags import BOOLEAN_FLAGS, FLAGS

_GIVEN: Final = f"{__name__}.given"  # the names on this command line


def ignored_flags(command: Command) -> Command:
    """Accept kube-scheduler's flags that the command does not have, without showing them in --help.

    It is the outermost of the command's decorators: it looks at the options that the others declared.
    `given_ignored_flags` returns those that were given.
    """
    declared = {name for option in getattr(command, "__click_params__", ()) for name in option.opts}
    for name in sorted(FLAGS - {"help"}):
        if f"--{name}" not in declared:
            value: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if name in BOOLEAN_FLAGS else {}
            decorate = click.option(
                f"--{name}", **value, multiple=True, hidden=True, expose_value=False, callback=_note_given
            )
            command = decorate(command)
    return command


def given_ignored_flags() -> list[str]:
    """The flags on this command line that have no effect, sorted."""
    return sorted(click.get_current_context().meta.get(_GIVEN, ()))


def _note_given(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> None:
    if values:
        context.meta.setdefault(_GIVEN, set()).add(option.opts[0])
