"""What `--version` prints: what to name in a report about a fault."""

from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from kubesched.cli.output import print_text
from kubesched.release import KNOWN
from kubesched.version import VERSION

_PACKAGE: Final = Path(__file__).parents[1]
_CLONE: Final = _PACKAGE.parents[1]
_OF_CLONE: Final = ("git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=12")


def program_version() -> str:
    """The version, the commit as far as it is known, the Python and the NumPy that run it, and how it decides."""
    import platform
    from importlib.metadata import version

    commit = _commit()
    parts = [f"kubesched {VERSION}", *([f"commit {commit}"] if commit else [])]
    parts += [f"Python {platform.python_version()}", f"NumPy {version('numpy')}"]
    return f"{', '.join(parts)}\nDecides like kube-scheduler {KNOWN}."


def _commit() -> str:
    """Of a package, what its build wrote; of a clone, what is checked out; else empty."""
    with suppress(OSError):
        return (_PACKAGE / "commit.txt").read_text(encoding="ascii").strip()
    return _described() if (_CLONE / ".git").exists() else ""


def _described() -> str:
    import subprocess

    with suppress(OSError, subprocess.SubprocessError):
        answer = subprocess.run(_OF_CLONE, cwd=_CLONE, capture_output=True, text=True, timeout=5, check=True)
        return answer.stdout.strip()
    return ""


def _print(context: click.Context, _: click.Parameter, is_asked: Any) -> None:
    if is_asked and not context.resilient_parsing:
        print_text(program_version())
        context.exit()


version_option: Final = click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print, help="Show the version and exit."
)
