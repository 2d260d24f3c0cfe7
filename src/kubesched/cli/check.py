"""`kubesched check`: weak spots of running workloads."""

from typing import TYPE_CHECKING, NamedTuple

import click

from kubesched.cli.cluster import note, read_both
from kubesched.cli.inputs import InputOptions, with_inputs
from kubesched.cli.options import cluster_options, deciding_options, extenders_option, selection_options
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import gathered
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.slow_plugins import noting_slow_plugins

if TYPE_CHECKING:
    from kubesched.planning import ClusterCheck
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects


class CheckedPods(NamedTuple):
    """Which pods are looked at: the options of these names."""

    namespace: str
    all_namespaces: bool
    selector: str | None


@click.command()
@with_inputs()
@gathered("choice", CheckedPods)
@cluster_options
@selection_options("at", "Look only at the pods with these labels.")
@deciding_options
@extenders_option
@report_output_option()
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
def check(inputs: InputOptions, choice: CheckedPods, strict: bool, output: str) -> None:
    """Find weak spots of running workloads: what could not come back, and what a lost node interrupts.

    Each running pod is taken to be deleted and re-created, in the cluster as it is. An error is a workload whose
    pods would stay pending, or whose rollout would hang. A warning is what a lost node or a drain interrupts. A note is
    worth a look. -o wide says which fixes were tried. Nothing is changed. With -f, the pending pods and those of the
    manifests are placed first, as by kubesched simulate, and count as running.

    The annotation `kubesched/ignore: RULE` silences a warning or note on a workload, its pods or a budget, or, on a
    namespace, on all in it. Exits with 0 without an error, with 1 if there is one, or if a plugin fails.

    \b
    Examples:
      kubesched check cluster.json
      kubesched check cluster.json -n shop --strict
      kubesched check cluster.json -f budget.yaml
      kubesched check -l app=web -o markdown

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input. Without it the
    cluster of the current kubeconfig context is read.
    """  # noqa: D301
    from kubesched.pages.plans import check_page

    cluster, setup = read_both(inputs)
    if inputs.snapshots:
        _note_strategies(cluster)
    result = _answer(_with_new_pods(cluster, setup) if inputs.manifests else cluster, setup, choice)
    failing = ("error", "warning") if strict else ("error",)
    print_report(check_page(result, failing=failing, explain=inputs.next_command("explain")), output)
    if result.faults or any(finding.severity in failing for finding in result.findings):
        raise click.exceptions.Exit(1)


def _with_new_pods(cluster: "ClusterObjects", setup: "Setup") -> "ClusterObjects":
    """The cluster with its pending pods, those of manifests among them, where a simulation places them."""
    import msgspec

    from kubesched.planning import WhatIf, new_pods, simulated
    from kubesched.session import Session

    changed = WhatIf().applied(cluster)
    with progress_bar("placing") as progress, Session(cluster, setup, new=new_pods(cluster)) as session:
        result = simulated(session, changed, lambda running: running.schedule(progress), keeps_objects=True)
    return msgspec.structs.replace(cluster, objects=result.objects)


def _note_strategies(cluster: "ClusterObjects") -> None:
    """Note that a snapshot lacks the Deployments of its pods: a rollout that hangs may not be found."""
    from kubesched.api import Deployment, workloads
    from kubesched.documents import count

    n = 0 if cluster.of(Deployment) else sum(one.kind == "Deployment" for one in workloads(cluster))
    if n:
        add = "add `kubectl get deployments -A -o json`"
        note(f"the strategies of {count(n, 'Deployment')} are not in the snapshot: the default one is assumed; {add}")


def _answer(cluster: "ClusterObjects", setup: "Setup", choice: CheckedPods) -> "ClusterCheck":
    from kubesched.naming import selected_pods
    from kubesched.planning import check as check_cluster

    pods = None
    if choice.namespace or choice.selector is not None:
        pods = [pod.key for pod in selected_pods(cluster, choice.namespace, choice.selector)]
    with progress_bar("checking") as progress, noting_slow_plugins(setup) as watched:
        return check_cluster(cluster, watched, pods=pods, progress=progress)
