"""The name under which the program was started: `kubesched`, or `kubectl sched` as a plugin of kubectl."""

import re
import sys
from pathlib import PurePath
from typing import Final

_NAME: Final = "kubesched"
_PLUGIN_FILE: Final = "kubectl-sched"
"""kubectl runs the file of this name on PATH for `kubectl sched`."""
_COMMAND: Final = re.compile(rf"(^|^ {{2,}}|`|\| ){_NAME} (?=[a-z])", re.MULTILINE)
"""The name in an example, in code, or behind a pipe; in a sentence it is the name of the project."""


def program_name() -> str:
    """What a user types before the command."""
    return "kubectl sched" if PurePath(sys.argv[0]).stem == _PLUGIN_FILE else _NAME


def as_typed(text: str) -> str:
    """A command line, or a text with indented ones, with the name that the user types."""
    name = program_name()
    return text if name == _NAME else _COMMAND.sub(lambda place: f"{place[1]}{name} ", text)
