"""`kubesched explain`: explain why pods are pending, why a pod goes to its node, or why no node fits."""

import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kubesched.cli.cluster import EXPLAINED, extender_calls, note_refused, read_both
from kubesched.cli.completion import complete_files
from kubesched.cli.new_pod import new_pod
from kubesched.cli.options import cluster_options, extenders_option, setup_options
from kubesched.cli.output import print_line, progress_bar
from kubesched.cli.queue_place import is_cheap, queue_place
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.same_cluster import same_cluster
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.targets import split_targets

if TYPE_CHECKING:
    from kubesched.api import KubeObject, Pod
    from kubesched.explanation import Evaluation, Explanation
    from kubesched.naming import ChosenPods
    from kubesched.pages.explanations import Rows
    from kubesched.pages.formats import Page
    from kubesched.planning import PendingPods
    from kubesched.setup import ExtenderCalls, Setup
    from kubesched.snapshot import ClusterObjects


@click.command()
@cluster_options
@setup_options
@extenders_option
@click.option(
    "--pod",
    metavar="NAME|FILE",
    shell_complete=complete_files,
    help="The pod to explain, placed or pending: NAMESPACE/NAME; or a new one from a file with a pod or a workload: "
    "POD.yaml.",
)
@click.option("--all", "all_pods", is_flag=True, help="Explain all pending pods. Without a pod, this is the default.")
@click.option("-n", "--namespace", default="", metavar="NAME", help="Look only in this namespace.")
@click.option("-A", "--all-namespaces", is_flag=True, help="Look in all namespaces. Without -n, this is the default.")
@click.option("-l", "--selector", metavar="LABELS", help="Explain the pods with these labels.")
@click.option(
    "--group",
    metavar="NAME|KEY=NAME",
    help="Report how many pods of a group fit together. The group's name is the value of a pod group label, or of the "
    "label KEY.",
)
@click.option(
    "--node", "nodes", metavar="NAME", multiple=True, help="Show each plugin's verdict on this node. Repeatable."
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
@report_output_option()
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
    namespace: str,
    all_namespaces: bool,
    selector: str | None,
    group: str | None,
    nodes: tuple[str, ...],
    all_nodes: bool,
    by: str,
    queue: bool | None,
    output: str,
) -> None:
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
    targets = split_targets(snapshots)
    names = (*targets.names, *((pod,) if pod is not None else ()))
    if all_pods and (names or selector is not None):
        given = "--pod" if pod is not None else "-l" if selector is not None else "POD"
        raise click.UsageError(f"--all and {given} are mutually exclusive")
    if group is not None and (names or all_pods or selector is not None):
        raise click.UsageError("--group and other ways to choose pods are mutually exclusive")
    if namespace and all_namespaces:
        raise click.UsageError("-n and -A are mutually exclusive")
    if (nodes or all_nodes) and not names:
        raise click.UsageError("--node and --all-nodes need one pod: name it, such as shop/web-7")
    _refuse_ambiguous(targets.snapshots)
    cluster, setup = read_both(
        targets.snapshots, manifests, config, references, plugin_args, skip_bad_objects=skip_bad_objects
    )
    calls = extender_calls(setup, extenders)
    asked = _Asked(cluster, setup, calls, same_cluster("explain"), output)
    click.get_current_context().with_resource(noting_slow_plugins(setup))
    if group is not None:
        _print_group(asked, group, namespace)
        return
    from kubesched.naming import choose_pods

    if queue is None:
        queue = not references and calls is None and is_cheap(cluster)
    view = View(by, nodes, all_nodes, queue, every_verdict=output == "html")
    if pod is not None and _is_file(pod):
        _print_new_pod(asked, pod, view)
        return
    chosen = choose_pods(cluster, names, namespace, selector)
    if manifests:
        note_refused(cluster, EXPLAINED, [one.key for one in chosen.pods if one.node_name and not chosen.is_one])
    if chosen.is_one:
        _print_pod(asked, chosen.pods[0], view)
        return
    if nodes or all_nodes:
        raise click.UsageError(f"--node and --all-nodes need one pod; {len(chosen.pods)} are chosen")
    _print_several(asked, chosen)


next(param for param in explain.params if param.name == "snapshots").metavar = "[SNAPSHOT | POD]..."


class View(NamedTuple):
    """Which part of an explanation is shown."""

    by: str
    nodes: tuple[str, ...]
    all_nodes: bool
    queue: bool
    every_verdict: bool

    def closely(self, cluster: "ClusterObjects", pod: "Pod") -> list[str] | None:
        """The nodes that are looked at closely beside the nearest ones; None for all.

        Raises:
            InputError: there is no such node.
        """
        from kubesched.api import Node
        from kubesched.naming import full_names

        if pod.is_finished:  # no node is looked at
            return []
        if self.nodes:
            return full_names([node.name for node in cluster.of(Node)], self.nodes, "--node: ")
        return None if self.all_nodes else []


