"""`kubesched drain`: what would happen to the pods of nodes that are drained."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.cluster import read_both
from kubesched.cli.completed_names import complete_zones
from kubesched.cli.inputs import InputOptions, with_inputs
from kubesched.cli.options import cluster_options, extenders_option, setup_options, tie_options
from kubesched.cli.output import print_text, progress_bar
from kubesched.cli.parameters import option_words
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.write_option import check_written, write_after, write_option

if TYPE_CHECKING:
    from kubesched.pages.formats import Page
    from kubesched.planning import Drain, Drainer
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects

_AFTER: Final = "after.json"
_RUNBOOK: Final = "runbook"


@click.command()
@with_inputs("[SNAPSHOT|NODE]...")
@cluster_options
@setup_options
@extenders_option
@tie_options
@click.option("-l", "--selector", metavar="LABELS", help="The nodes with these labels, as kubectl's -l takes them.")
@click.option(
    "--zone",
    metavar="ZONE",
    shell_complete=complete_zones,
    help="The nodes of a zone; with -l, only those that have the labels too.",
)
@click.option("--each", is_flag=True, help="Drain every node alone, and list which could go.  [default: all nodes]")
@click.option(
    "--most", is_flag=True, help="Search for a large set of nodes that could go together.  [default: among all nodes]"
)
@write_option
@click.option(
    "--fail-on-harm",
    "--fail-on-pending",
    "fail_on_harm",
    is_flag=True,
    help="Exit with 1 if the nodes could not be drained without harm: a pod would or may be lost, stay pending, come "
    "back, never be evicted, or be evicted from another node. With --each, if that is so of any node; with --most, if "
    "no node is found.",
)
@report_output_option(_RUNBOOK)
def drain(
    inputs: InputOptions,
    selector: str | None,
    zone: str | None,
    each: bool,
    most: bool,
    write: str | None,
    fail_on_harm: bool,
    output: str,
) -> None:
    """Say what would happen to the pods of some nodes that are drained together.

    The nodes are cordoned. Their pods are evicted in steps: as many as the disruption budgets allow, then the scheduler
    places the new pods that their controllers create, then the next. Nothing is changed. If it is not known whether the
    nodes could be drained, because a plugin fails or a pod cannot be decided, the command exits with 1.

    \b
    Examples:
      kubesched drain cluster.json worker-3 worker-4
      kubesched drain cluster.json -l pool=spot
      kubesched drain cluster.json --zone eu-west-1a --write after.json
      kubesched drain cluster.json --each
      kubesched drain cluster.json worker-3 worker-4 -o runbook
      kubesched drain cluster.json --most -l pool=general

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input. An argument is
    a SNAPSHOT if there is such a file or folder, or if it ends like one; every other argument is a NODE.
    """  # noqa: D301
    from kubesched.pages.plans import drain_page, each_page, most_page

    check_written(write, inputs.files())
    cluster, setup = read_both(inputs)
    names = _chosen(cluster, inputs.names, selector, zone)
    with noting_slow_plugins(setup) as watched, _drainer(cluster, watched, inputs) as drainer:
        results = _drained(drainer, names, each=each, most=most)
    page: Page
    if each:
        page = each_page(results, taken_at=cluster.taken_at)
    elif most:
        page = most_page(results[0], len(names), cluster=inputs.cluster, taken_at=cluster.taken_at)
    else:
        explain = _explain(inputs, selector, zone)
        page = drain_page(results[0], explain=explain, cluster=inputs.cluster, taken_at=cluster.taken_at)
    write_after(cluster, results[0].objects if results else (), write)
    _print(page, output)
    is_known = all(result.could_go is not None for result in results)
    finds_none = most and not results[0].nodes and bool(results[0].undecided_nodes)
    if not is_known or finds_none or (fail_on_harm and any(map(_is_harm, results))):
        raise click.exceptions.Exit(1)


def _chosen(cluster: "ClusterObjects", names: Sequence[str], selector: str | None, zone: str | None) -> list[str]:
    """The names of the nodes in question.

    Raises:
        InputError: there is no such node.
    """
    from kubesched.naming import nodes_matching, nodes_named

    if names:
        return [node.name for node in nodes_named(cluster, names)]
    from kubesched.api import ZONE

    wanted = [*([selector] if selector is not None else []), *([f"{ZONE}={zone}"] if zone is not None else [])]
    return [node.name for node in nodes_matching(cluster, ",".join(wanted))]


def _drainer(cluster: "ClusterObjects", setup: "Setup", inputs: InputOptions) -> "Drainer":
    from kubesched.planning import Drainer

    with progress_bar("placing") as progress:
        return Drainer(cluster, setup, tie_break=inputs.ties, seed=inputs.seed or 0, progress=progress)


def _drained(drainer: "Drainer", names: Sequence[str], *, each: bool, most: bool) -> "list[Drain]":
    doing = "draining each node" if each else "searching" if most else "draining"
    with progress_bar(doing) as progress:
        if each:
            return list(drainer.each(names, progress))
        return [drainer.most(names, progress) if most else drainer.drain(names, progress)]


def _print(page: "Page", output: str) -> None:
    from kubesched.pages.formats import as_script

    if output == _RUNBOOK:
        print_text(as_script(page))
    else:
        print_report(page, output)


def _explain(inputs: InputOptions, selector: str | None, zone: str | None) -> str:
    """The commands that write the cluster after the drain and explain a pod of it, without the pod.

    Empty if standard input was read.
    """
    which = option_words({"-l": selector, "--zone": zone, "--write": _AFTER})
    again = inputs.next_command("drain", *inputs.names, *which, ties=True)
    after = InputOptions(snapshots=(_AFTER,), setup=inputs.setup, extenders=inputs.extenders)
    return f"{again} && {after.next_command('explain')}" if again else ""


def _is_harm(result: "Drain") -> bool:
    return not result.can_go or not result.nodes
