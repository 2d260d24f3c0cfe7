"""`kubesched fit`: would new pods fit into a cluster, and how many."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from kubesched.cli.cluster import note_missing, note_unread, read_both
from kubesched.cli.completed_names import complete_nodes_or_files
from kubesched.cli.completion import complete_files
from kubesched.cli.inputs import InputOptions, given_words, with_inputs
from kubesched.cli.node_shapes_option import ShapesInQuestion, print_shapes, shapes_file
from kubesched.cli.options import deciding_options, extenders_option, namespace_option, snapshot_options
from kubesched.cli.output import progress_bar
from kubesched.cli.parameters import gathered, option_words, pairs
from kubesched.cli.reports import print_report, report_output_option
from kubesched.cli.slow_plugins import noting_slow_plugins
from kubesched.cli.what_if import WHAT_IF_NAMES, what_if_options
from kubesched.cli.write_option import check_written, write_after, write_option
from kubesched.pages.formats import PATCH

if TYPE_CHECKING:
    from kubesched.planning import Asked, Changed, Fit, WhatIf
    from kubesched.release import Release
    from kubesched.setup import Setup
    from kubesched.snapshot import ClusterObjects


class NewNodes(NamedTuple):
    """--nodes-like: the model of new nodes, empty for no new nodes; and their number, None where it is asked for."""

    model: str
    number: int | None = None

    @classmethod
    def parse(cls, context: click.Context, option: click.Parameter, text: str) -> "NewNodes":
        """NODE or NODE=N."""
        model, _, number = text.rpartition("=")
        if not model:
            return cls(text)
        if not number.isdecimal():
            raise click.BadParameter(f"found {text!r}; write NODE or NODE=N, such as worker-1=3")
        return cls(model, int(number))


class PodsInQuestion(NamedTuple):
    """Which pods are asked about, and what about them: the options of the command of these names."""

    filenames: tuple[str, ...]
    namespace: str
    resources: Mapping[str, str]
    devices: Mapping[str, str]
    only: str
    replicas: int | None
    maximum: bool
    nodes_like: NewNodes
    rollout: bool
    add: bool
    alone: bool
    shapes: str | None
    prices: Path | None

    def asked(self, cluster: "ClusterObjects", release: "Release") -> "Asked":
        """The pods, admitted to a cluster of a version.

        Raises:
            InputError: the pods are not valid, or not of one workload, or there already.
        """
        from kubesched.errors import InputError
        from kubesched.planning import asked_of

        numbers = self.maximum or self.replicas is not None
        devices = {name: int(number) for name, number in self.devices.items()}
        pods = self.filenames or self.resources
        asked = asked_of(
            pods, cluster.objects, may_wake=numbers, namespace=self.namespace, devices=devices, release=release
        )
        if self.only:
            asked = asked.only(self.only)
        note_unread(release, (*asked.cluster, *asked.objects()))
        _note_missing(cluster, asked)
        if numbers and (several := asked.found_several("--only {}")):
            raise InputError(f"{'--max' if self.maximum else '--replicas'} needs one workload; {several}")
        is_search = self.maximum or (self.nodes_like.model and self.nodes_like.number is None)
        if asked.existing and is_search and not self.add:
            raise InputError(f"{asked.there_already()}; use --add to keep the old pods and add the new ones")
        return asked

    def explained(self, inputs: InputOptions, asked: "Asked") -> str:
        """The command that explains the pods; empty where it would not answer for the same ones."""
        if not self.filenames or self.namespace or asked.existing or _change_words():
            return ""
        return inputs._replace(manifests=self.filenames).next_command("explain")

    def again(self, inputs: InputOptions, asked: "Asked") -> str:
        """The command about the same pods, without their number; empty if standard input was read."""
        if asked.existing and not self.add:
            return ""
        namespace, only = self.namespace or None, self.only or None
        words = option_words({"-n": namespace, "--resource": self.resources, "--device": self.devices, "--only": only})
        words += [*option_words({"--add": self.add, "--alone": self.alone}), *_change_words()]
        return inputs._replace(manifests=self.filenames).next_command("fit", *words, manifest_option="-f")


def _is_positive(text: str) -> bool:
    return text.isdecimal() and int(text) > 0


@click.command()
@with_inputs()
@gathered("question", PodsInQuestion)
@snapshot_options
@click.option(
    "-f",
    "--filename",
    "--manifest",
    "filenames",
    metavar="FILE",
    multiple=True,
    shell_complete=complete_files,
    help="Manifest of the pods in question: a Pod, Deployment, Job and so on, or - for standard input. Repeatable.",
)
@namespace_option("The namespace of manifests that name none.  [default: default]")
@click.option(
    "--resource",
    "resources",
    metavar="NAME=QUANTITY",
    multiple=True,
    callback=pairs("NAME=QUANTITY, such as cpu=2 or memory=4Gi"),
    help="Ask about a pod with this request instead of a manifest, such as cpu=2. Repeatable.",
)
@click.option(
    "--device",
    "devices",
    metavar="CLASS=N",
    multiple=True,
    callback=pairs("CLASS=N, such as gpu.nvidia.com=1", is_value=_is_positive),
    help="Ask about a pod with a resource claim for N devices of a DeviceClass, alone or with --resource. Repeatable.",
)
@click.option(
    "--only",
    default="",
    metavar="WORKLOAD",
    help="Ask about one of several workloads, such as deploy/web or shop/deploy/web.",
)
@click.option(
    "--replicas",
    type=click.IntRange(1),
    metavar="N",
    help="The number of pods, instead of the one in the manifest. A suspended workload is asked about as if resumed.",
)
@click.option("--max", "maximum", is_flag=True, help="Find how many pods would fit, and what stops the next one.")
@click.option(
    "--nodes-like",
    default="",
    metavar="NODE[=N]",
    shell_complete=complete_nodes_or_files,
    callback=NewNodes.parse,
    help="Find how many more nodes of this shape are missing for all pods to fit; with =N, add N of them. NODE is the "
    "name of a node, of a node group, NODEPOOL/TYPE, or a file with a Node.",
)
@click.option(
    "--shapes",
    is_flag=False,
    flag_value="",
    metavar="[=FILE.csv]",
    callback=shapes_file,
    help="Find which nodes that autoscalers may add would take the pods that have no node, how many, and why others "
    "would not: nodes of NodePools, of NodeClaims, of the ConfigMap cluster-autoscaler-status, and of the types of "
    "machines in FILE.csv. Without -f, --resource and --device it is about the pending pods of the cluster.",
)
@click.option(
    "--prices",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="With --shapes: prices of an hour by instance type, as kubesched compare reads them.",
)
@click.option(
    "--rollout",
    is_flag=True,
    help="If the workload runs already, replace its pods in the steps of its strategy, also where the template is the "
    "same; otherwise print a note. By default only another template replaces pods.",
)
@click.option(
    "--add",
    is_flag=True,
    help="If the workload runs already, keep its pods and add the new ones, instead of a rollout.",
)
@click.option("--alone", is_flag=True, help="Leave out the pods that are pending already: as if the queue were empty.")
@what_if_options
@deciding_options
@extenders_option
@click.option(
    "--fail-on-pending",
    is_flag=True,
    help="Exit with 1 if a pod in question would stay pending, or would not start on its node.",
)
@write_option
@report_output_option(PATCH)
def fit(
    inputs: InputOptions,
    question: PodsInQuestion,
    what_if: "WhatIf",
    fail_on_pending: bool,
    write: str | None,
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
      kubesched fit cluster.json -f deployment.yaml --add
      kubesched fit cluster.json -f deployment.yaml --without-nodes -l pool=spot
      kubesched fit cluster.json --shapes
      kubesched fit cluster.json -f first.yaml --write after.json && kubesched fit after.json -f second.yaml
      kubesched fit cluster.json --resource cpu=2 --resource memory=4Gi --replicas 16
      kubesched fit cluster.json --device gpu.nvidia.com=2 --max
      helm template chart/ | kubesched fit cluster.json -f -
      helm template chart/ | kubesched fit cluster.json -f - --only deploy/web --max

    SNAPSHOT is a file or folder of `kubectl get -o json|yaml`, also compressed, or - for standard input. Without it the
    cluster of the current kubeconfig context is read.
    """  # noqa: D301
    from kubesched.pages.plans import fit_page

    if question.shapes is not None:
        is_about_new = question.filenames or question.resources or question.devices
        asked_about = question.asked if is_about_new else None
        shapes = ShapesInQuestion(question.shapes, question.prices, asked_about, question.replicas)
        print_shapes(inputs, shapes, what_if, output, fail_on_pending=fail_on_pending)
        return
    check_written(write, (*inputs.files(), *question.filenames))
    may_be_empty = bool(question.nodes_like.model or what_if.add_nodes)
    read, setup = read_both(inputs, may_be_empty=may_be_empty, names_unread=False)
    changed = what_if.applied(read)
    cluster = changed.cluster
    asked = question.asked(cluster, setup.release)
    answer = _answer(question, asked, cluster, setup, changed, keeps_objects=write is not None)
    write_after(cluster, answer.objects, write)
    explain, again = question.explained(inputs, asked), question.again(inputs, asked)
    print_report(fit_page(answer, explain=explain, again=again, replicas=question.replicas), output)
    if not answer.is_known or (fail_on_pending and not _fits(answer)):
        raise click.exceptions.Exit(1)


