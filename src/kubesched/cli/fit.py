"""`kubesched fit`: would new pods fit into a cluster, and how many."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from kubesched.cli.cluster import extender_calls, note, read_both
from kubesched.cli.completion import complete_files
from kubesched.cli.options import extenders_option, setup_options, snapshot_options
from kubesched.cli.output import progress_bar
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.same_cluster import same_cluster
from kubesched.cli.slow_plugins import noting_slow_plugins

_WITHOUT_NOTES: Final = ("csv", "jsonl", "junit")
"""Formats that have no room for notes on the manifests, which go to standard error then."""


def _resources(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """NAME=QUANTITY as a mapping."""
    resources: dict[str, str] = {}
    for value in values:
        name, _, quantity = value.partition("=")
        if not name or not quantity:
            raise click.BadParameter(f"found {value!r}; write NAME=QUANTITY, such as cpu=2 or memory=4Gi")
        if name in resources:
            raise click.BadParameter(f"{name} is given twice")
        resources[name] = quantity
    return resources


@click.command()
@snapshot_options
@click.option(
    "-f",
    "--filename",
    "manifests",
    metavar="FILE",
    multiple=True,
    shell_complete=complete_files,
    help="Manifest of the pods in question: a Pod, Deployment, Job and so on, or - for standard input. Repeatable.",
)
@click.option(
    "--resource",
    "resources",
    metavar="NAME=QUANTITY",
    multiple=True,
    callback=_resources,
    help="Ask about a pod with this request instead of a manifest, such as cpu=2. Repeatable.",
)
@click.option(
    "--only", metavar="WORKLOAD", help="Ask about one of several workloads, such as deploy/web or shop/deploy/web."
)
@click.option(
    "--replicas",
    type=int,
    metavar="N",
    help="The number of pods, instead of the one in the manifest. A suspended workload is asked about as if resumed.",
)
@click.option("--max", "maximum", is_flag=True, help="Find how many pods would fit, and what stops the next one.")
@click.option(
    "--nodes-like",
    metavar="NODE[=N]",
    help="Find how many more nodes of this shape are missing for all pods to fit; with =N, add N of them. NODE is the "
    "name of a node, or a file with a Node.",
)
@click.option(
    "--rollout", is_flag=True, help="If the workload runs already: replace its pods in the steps of its strategy."
)
@click.option("--add", is_flag=True, help="If the workload runs already: keep its pods and add the new ones.")
@setup_options
@extenders_option
@click.option("--fail-on-pending", is_flag=True, help="Exit with 1 if a pod in question would stay pending.")
@report_output_option()
def fit(
    snapshots: tuple[str, ...],
    manifests: tuple[str, ...],
    resources: Mapping[str, str],
    only: str | None,
    replicas: int | None,
    maximum: bool,
    nodes_like: str | None,
    rollout: bool,
    add: bool,
    skip_bad_objects: bool,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    extenders: str,
    fail_on_pending: bool,
    output: str,
) -> None:
    """Answer whether new pods would fit, where they would go, and how many would fit.

    The cluster is simulated with the new pods, as by kubesched simulate. Nothing is changed. If a plugin fails, its pod
    ends in an error (SchedulerError), and the command exits with 1. If a pod in question cannot be decided, the command
    exits with 1, too. Manifests of workloads that have no pods now, such as a suspended Job, exit with 0.

    \b
    Examples:
      kubesched fit cluster.json -f deployment.yaml
      kubesched fit cluster.json -f deployment.yaml --max
      kubesched fit cluster.json -f deployment.yaml --nodes-like worker-1
      kubesched fit cluster.json -f deployment.yaml --rollout
      kubesched fit cluster.json --resource cpu=2 --resource memory=4Gi --replicas 16
      helm template chart/ | kubesched fit cluster.json -f -
      helm template chart/ | kubesched fit cluster.json -f - --only deploy/web --max

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input. Without it the
    cluster of the current kubeconfig context is read.
    """  # noqa: D301
    if bool(manifests) == bool(resources):
        given = "both are given" if manifests else "neither is given"
        raise click.UsageError(f"name the pods with -f FILE or with --resource NAME=QUANTITY; {given}")
    if only and resources:
        raise click.UsageError("--only and --resource are mutually exclusive: --only is one of the workloads of -f")
    if maximum and replicas is not None:
        raise click.UsageError("--max and --replicas are mutually exclusive: --max asks for the number")
    if replicas is not None and replicas < 1:
        raise click.UsageError(f"--replicas: found {replicas}; expected 1 or more")
    like, n_nodes = _shape(nodes_like or "")
    if maximum and like and n_nodes is None:
        raise click.UsageError("--max needs the number of new nodes: --nodes-like NODE=N")
    if rollout and add:
        raise click.UsageError("--rollout and --add are mutually exclusive: the old pods are replaced, or they stay")
    if rollout and (maximum or (like and n_nodes is None)):
        raise click.UsageError(
            "--rollout and a search are mutually exclusive: use --replicas N and --nodes-like NODE=N"
        )
    if rollout and extenders == "call":
        raise click.UsageError("--rollout and --extenders call are mutually exclusive")
    from kubesched.pages.plans import fit_page
    from kubesched.planning import asked_of, fit_asked
    from kubesched.snapshot import missing_kinds

    cluster, setup = read_both(
        snapshots,
        (),
        config,
        references,
        plugin_args,
        skip_bad_objects=skip_bad_objects,
        may_be_empty=bool(like),  # how many nodes would it take in an empty cluster?
    )
    calls = extender_calls(setup, extenders)
    asked = asked_of(resources or manifests, cluster.objects, may_wake=maximum or replicas is not None)
    if only:
        asked = asked.only(only)
    for missing in missing_kinds(cluster, cluster.listed_kinds, asked.objects()):
        if missing.kinds != ("Node",):  # the answer says where the pods fit, and how many nodes they need
            note(str(missing))
    if (maximum or replicas is not None) and (several := asked.found_several("--only {}")):
        raise click.UsageError(f"{'--max' if maximum else '--replicas'} needs one workload; {several}")
    if asked.existing and not (rollout or add):
        is_search = maximum or (like and n_nodes is None)
        choice = "use --add" if is_search else "use --rollout to replace the old pods with the new ones, or --add"
        raise click.UsageError(f"{asked.there_already()}; {choice} to keep the old pods and add the new ones")
    with progress_bar("placing") as progress, noting_slow_plugins(setup):
        answer = fit_asked(
            cluster,
            asked,
            setup,
            extender_calls=calls,
            replicas=replicas,
            maximum=maximum,
            nodes_like=like,
            n_nodes=n_nodes,
            add=add,
            rollout=rollout,
            progress=progress,
        )
    explain = "" if not manifests or rollout or add else same_cluster("explain", manifests)
    again = "" if rollout else _again(manifests, resources, only, add=add)
    print_report(fit_page(answer, explain=explain, again=again, replicas=replicas), output)
    if output in _WITHOUT_NOTES:
        for said in answer.notes:
            note(said)
    has_none = not answer.placements and not answer.is_maximum
    if not answer.is_known or (fail_on_pending and not (answer.all_fit and (answer.n_fit or has_none))):
        raise click.exceptions.Exit(1)


def _again(manifests: tuple[str, ...], resources: Mapping[str, str], only: str | None, *, add: bool) -> str:
    """The command about the same pods, without their number; empty if standard input was read."""
    again = same_cluster("fit", manifests, option="-f")
    asked = [word for name, quantity in resources.items() for word in ("--resource", f"{name}={quantity}")]
    words = [*asked, *(["--only", only] if only else []), *(["--add"] if add else [])]
    return f"{again} {shlex.join(words)}".rstrip() if again else ""


def _shape(text: str) -> tuple[str, int | None]:
    """NODE[=N]: the model of new nodes and their number."""
    model, _, number = text.rpartition("=")
    if not model:
        return text, None
    if not number.isdecimal():
        raise click.UsageError(f"--nodes-like: found {text!r}; write NODE or NODE=N, such as worker-1=3")
    return model, int(number)
