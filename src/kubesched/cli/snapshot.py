"""`kubesched snapshot`: save the objects that decide where pods go."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kubesched.cli.cluster import note, read_cluster, read_setup
from kubesched.cli.live_cluster import live_source_options
from kubesched.cli.options import setup_options, skip_bad_objects_option, snapshots_argument

if TYPE_CHECKING:
    from kubesched.snapshot import ClusterObjects


@click.command()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    help="The file to write: .json, .json.gz or .json.zst; - for standard output, as JSON.  [default: -]",
)
@live_source_options
@snapshots_argument
@skip_bad_objects_option
@click.option(
    "--keep-annotations",
    is_flag=True,
    help="Keep all annotations, for plugins that read them. Without this option only those that a rule of "
    "kube-scheduler reads are kept.",
)
@setup_options
def snapshot(
    snapshots: tuple[str, ...],
    output: str,
    skip_bad_objects: bool,
    keep_annotations: bool,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
) -> None:
    """Save what decides where pods go in one file.

    Without a SNAPSHOT it reads the cluster of the current kubeconfig context. The file has only the kinds and fields
    that a scheduler reads: no Secrets or ConfigMaps, no environment variables, commands or arguments.

    \b
    Examples:
      kubesched snapshot -o cluster.json.gz
      kubesched snapshot --context prod -o prod.json.zst
      kubesched snapshot kubectl-dump.json -o small.json.gz

    --config and --plugin name what will read the file: a plugin or an extender that needs whole objects gets them.
    """  # noqa: D301
    from kubesched.snapshot import only_read_fields

    setup = read_setup(config, references, plugin_args)
    _check_output(output)
    cluster = read_cluster(snapshots, (), skip_bad_objects=skip_bad_objects)
    kept = only_read_fields(cluster, keep_annotations=keep_annotations, whole=setup.raw_kinds)
    _write(kept, output)


def _check_output(output: str) -> None:
    """Refuse an output that cannot be written before the cluster is read."""
    from kubesched.snapshot import check_target

    if output != "-":
        check_target(output)
    elif sys.stdout.isatty():
        raise click.UsageError("standard output is a terminal; name a file, such as -o cluster.json.gz")


def _write(cluster: "ClusterObjects", output: str) -> None:
    from kubesched.snapshot import write_snapshot

    write_snapshot(cluster, sys.stdout.buffer if output == "-" else output, strip=True)
    if output != "-":
        kinds = cluster.kinds
        nodes, pods = kinds.pop("Node", 0), kinds.pop("Pod", 0)
        size = Path(output).stat().st_size / 1e6
        note(f"wrote {nodes} nodes, {pods} pods and {sum(kinds.values())} other objects to {output} ({size:.1f} MB)")
