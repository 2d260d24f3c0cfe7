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

_QUIET: Final = "kubesched.quiet"
_NOTES: Final = "kubesched.notes"
_DEBUG: Final = "kubesched.debug"
_PLUGINS: Final = "kubesched.plugin"
"""The logger that gets the tracebacks of plugins, at level DEBUG."""


def is_quiet() -> bool:
    """Whether the command line that runs now has --quiet."""
    context = click.get_current_context(silent=True)
    return context is not None and _QUIET in context.meta


def has_full_notes() -> bool:
    """Whether the command line that runs now has --notes."""
    context = click.get_current_context(silent=True)
    return context is not None and _NOTES in context.meta


def is_debugging(context: click.Context) -> bool:
    """Whether a command line has --debug."""
    return _DEBUG in context.meta


def with_general_options(command: click.Command, around: Decorator = lambda callback: callback) -> click.Command:
    """A copy of a command with both options, and with the name in its help that the user types; also of subcommands.

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


def _be_quiet(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        context.meta[_QUIET] = True


def _note_in_full(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        context.meta[_NOTES] = True


def _debug(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value and _DEBUG not in context.meta:
        context.meta[_DEBUG] = True
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


GENERAL: Final = (
    click.Option(
        ["--quiet"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_be_quiet,
        help="Print no notes and no progress bars.",
    ),
    click.Option(
        ["--notes"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_note_in_full,
        help="Print notes in full: which pods they are about, and what to add to the snapshot.",
    ),
    click.Option(
        ["--debug"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_debug,
        help="Print the traceback of an error, also of one in a plugin.",
    ),
)
"""The options."""
