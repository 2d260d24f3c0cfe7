"""--quiet, --notes and --debug, which every command has, before and after its name."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Final

import click

from kubesched.cli.parameters import Decorator
from kubesched.cli.program_name import as_typed

_KEY: Final = "kubesched."
"""Begins the keys of given options in the metadata of a context."""
_PLUGINS: Final = "kubesched.plugin"
"""The logger that gets the tracebacks of plugins, at level DEBUG."""


def is_quiet() -> bool:
    """Whether the command line that runs now has --quiet."""
    return _is_given("quiet", click.get_current_context(silent=True))


def has_full_notes() -> bool:
    """Whether the command line that runs now has --notes."""
    return _is_given("notes", click.get_current_context(silent=True))


def is_debugging(context: click.Context) -> bool:
    """Whether a command line has --debug."""
    return _is_given("debug", context)


def _is_given(name: str, context: click.Context | None) -> bool:
    return context is not None and _KEY + name in context.meta


def with_general_options(command: click.Command, around: Decorator = lambda callback: callback) -> click.Command:
    """A copy of a command with the options, and with the name in its help that the user types; also of subcommands.

    Args:
        around: what its function is called through.
    """
    copied = copy(command)
    copied.help = as_typed(command.help or "")
    copied.params = [*command.params, *GENERAL]
    copied.callback = command.callback and around(command.callback)
    if isinstance(copied, click.Group):
        copied.commands = {name: with_general_options(child, around) for name, child in copied.commands.items()}
    return copied


def _note_given(context: click.Context, option: click.Parameter, value: bool) -> None:
    """Note in the context that an option is given; it can be before and after the name of the command."""
    name = option.name or ""
    if value and not _is_given(name, context):
        context.meta[_KEY + name] = True
        if name == "debug":
            context.with_resource(_tracebacks_of_plugins())


@contextmanager
def _tracebacks_of_plugins() -> Iterator[None]:
    """Log the tracebacks of plugins inside the block, also where the command sets up other log lines itself.

    Raises:
        InputError: LOG_LEVEL is not a level.
    """
    from kubesched.serving import set_up_logging

    root, plugins = logging.getLogger(), logging.getLogger(_PLUGINS)
    before = list(root.handlers), root.level, plugins.level
    set_up_logging({"LOG_LEVEL": os.environ.get("LOG_LEVEL") or "warning"})
    plugins.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.handlers[:], root.level, plugins.level = before


_HELP: Final = {
    "quiet": "Print no notes and no progress bars.",
    "notes": "Print notes in full: which pods they are about, and what to add to the snapshot.",
    "debug": "Print the traceback of an error, also of one in a plugin.",
}
GENERAL: Final = tuple(
    click.Option([f"--{name}"], is_flag=True, is_eager=True, expose_value=False, callback=_note_given, help=help_text)
    for name, help_text in _HELP.items()
)
"""The options."""
