"""`kubesched drain`: what would happen to the pods of nodes that are drained."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.cluster import read_both
from kubesched.cli.completed_names import complete_zones
from kubesched.cli.inputs import InputOptions, with_inputs
from kubesched.cli.options import (
    cluster_options,
    deciding_options,
    extenders_option,
    on_option,
    prices_option,
    tie_options,
)
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import option_words
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.write_option import check_written, write_after, write_option
from kubesched.pages.formats import RUNBOOK

if TYPE_CHECKING:
    from kubesched.pages.formats import Page
    from kubesched.planning import Drain, Drainer
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects

_AFTER: Final = "after.json"


@click.command()
@with_inputs("[SNAPSHOT|NODE]...")
@cluster_options
@deciding_options
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
    "--each-zone",
    is_flag=True,
    help="Drain every zone alone, all of its nodes together, and list what becomes of its pods.",
)
@click.option(
    "--most", is_flag=True, help="Search for a large set of nodes that could go together.  [default: among all nodes]"
)
@prices_option
@write_option
@click.option(
    "--fail-on-harm",
    "--fail-on-pending",
    "fail_on_harm",
    is_flag=True,
    help="Exit with 1 if the nodes could not be drained without harm: a pod would or may be lost, stay pending, come "
    "back, never be evicted, or be evicted from another node. With --each or --each-zone, if that is so of any node or "
    "zone; with --most, if no node is found.",
)
@on_option
@report_output_option(RUNBOOK)
def drain(
    inputs: InputOptions,
    selector: str | None,
    zone: str | None,
    each: bool,
    each_zone: bool,
    most: bool,
    prices: Path | None,
    write: str | None,
    fail_on_harm: bool,
    on: str | None,
    output: str,
) -> None:
    """Show what draining nodes would do to their pods.

    The nodes are cordoned. Their pods are evicted in steps: as many as the disruption budgets allow, then the scheduler
    places the new pods that their controllers create, then the next. Nothing is changed. If it is not known whether the
    nodes could be drained, because a plugin fails or a pod cannot be decided, the command exits with 1.

    \b
    Examples:
      kubesched drain cluster.json worker-3 worker-4
      kubesched drain cluster.json -l pool=spot
      kubesched drain cluster.json --zone eu-west-1a --write after.json
      kubesched drain cluster.json --each
      kubesched drain cluster.json --each-zone
      kubesched drain cluster.json worker-3 worker-4 -o runbook
      kubesched drain cluster.json --most -l pool=general

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input. An argument is
    a SNAPSHOT if there is such a file or folder, or if it ends like one; every other argument is a NODE.
    """  # noqa: D301
    from kubesched.pages.plans import drain_page, each_page, each_zone_page, most_page
    from kubesched.parallel import connected

    check_written(write, inputs.files())
    cluster, setup = read_both(inputs)
    names = _chosen(cluster, inputs.names, selector, zone)
    with connected(on), noting_slow_plugins(setup) as watched, _drainer(cluster, watched, inputs) as drainer:
        results = _drained(drainer, names, each=each, each_zone=each_zone, most=most)
    results = _with_costs(results, cluster, prices)
    page: Page
    if each:
        page = each_page(results, taken_at=cluster.taken_at)
    elif each_zone:
        page = each_zone_page(results, failure=_failure(inputs, cluster, selector), taken_at=cluster.taken_at)
    elif most:
        page = most_page(results[0], len(names), cluster=inputs.cluster, taken_at=cluster.taken_at)
    else:
        explain = _explain(inputs, selector, zone)
        page = drain_page(results[0], explain=explain, cluster=inputs.cluster, taken_at=cluster.taken_at)
    write_after(cluster, results[0].objects if results else (), write)
    print_report(page, output)
    if not _is_known(results, most=most) or (fail_on_harm and any(map(_is_harm, results))):
        raise click.exceptions.Exit(1)


def _chosen(cluster: "ClusterObjects", names: Sequence[str], selector: str | None, zone: str | None) -> list[str]:
    """The names of the nodes in question.

    Raises:
        InputError: there is no such node.
    """
    from kubesched.naming import nodes_matching, nodes_named

    if names:
        return [node.name for node in nodes_named(cluster, names)]
    of_zone = [] if zone is None else [f"{_zone_label(cluster)}={zone}"]
    wanted = [*([selector] if selector is not None else []), *of_zone]
    return [node.name for node in nodes_matching(cluster, ",".join(wanted))]


def _drainer(cluster: "ClusterObjects", setup: "Setup", inputs: InputOptions) -> "Drainer":
    from kubesched.planning import Drainer

    with progress_bar("placing") as progress:
        return Drainer(cluster, setup, tie_break=inputs.ties, seed=inputs.seed or 0, progress=progress)


def _drained(drainer: "Drainer", names: Sequence[str], *, each: bool, each_zone: bool, most: bool) -> "list[Drain]":
    doing = "draining each node" if each else "draining each zone" if each_zone else "searching" if most else "draining"
    with progress_bar(doing) as progress:
        if each or each_zone:
            return list(drainer.each(names, progress) if each else drainer.each_zone(names, progress))
        return [drainer.most(names, progress) if most else drainer.drain(names, progress)]


def _with_costs(results: "list[Drain]", cluster: "ClusterObjects", prices: Path | None) -> "list[Drain]":
    """The drains with what their nodes cost, if there are prices."""
    if prices is None:
        return results
    from kubesched.comparison import read_prices
    from kubesched.planning import with_cost

    known = read_prices(prices)
    return [with_cost(one, cluster, known) for one in results]


def _explain(inputs: InputOptions, selector: str | None, zone: str | None) -> str:
    """The commands that write the cluster after the drain and explain a pod of it, without the pod.

    Empty if standard input was read.
    """
    which = option_words({"-l": selector, "--zone": zone, "--write": _AFTER})
    again = inputs.next_command("drain", *inputs.names, *which, ties=True)
    after = InputOptions(snapshots=(_AFTER,), setup=inputs.setup, extenders=inputs.extenders)
    return f"{again} && {after.next_command('explain')}" if again else ""


def _zone_label(cluster: "ClusterObjects") -> str:
    from kubesched.api import BETA_ZONE, ZONE, Node

    return ZONE if any(ZONE in node.labels for node in cluster.of(Node)) else BETA_ZONE


def _failure(inputs: InputOptions, cluster: "ClusterObjects", selector: str | None) -> str:
    """The command that simulates the loss of a zone, without the zone; empty if it would be about other nodes."""
    again = inputs.next_command("simulate", "--without-nodes", ties=True) if selector is None else ""
    return f"{again} {_zone_label(cluster)}=" if again else ""


def _is_known(results: "Sequence[Drain]", *, most: bool) -> bool:
    finds_none = most and not results[0].nodes and bool(results[0].undecided_nodes)
    return not finds_none and all(result.could_go is not None for result in results)


def _is_harm(result: "Drain") -> bool:
    return not result.can_go or not result.nodes
