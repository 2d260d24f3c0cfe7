"""Standard input, output and error as a shell may leave them: closed, on a full disk, or with a reader that left."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

import click

from kubesched.cli.bad_input import BadInput

__all__ = ["checked_output", "discard_the_rest"]

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_LEFT: Final = errno.EPIPE
_FAILED: Final = 1  # as click ends after a reader that left


@contextmanager
def checked_output() -> Iterator[None]:
    """Write out what the block prints, and read and write nothing where the shell closed a stream.

    Raises:
        BadInput: standard output cannot be written.
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
        raise BadInput(f"standard output cannot be written: {error.strerror}") from error


def discard_the_rest(stream: TextIO) -> None:
    """Without this, Python would try to write the rest when it ends, and end with a traceback or exit code 120."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
