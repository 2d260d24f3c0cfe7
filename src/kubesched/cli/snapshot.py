"""`kubesched snapshot`: save the objects that decide where pods go: all, or what one pod needs; also without names."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.cluster import note, read_cluster, read_setup_in_any_version
from kubesched.cli.completed_names import complete_pods
from kubesched.cli.completion import complete_files
from kubesched.cli.inputs import InputOptions, with_inputs
from kubesched.cli.options import live_source_options, setup_options, skip_bad_objects_option, snapshots_argument
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import not_empty
from kubesched.cli.standard_streams import STANDARD_STREAM, standard_output
from kubesched.cli.written_files import refuse_inputs

if TYPE_CHECKING:
    from kubesched.api import Pod
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects

_NODE_METRICS: Final = "metrics.k8s.io/v1beta1/NodeMetrics"
_LISTED: Final = "kubesched explain lists the pending pods"
_MOST_WORDS: Final = 20


def _further_kinds(context: click.Context, option: click.Parameter, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """--keep: kinds that a snapshot does not have anyway."""
    from kubesched.api import Unstructured, kind_named

    for name in kinds:
        if (kind := kind_named(name)).type is not Unstructured:
            raise click.BadParameter(f"{kind.key} is in every snapshot; leave the option out")
    return kinds


@click.command()
@with_inputs()
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=STANDARD_STREAM,
    shell_complete=complete_files,
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
@click.option(
    "--keep",
    metavar="KIND",
    multiple=True,
    callback=_further_kinds,
    help="Keep the objects of a further kind whole, for plugins that read them: group/version/Kind, such as "
    "scheduling.example.com/v1/Quota. Those that a plugin of --plugin reads are kept without this option. Repeatable.",
)
@click.option(
    "--usage",
    is_flag=True,
    help="Keep what metrics-server measures on the nodes: --keep metrics.k8s.io/v1beta1/NodeMetrics.",
)
@click.option(
    "--anonymize",
    is_flag=True,
    help="Replace names, namespaces, label keys and values, images and uids consistently, such as by node-17 and "
    "team-3, so that the decisions stay the same. Words of the configuration and of plugin arguments stay, and what "
    "CEL expressions compare.",
)
@click.option(
    "--salt",
    metavar="TEXT",
    callback=not_empty,
    help="With --anonymize: derive the replacements from this secret, so that a name gets the same one in every "
    "snapshot. Without a salt they say what they name, and keep the order of the names.",
)
@click.option(
    "--table",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --anonymize: write the replaced words to this file, as JSON that translates back. Keep it private.",
)
@click.option(
    "--around",
    metavar="NS/POD",
    shell_complete=complete_pods,
    help="Write the smallest part found in which this pod, or a pod of this workload, gets the same verdict from "
    "explain, for a bug report.",
)
@setup_options
def snapshot(
    inputs: InputOptions,
    output: str,
    keep_annotations: bool,
    keep: tuple[str, ...],
    usage: bool,
    anonymize: bool,
    salt: str | None,
    table: Path | None,
    around: str | None,
) -> None:
    """Save what decides where pods go in one file.

    Without a SNAPSHOT it reads the cluster of the current kubeconfig context. The file has only the kinds and fields
    that a scheduler reads, and the node pools of autoscalers: no Secrets, no environment variables, commands or
    arguments. --keep adds objects of other kinds, whole.

    \b
    Examples:
      kubesched snapshot -o cluster.json.gz
      kubesched snapshot --context prod -o prod.json.zst
      kubesched snapshot kubectl-dump.json -o small.json.gz
      kubesched snapshot --usage --keep scheduling.example.com/v1/Quota -o cluster.json.gz
      kubesched snapshot --anonymize --table names.json -o to-share.json.gz
      kubesched snapshot --around shop/web-0 --anonymize -o bug.json

    --config and --plugin name what will read the file: a plugin or an extender that needs whole objects gets them,
    except with --anonymize.
    """  # noqa: D301
    from kubesched.snapshot import only_read_fields

    setup, _ = read_setup_in_any_version(inputs.setup)
    _check_files(inputs, output, table)
    kinds = (*keep, *((_NODE_METRICS,) if usage else ()), *setup.read_kinds)
    cluster = read_cluster(inputs, kinds=kinds, may_lack_nodes=True)
    if anonymize:
        cluster = _decoded_only(cluster)
    whole = frozenset() if anonymize else setup.raw_kinds
    kept = only_read_fields(cluster, keep_annotations=keep_annotations, whole=whole)
    pod = None
    if around is not None:
        pod = _pod_of(kept, around)
        kept = _around(kept, pod, setup)
    if anonymize:
        kept = _anonymous(kept, salt or "", table, pod, setup if any(inputs.setup) else None)
    _write(kept, output)


def _decoded_only(cluster: "ClusterObjects") -> "ClusterObjects":
    """The cluster without the objects whose names cannot be replaced."""
    import msgspec

    from kubesched.api import Unstructured
    from kubesched.documents import count

    decoded = tuple(known for known in cluster.objects if not isinstance(known, Unstructured))
    if n := len(cluster.objects) - len(decoded):
        note(f"--anonymize leaves out {count(n, 'object')} that only plugins read: their names cannot be replaced")
    return msgspec.structs.replace(cluster, objects=decoded)


def _check_files(inputs: InputOptions, output: str, table: Path | None) -> None:
    """Refuse files that cannot or should not be written before the cluster is read."""
    from kubesched.errors import InputError
    from kubesched.snapshot import check_target

    if output != STANDARD_STREAM:
        refuse_inputs("-o", check_target(output), inputs.snapshots)
    if table is not None:
        if not table.parent.is_dir():
            raise InputError(f"{table}: cannot be written: No such file or directory")
        refuse_inputs("--table", table, inputs.snapshots)


def _pod_of(cluster: "ClusterObjects", name: str) -> "Pod":
    """The pod of that name; of a workload the first one that is pending, or the first one."""
    from kubesched.errors import InputError
    from kubesched.naming import choose_pods

    pods = choose_pods(cluster, [name], otherwise=_LISTED).pods
    if not pods:
        raise InputError(f"--around {name}: it has no pods; {_LISTED}")
    if len(pods) > 1:
        note(f"{name} has {len(pods)} pods; {pods[0].key} is the first of them")
    return pods[0]


def _around(cluster: "ClusterObjects", pod: "Pod", setup: "Setup") -> "ClusterObjects":
    from kubesched.capture import smallest_around

    with progress_bar("shrinking") as progress:
        smallest = smallest_around(cluster, pod.key, setup, progress=progress)
    note(f"{len(smallest)} of {len(cluster)} objects are enough for the same verdict on {pod.key}")
    return smallest


def _anonymous(
    cluster: "ClusterObjects", salt: str, table: Path | None, around: "Pod | None", setup: "Setup | None"
) -> "ClusterObjects":
    """The cluster with other names; the words of a setup stay."""
    import msgspec

    from kubesched.capture import anonymize
    from kubesched.config import effective
    from kubesched.documents import listed
    from kubesched.snapshot import replacing

    keep = () if setup is None else (msgspec.json.encode(effective(setup.configuration, setup.release)).decode(),)
    if setup is not None and setup.raw_kinds:
        note("--anonymize leaves out fields that only plugins or extenders read: their names cannot be replaced")
    with progress_bar("replacing names"):
        anonymous = anonymize(cluster, salt, keep)
    if anonymous.device_words:
        note(
            "--anonymize keeps drivers of devices, and what CEL expressions and constraints of claims compare: "
            f"{listed(anonymous.device_words, _MOST_WORDS)}"
        )
    if table is not None:
        with replacing(table, is_private=True) as file:
            file.write(msgspec.json.format(msgspec.json.encode(anonymous.table, order="sorted")))
    if around is not None:
        pairs = zip(cluster.objects, anonymous.cluster.objects, strict=True)
        renamed = next(new for old, new in pairs if old is around)
        note(f"{around.key} has the name {renamed.key} in the new snapshot")
    return anonymous.cluster


def _write(cluster: "ClusterObjects", output: str) -> None:
    from kubesched.documents import count
    from kubesched.snapshot import write_snapshot

    write_snapshot(cluster, standard_output().buffer if output == STANDARD_STREAM else output, strip=True)
    if output != STANDARD_STREAM:
        kinds = cluster.kinds
        nodes, pods = kinds.pop("Node", 0), kinds.pop("Pod", 0)
        counted = f"{count(nodes, 'node')}, {count(pods, 'pod')} and {count(sum(kinds.values()), 'other object')}"
        note(f"wrote {counted} to {output} ({_size(Path(output).stat().st_size)})")


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 100_000 else f"{n_bytes / 1e3:.1f} kB"
