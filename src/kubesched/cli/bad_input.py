"""Ends a command after invalid input: one message, exit code 2, no stack trace."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from kubesched.errors import InputError, PluginDefinitionError


class BadInput(click.ClickException):
    """A file, an object or a plugin that cannot be used."""

    exit_code = 2


@contextmanager
def refuse_bad_input() -> Iterator[None]:
    """Turn the faults of a user's input inside the block into the end of the command."""
    try:
        yield
    except (InputError, PluginDefinitionError) as error:
        raise BadInput(str(error)) from error