class _Asked(NamedTuple):
    """What the question is about, and how the answer is printed.

    Attributes:
        again: the command with the same cluster and setup.
    """

    cluster: "ClusterObjects"
    setup: "Setup"
    calls: "ExtenderCalls | None"
    again: str
    output: str

    def calls_of_run(self) -> "ExtenderCalls | None":
        """New calls of the extenders, which a run closes; None where they are not called."""
        return None if self.calls is None else extender_calls(self.setup, "call")


# --- one pod ---


def _print_pod(asked: _Asked, pod: "Pod", view: View) -> None:
    import msgspec

    from kubesched.explanation import explain
    from kubesched.pages.formats import command_about

    simulated = queue_place(asked.cluster, pod, asked.setup) if view.queue and not pod.node_name else None
    closely = view.closely(asked.cluster, pod)
    explanation = explain(asked.cluster, pod.key, asked.setup, extender_calls=asked.calls, nodes=closely)
    explanation = msgspec.structs.replace(explanation, refused=_refusal(asked.cluster, pod))
    queue = "" if simulated is None else simulated.sentence(explanation)
    page = _page(explanation, view, command_about(asked.again, pod.key), queue)
    if simulated is not None:
        page = _with_queue(page, simulated.document(explanation))
    _print(asked, explanation, page)


def _refusal(cluster: "Iterable[KubeObject]", pod: "Pod") -> str:
    """Why the API server does not create a pod of a manifest; empty if it does."""
    from kubesched.controllers import is_from_manifest

    if not is_from_manifest(pod):
        return ""
    from kubesched.planning import new_pods
    from kubesched.session import refused_pods

    known = list(cluster)
    return refused_pods(known, new_pods(known)).get(pod.key, "")


def _with_queue(page: "Page", queue: Mapping[str, Any]) -> "Page":
    import msgspec

    document = {**page.document, "queue": queue}
    return msgspec.structs.replace(page, document=document, lines=(document,))


def _print_new_pod(asked: _Asked, file: str, view: View) -> None:
    """Explain a pod that is not in the cluster."""
    import msgspec

    from kubesched.explanation import explain

    pod, cluster, admitted = new_pod(file, asked.cluster)
    closely = view.closely(asked.cluster, pod)
    explanation = explain(cluster, pod, asked.setup, extender_calls=asked.calls, nodes=closely)
    explanation = msgspec.structs.replace(explanation, refused=_refusal(admitted, pod))
    again = f"{asked.again} --pod {shlex.quote(file)}" if asked.again else ""
    _print(asked, explanation, _page(explanation, view, again, ""))


def _print(asked: _Asked, explanation: "Explanation", page: "Page") -> None:
    print_report(page, asked.output)
    _end([explanation.pod.key] if explanation.failure is not None else [])


def _page(explanation: "Explanation", view: View, again: str, queue: str) -> "Page":
    import msgspec

    from kubesched.naming import full_names
    from kubesched.pages.explanations import explanation_page, node_page

    if view.nodes and explanation.ended is None:
        names = explanation.nodes.names
        page = node_page(explanation, [names.index(name) for name in full_names(names, view.nodes, "--node: ")])
        return msgspec.structs.replace(page, next_command=again)
    return explanation_page(
        explanation,
        all_nodes=view.all_nodes,
        by_plugin=view.by == "plugin",
        every_verdict=view.every_verdict,
        queue=queue,
        again=again,
    )


def _is_file(pod: str) -> bool:
    return bool(pod) and bool(split_targets([pod]).snapshots) and not Path(pod).is_dir()


def _refuse_ambiguous(snapshots: tuple[str, ...]) -> None:
    """Reject a file or folder that has the form of a workload: it is not clear which one is meant."""
    from kubesched.naming import is_workload_kind

    for path in snapshots:
        kind, slash, name = path.partition("/")
        if slash and "/" not in name and Path(path).exists() and is_workload_kind(kind, ()):
            write = f"write ./{path} for the path, or --pod {path} for the workload"
            raise click.UsageError(f'"{path}" is a path and may be a workload; {write}')


# --- several pods ---


def _print_group(asked: _Asked, name: str, namespace: str) -> None:
    from kubesched.explanation import Explainer, find_group, place_group
    from kubesched.pages.explanations import group_page

    group = find_group(asked.cluster, name, namespace)
    with Explainer(asked.cluster, asked.setup, extender_calls=asked.calls) as explainer:
        fit = place_group(explainer, group)
        print_report(group_page(fit, asked.again), asked.output)
    _end(fit.faults)