def _change_words() -> list[str]:
    return given_words(WHAT_IF_NAMES.__contains__)


def _answer(
    question: PodsInQuestion,
    asked: "Asked",
    cluster: "ClusterObjects",
    setup: "Setup",
    changed: "Changed",
    *,
    keeps_objects: bool,
) -> "Fit":
    from kubesched.planning import FitQuestion, fit_asked

    model, number = question.nodes_like.model, question.nodes_like.number
    shown = (question.replicas, question.maximum, model, number, question.add, question.rollout, question.alone)
    with progress_bar("placing") as progress, noting_slow_plugins(setup) as watched:
        asks = FitQuestion(*shown, keeps_objects)
        return fit_asked(cluster, asked, watched, asks, changed=changed, progress=progress)


def _note_missing(cluster: "ClusterObjects", asked: "Asked") -> None:
    """Note the kinds that the pods need and the snapshot lacks."""
    from kubesched.snapshot import missing_kinds

    missing = missing_kinds(cluster, cluster.listed_kinds, asked.objects())
    # without nodes the answer says where the pods fit, and how many nodes they need
    note_missing([one for one in missing if one.kinds != ("Node",)])


def _fits(answer: "Fit") -> bool:
    """Whether no pod in question would stay pending, or not start."""
    has_none = not answer.placements and not answer.is_maximum
    return answer.all_start and bool(answer.n_fit or has_none)
