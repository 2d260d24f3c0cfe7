"""`kubesched explain`: explain why a pod goes to its node, or why no node fits."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from kubesched.cli.cluster import extender_calls, read_cluster, read_setup
from kubesched.cli.options import cluster_options, extenders_option, setup_options
from kubesched.cli.output import output_option, print_document, print_line

if TYPE_CHECKING:
    from kubesched.explanation import Explanation
    from kubesched.setup import ExtenderCalls, Setup
    from kubesched.snapshot import ClusterObjects

_MAX_NAMED: Final = 5


@click.command()
@cluster_options
@setup_options
@extenders_option
@click.option(
    "--pod", metavar="NAMESPACE/NAME", help="The pod to explain, placed or pending; or a file with one pod: POD.yaml."
)
@click.option("--all", "all_pods", is_flag=True, help="Explain all pending pods, highest priority first.")
@click.option(
    "--node", "nodes", metavar="NAME", multiple=True, help="Show each plugin's verdict on this node. Repeatable."
)
@click.option("--all-nodes", is_flag=True, help="Show every node, not only the 20 that are nearest to fitting.")
@click.option(
    "--by",
    type=click.Choice(["node", "plugin"]),
    default="node",
    show_default=True,
    help="Show a table row per node or per plugin.",
)
@output_option("table", "json", "jsonl", help="docs/reference/output.md describes the fields.")
def explain(
    snapshots: tuple[str, ...],
    manifests: tuple[str, ...],
    skip_bad_objects: bool,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    extenders: str,
    pod: str | None,
    all_pods: bool,
    nodes: tuple[str, ...],
    all_nodes: bool,
    by: str,
    output: str,
) -> None:
    """Explain why a pod goes to its node, or why no node fits.

    \b
    Examples:
      kubesched explain cluster.json --pod shop/web-7
      kubesched explain cluster.json --pod new-pod.yaml --by plugin
      kubesched explain cluster.json --pod shop/web-7 --node worker-3
      kubesched explain cluster.json --all -o jsonl

    A pod that has a node is explained as if it were still pending. SNAPSHOT is a file or folder of
    `kubectl get -o json|yaml`, also compressed, or - for standard input.
    """  # noqa: D301
    if all_pods and pod is not None:
        raise click.UsageError("--all and --pod are mutually exclusive")
    if all_pods and (nodes or all_nodes):
        raise click.UsageError("--node and --all-nodes need one pod: name it with --pod")
    setup = read_setup(config, references, plugin_args)
    cluster = read_cluster(snapshots, manifests, skip_bad_objects=skip_bad_objects)
    calls = extender_calls(setup, extenders)
    if all_pods:
        _print_all(cluster, setup, calls, output)
    else:
        view = View(by=by, nodes=nodes, all_nodes=all_nodes)
        _print_one(_explain(cluster, setup, calls, pod), view, output)


class View(NamedTuple):
    """Which part of an explanation is shown as text."""

    by: str
    nodes: tuple[str, ...]
    all_nodes: bool


def _print_all(cluster: "ClusterObjects", setup: "Setup", calls: "ExtenderCalls | None", output: str) -> None:
    from kubesched.explanation import Explainer, as_line

    with Explainer(cluster, setup, nominations=False, extender_calls=calls) as explainer:
        explained = (explainer.explain(pod, preempt=False) for pod in explainer.pending)
        if output == "jsonl":
            for explanation in explained:
                print_line(as_line(explanation))
        elif output == "json":
            print_document({"pods": [as_line(explanation) for explanation in explained]})
        else:
            from kubesched.cli.explanation_text import print_overview
            from kubesched.cli.output import text_console

            with text_console() as console:
                print_overview(explained, console)


def _explain(
    cluster: "ClusterObjects", setup: "Setup", calls: "ExtenderCalls | None", pod: str | None
) -> "Explanation":
    from kubesched.explanation import explain
    from kubesched.snapshot import read_pod

    if pod is None:
        raise _which_pod(cluster)
    if not _is_file(pod):
        return explain(cluster, pod, setup, extender_calls=calls)
    read, claims = read_pod(pod, cluster.objects)
    return explain([*cluster, *claims], read, setup, extender_calls=calls)


def _is_file(pod: str) -> bool:
    return pod == "-" or pod.endswith((".yaml", ".yml", ".json", ".gz", ".zst")) or Path(pod).is_file()


def _which_pod(cluster: "ClusterObjects") -> click.UsageError:
    from kubesched.api import Pod

    pending = [pod.key for pod in cluster.of(Pod) if not pod.node_name and not pod.is_finished]
    listed = f"; {len(pending)} are pending: {_first(pending)}" if pending else "; no pod is pending"
    return click.UsageError(f"name the pod with --pod NAMESPACE/NAME or --pod FILE.yaml, or use --all{listed}")


def _print_one(explanation: "Explanation", view: View, output: str) -> None:
    from kubesched.explanation import as_document

    if output == "json":
        print_document(as_document(explanation))
    elif output == "jsonl":
        print_line(as_document(explanation))
    else:
        from kubesched.cli.explanation_text import ExplanationText
        from kubesched.cli.output import text_console

        positions = [_position(explanation, name) for name in view.nodes]
        with text_console() as console:
            ExplanationText(explanation, console).print(by=view.by, nodes=positions, all_nodes=view.all_nodes)


def _position(explanation: "Explanation", name: str) -> int:
    """Find a node by its name, which may be cut at the first dot.

    Raises:
        InputError: there is none, or several.
    """
    from kubesched.config import did_you_mean
    from kubesched.errors import InputError

    names = explanation.nodes.names
    positions = [position for position, known in enumerate(names) if name in (known, known.partition(".")[0])]
    if len(positions) == 1:
        return positions[0]
    if positions:
        raise InputError(f"--node: several nodes have the name {name}; write the full name")
    near = did_you_mean(name, names)
    raise InputError(f"--node: no node has the name {name}; {near or f'found: {_first(names)}'}")


def _first(names: list[str]) -> str:
    return ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")
