"""Tells the SNAPSHOTs among the arguments of a command from the names of pods or nodes.

An argument is a SNAPSHOT if it is `-`, if there is a file or folder of that name, or if it ends as snapshot files do.
Everything else is a name. `./web-7` is always a file, also where a folder has the name of a pod.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

_FILE_ENDINGS: Final = (".json", ".jsonl", ".yaml", ".yml", ".gz", ".zst", ".tar", ".tgz")


class Targets(NamedTuple):
    """The arguments of a command.

    Attributes:
        snapshots: for `read_cluster`; empty for the live cluster.
        names: what the command is asked about.
    """

    snapshots: tuple[str, ...]
    names: tuple[str, ...]


def split_targets(arguments: Sequence[str]) -> Targets:
    """Sort the arguments of a command into snapshots and names, each in the given order.

    Example:
        assert split_targets(["cluster.json", "worker-3"]) == (("cluster.json",), ("worker-3",))
    """
    snapshots = tuple(argument for argument in arguments if _is_file(argument))
    return Targets(snapshots, tuple(argument for argument in arguments if argument not in snapshots))


def _is_file(argument: str) -> bool:
    """A file that does not exist is one by its ending: it is reported as missing, not as an unknown name."""
    is_path = argument.startswith(("./", "../", "/", "~"))
    if argument == "-" or is_path or argument.lower().endswith(_FILE_ENDINGS):
        return True
    with suppress(OSError):  # no file has so long a name, or it may not be looked for
        return Path(argument).exists()
    return False