def _print_several(asked: _Asked, chosen: "ChosenPods") -> None:
    """Explain pending pods as a simulation places them, and others as if they were pending."""
    from kubesched.api import Pod
    from kubesched.explanation import answer_of, gangs_of
    from kubesched.pages.explanations import Rows, as_line, overview_page

    meant = {pod.key for pod in chosen.pods if not pod.node_name}
    failed: list[str] = []
    lines: list[dict[str, Any]] = []
    rows, pending = Rows(), None
    emit = print_line if asked.output == "jsonl" else lines.append  # together they may be larger than the memory
    has_lines = asked.output in ("json", "jsonl")
    workload_of = _workloads(asked.cluster)
    if meant or not chosen.pods:
        pending = _take_pending(asked, meant, rows, workload_of, emit if has_lines else None, failed)
    stuck = {} if pending is None else pending.stuck
    pods = chosen.pods
    if chosen.what == "pending":
        placed = (pod for pod in asked.cluster.of(Pod) if pod.key in stuck)
        pods = (*pods, *(pod for pod in placed if chosen.namespace in ("", pod.namespace)))
    for evaluation, fixes in _placed(asked, pods):
        evaluation.hangs = stuck.get(evaluation.pod.key, evaluation.hangs)
        said = rows.take(answer_of(evaluation, workload_of(evaluation.pod), fixes))
        if evaluation.failure is not None:
            failed.append(evaluation.pod.key)
        if has_lines:
            emit(as_line(evaluation) | said)
    if asked.output != "jsonl":
        gangs = gangs_of(asked.cluster, chosen.pods)
        foreign = [] if pending is None else [pod for pod in pending.foreign if pod.key in meant]
        counts = pending.counts(chosen.namespace) if pending is not None and chosen.what == "pending" else None
        victims = None if pending is None else pending.report.removed
        page = overview_page(
            rows,
            foreign=foreign,
            gangs=gangs,
            what=chosen.what,
            again=asked.again,
            lines=lines,
            counts=counts,
            victims=victims,
        )
        print_report(page, asked.output)
    _end(failed)


def _take_pending(
    asked: _Asked,
    meant: Collection[str],
    rows: "Rows",
    workload_of: "Callable[[Pod], str]",
    emit: "Callable[[dict[str, Any]], None] | None",
    failed: list[str],
) -> "PendingPods":
    """Add the pending pods to the rows.

    Args:
        meant: `namespace/name` of these pods.
        emit: takes the line of each pod; None for nothing.
        failed: takes the pods for which a plugin failed.
    Returns: the simulation, which is closed.
    """
    from kubesched.explanation import State
    from kubesched.pages.explanations import as_line
    from kubesched.planning import PendingPods

    said: dict[str, dict[str, str]] = {}

    def line_of(evaluation: "Evaluation") -> dict[str, Any]:
        return as_line(evaluation) | said[evaluation.pod.key]

    with progress_bar("placing") as progress:
        decides = asked.setup, workload_of, asked.calls_of_run()
        pending = PendingPods(asked.cluster, *decides, progress, repeats=emit is not None)
    with pending:
        for answer in pending.answers(meant):
            said[answer.pod] = rows.take(answer) | ({"node": answer.node} if answer.node else {})
            if answer.state is State.FAILED:
                failed.append(answer.pod)
        if emit is not None:
            not_tried = [line_of(evaluation) for evaluation in pending.not_tried(said)]
            pending.each_attempt(said, lambda evaluation: emit(line_of(evaluation)))
            for line in not_tried:
                emit(line)
    return pending


def _placed(asked: _Asked, pods: "Iterable[Pod]") -> "Iterator[tuple[Evaluation, Callable[[Evaluation], Any]]]":
    """Explain pods that have a node as if they were pending; and what finds their fixes."""
    from kubesched.explanation import Explainer

    names = {profile.scheduler_name for profile in asked.setup.profiles}
    placed = [pod for pod in pods if pod.node_name and pod.scheduler_name in names]
    if not placed:
        return
    with Explainer(asked.cluster, asked.setup, extender_calls=asked.calls_of_run()) as explainer:
        for evaluation in _with_progress(explainer.evaluations(placed), len(placed)):
            yield evaluation, explainer.fixes


def _workloads(cluster: "ClusterObjects") -> "Callable[[Pod], str]":
    """What finds the workload of a pod, such as `Deployment shop/web`."""
    from kubesched.api import ReplicaSet, Workload, workload_of

    sets = {one.key: one for one in cluster.of(ReplicaSet)}
    return lambda pod: str(workload_of(pod, sets) or Workload.alone(pod))


def _end(failed: Collection[str]) -> None:
    """Exit with 1 if a plugin failed for a pod."""
    if failed:
        raise click.exceptions.Exit(1)


def _with_progress(evaluations: "Iterator[Evaluation]", n: int) -> "Iterator[Evaluation]":
    with progress_bar("explaining") as progress:
        for i, evaluation in enumerate(evaluations, 1):
            yield evaluation
            if progress is not None:
                progress(i, n)
