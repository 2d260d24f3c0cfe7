"""Refuses to write a file over an input of the same command."""

import os
from collections.abc import Iterable
from pathlib import Path

from kubesched.cli.standard_streams import STANDARD_STREAM
from kubesched.errors import InputError


def refuse_inputs(option: str, file: str | os.PathLike[str], inputs: Iterable[str]) -> None:
    """Refuse a file to write that is an input, or is in a folder that is one.

    Args:
        option: names the file on the command line.
        inputs: files and folders; `-` is standard input.
    Raises:
        InputError: it would replace an input.
    """
    target = Path(file)
    for given in inputs:
        if given == STANDARD_STREAM or not target.exists():
            continue
        if is_same_file(target, Path(given)) or Path(given).resolve() in target.resolve().parents:
            raise InputError(f"{option} {file} would replace an input; name another file")


def is_same_file(first: Path, second: Path) -> bool:
    """Whether two paths lead to the same file, which need not exist."""
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()
