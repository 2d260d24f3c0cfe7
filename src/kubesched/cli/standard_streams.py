"""Standard input, output and error as a shell may leave them: closed, on a full disk, or with a reader that left.

Standard output belongs to the command: what a plugin prints goes to standard error.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import update_wrapper
from pathlib import Path
from typing import Any, Final, TextIO

import click

from kubesched.errors import InputError

STANDARD_STREAM: Final = "-"
"""In place of a file: standard input or output."""
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_LEFT: Final = errno.EPIPE
_FAILED: Final = 1  # as click ends after a reader that left
_OWN: Final = "kubesched.stdout"


def with_own_output(callback: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a command, during which `print` writes to standard error; it prints to `standard_output`."""

    def call(*arguments: Any, **options: Any) -> Any:
        click.get_current_context().meta[_OWN] = sys.stdout
        with redirect_stdout(sys.stderr):
            return callback(*arguments, **options)

    return update_wrapper(call, callback)


def standard_output() -> TextIO:
    """Where the output of the command that runs now goes."""
    context = click.get_current_context(silent=True)
    own: TextIO | None = None if context is None else context.meta.get(_OWN)
    return sys.stdout if own is None else own


@contextmanager
def checked_output() -> Iterator[None]:
    """Write out what the block prints, and read and write nothing where the shell closed a stream.

    Raises:
        InputError: standard output cannot be written.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - for the rest of the process
            setattr(sys, name, nowhere)
    try:
        try:
            yield
        except (SystemExit, click.exceptions.Exit):
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None or error.errno not in (*_FULL, _LEFT):  # of another file
            raise
        discard_the_rest(sys.stdout)
        if error.errno == _LEFT:
            sys.exit(_FAILED)
        raise InputError(f"standard output cannot be written: {error.strerror}") from error


def discard_the_rest(stream: TextIO) -> None:
    """Without this, Python would try to write the rest when it ends, and end with a traceback or exit code 120."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
