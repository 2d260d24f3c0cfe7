"""--write: the cluster after a command, for the next one."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.completion import complete_files
from kubesched.cli.written_files import refuse_inputs

if TYPE_CHECKING:
    from kubesched.api import KubeObject
    from kubesched.snapshot import ClusterObjects

write_option: Final = click.option(
    "--write",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write the cluster afterwards, for the next command: placed pods run, evicted ones are re-created, others "
    "are pending. A file in .json, .json.gz or .json.zst.",
)
"""The argument `write` of a command."""


def check_written(write: str | None, inputs: Iterable[str]) -> None:
    """Refuse the file of --write, if it is given, before the command begins.

    Raises:
        InputError: it would replace an input, or it is not a name for a snapshot.
    """
    from kubesched.snapshot import check_target

    if write is not None:
        refuse_inputs("--write", check_target(write), inputs)


def write_after(cluster: "ClusterObjects", objects: "Iterable[KubeObject]", write: str | None) -> None:
    """Write the cluster afterwards, if --write is given.

    Args:
        cluster: as it was read.
    """
    import msgspec

    from kubesched.snapshot import write_snapshot

    if write is not None:
        write_snapshot(msgspec.structs.replace(cluster, objects=tuple(objects)), write)
