"""`kubesched explain`: explain why pods are pending, why a pod goes to its node, or why no node fits."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import click

from kubesched.cli.cluster import EXPLAINED, note_refused, read_both
from kubesched.cli.completed_names import complete_nodes, complete_pods_or_files
from kubesched.cli.explained_pod import ExplainQuestion, View, print_new_pod, print_pod
from kubesched.cli.explained_pods import print_group, print_several, refused_of
from kubesched.cli.inputs import InputOptions, with_inputs
from kubesched.cli.options import cluster_options, deciding_options, extenders_option, selection_options
from kubesched.cli.parameters import gathered
from kubesched.cli.queue_place import is_cheap
from kubesched.cli.reports import report_output_option
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.targets import split_targets
from kubesched.pages.formats import PATCH


class PodSelection(NamedTuple):
    """Which pods are explained, beside those among the arguments: the options of these names."""

    pod: str | None
    all_pods: bool
    namespace: str
    all_namespaces: bool
    selector: str | None
    group: str | None


@click.command()
@with_inputs("[SNAPSHOT | POD]...")
@gathered("choice", PodSelection)
@gathered("view", View)
@cluster_options
@deciding_options
@extenders_option
@click.option(
    "--pod",
    metavar="NAME|FILE",
    shell_complete=complete_pods_or_files,
    help="The pod to explain, placed or pending: NAMESPACE/NAME; or a new one from a file with a pod or a workload: "
    "POD.yaml.",
)
@click.option("--all", "all_pods", is_flag=True, help="Explain all pending pods. Without a pod, this is the default.")
@selection_options("in", "Explain the pods with these labels.")
@click.option(
    "--group",
    metavar="NAME|KEY=NAME",
    help="Report how many pods of a group fit together. The group's name is the value of a pod group label, or of the "
    "label KEY.",
)
@click.option(
    "--node",
    "nodes",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_nodes,
    help="Show each plugin's verdict on this node. Repeatable.",
)
@click.option("--all-nodes", is_flag=True, help="Show every node, each with its row.")
@click.option(
    "--by",
    type=click.Choice(["node", "plugin"]),
    default="node",
    show_default=True,
    help="Show the rejections by node or by plugin.",
)
@click.option(
    "--queue/--no-queue",
    default=None,
    help="Whether to simulate all pending pods, to report where the pod goes if the others are tried before it.  "
    "[default: in small clusters, without --plugin and --extenders call]",
)
@report_output_option(PATCH)
def explain(inputs: InputOptions, choice: PodSelection, view: View, output: str) -> None:
    """Explain why pods are pending, why a pod goes to its node, or why no node fits.

    Without a POD, all pending pods are explained. Pods of one workload with one cause share a line. A POD is
    NAMESPACE/NAME, NAME, pod/NAME, or a workload such as deploy/web or shop/statefulset/db. A pod that has a node is
    explained as if it were still pending. If a plugin fails, the pod ends in an error (SchedulerError), and the command
    exits with 1.

    \b
    Examples:
      kubesched explain cluster.json
      kubesched explain cluster.json shop/web-7
      kubesched explain cluster.json deploy/web -n shop
      kubesched explain cluster.json shop/web-7 --node worker-3
      kubesched explain cluster.json --pod new-pod.yaml --by plugin

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input. An argument is
    a SNAPSHOT if there is such a file or folder, or if it ends like one; every other argument is a POD.
    """  # noqa: D301
    _refuse_ambiguous(inputs.snapshots)
    cluster, setup = read_both(inputs)
    if view.queue is None:
        view = view._replace(queue=not inputs.setup.references and not setup.extenders and is_cheap(cluster))
    with noting_slow_plugins(setup) as watched:
        question = ExplainQuestion(cluster, watched, inputs.next_command("explain"), output)
        failed = _answer(question, inputs, choice, view)
    if failed:
        raise click.exceptions.Exit(1)


def _answer(question: ExplainQuestion, inputs: InputOptions, choice: PodSelection, view: View) -> Collection[str]:
    """Print the answer. Returns: the pods for which a plugin failed."""
    from kubesched.errors import InputError
    from kubesched.naming import choose_pods

    cluster = question.cluster
    if choice.group is not None:
        return print_group(question, choice.group, choice.namespace)
    if choice.pod is not None and _is_file(choice.pod):
        return print_new_pod(question, choice.pod, view)
    names = (*inputs.names, *((choice.pod,) if choice.pod is not None else ()))
    chosen = choose_pods(cluster, names, choice.namespace, choice.selector)
    if inputs.manifests:
        note_refused(cluster, EXPLAINED, [pod.key for pod in chosen.pods if pod.node_name and not chosen.is_one])
    if chosen.is_one:
        return print_pod(question, chosen.pods[0], view, refused_of(cluster, chosen))
    if view.nodes or view.all_nodes:
        raise InputError(f"--node and --all-nodes need one pod; {len(chosen.pods)} are chosen")
    return print_several(question, chosen)


def _is_file(pod: str) -> bool:
    return bool(pod) and bool(split_targets([pod]).snapshots) and not Path(pod).is_dir()


def _refuse_ambiguous(snapshots: Iterable[str]) -> None:
    """Reject a file or folder that has the form of a workload: it is not clear which one is meant."""
    from kubesched.errors import InputError
    from kubesched.naming import is_workload_kind

    for path in snapshots:
        kind, slash, name = path.partition("/")
        if slash and "/" not in name and Path(path).exists() and is_workload_kind(kind, ()):
            write = f"write ./{path} for the path, or --pod {path} for the workload"
            raise InputError(f'"{path}" is a path and may be a workload; {write}')
