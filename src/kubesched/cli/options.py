"""Arguments and options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.completed_names import complete_among_snapshots, complete_namespaces
from kubesched.cli.completion import complete_files
from kubesched.cli.parameters import Decorator, Seconds, not_empty, option_group, pairs
from kubesched.cli.plugins import plugin_option
from kubesched.cli.release_options import beside_version_options, version_options
from kubesched.errors import InputError

if TYPE_CHECKING:
    from kubesched.config import ExtenderManagedResource


def _managed_resources(
    context: click.Context, option: click.Parameter, values: tuple[str, ...]
) -> tuple["ExtenderManagedResource", ...]:
    """The resources, with names that kube-scheduler accepts."""
    from kubesched.config import ExtenderManagedResource, error_of, field_finding, managed_resource_errors

    resources: dict[str, ExtenderManagedResource] = {}
    errors = []
    for value in values:
        name, sign, treatment = value.partition("=")
        if sign and treatment != "ignored":
            raise click.BadParameter(f"found {value!r}; write NAME or NAME=ignored, such as example.com/gpu=ignored")
        errors += managed_resource_errors("--managed-resource", name, resources)
        resources[name] = ExtenderManagedResource(name=name, ignored_by_scheduler=bool(sign))
    if errors:
        raise InputError(str(error_of(map(field_finding, errors))))
    return tuple(resources.values())


def _common_names(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Common names, none of them empty."""
    for value in values:
        if not value.strip():
            advice = "give the common name of a client certificate, such as system:kube-scheduler"
            raise click.BadParameter(f"found {value!r}; {advice}")
    return values


def client_cn_option(help: str) -> Decorator:
    """--client-cn: which client certificates are accepted."""
    return click.option("--client-cn", "client_names", metavar="NAME", multiple=True, callback=_common_names, help=help)


def _config_option(help: str) -> Decorator:
    return click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help=help)


preemption_helps_option: Final = click.option(
    "--preemption-helps",
    is_flag=True,
    help="Let kube-scheduler try preemption on nodes that a plugin rejects as UNSCHEDULABLE. Without this option "
    "it does so only if the plugin defines preempt.",
)
"""What kube-scheduler does with nodes that a plugin rejects."""

managed_resource_option: Final = click.option(
    "--managed-resource",
    "managed_resources",
    metavar="NAME[=ignored]",
    multiple=True,
    callback=_managed_resources,
    help="Call the extender only for pods that request this extended resource. With =ignored, "
    "kube-scheduler's NodeResourcesFit does not check the resource. Repeatable.",
)
"""The `managedResources` of the extender's stanza."""

http_timeout_option: Final = click.option(
    "--http-timeout",
    type=Seconds(),
    default="5s",
    show_default=True,
    help="kube-scheduler's httpTimeout. After four fifths of it, no further hook is called and the extender answers.",
)

live_source_options: Final = option_group(
    click.option(
        "--kubeconfig",
        metavar="FILE",
        callback=not_empty,
        shell_complete=complete_files,
        help="The cluster to read if there is no SNAPSHOT.  [default: as kubectl; in a pod, its service account]",
    ),
    click.option(
        "--context",
        metavar="NAME",
        callback=not_empty,
        help="Context in the kubeconfig, if there is no SNAPSHOT.  [default: the current one]",
    ),
)
"""--kubeconfig and --context."""


def namespace_option(help: str) -> Decorator:
    """-n."""
    return click.option("-n", "--namespace", default="", metavar="NAME", shell_complete=complete_namespaces, help=help)


def selection_options(place: str, selector: str) -> Decorator:
    """-n, -A and -l: which pods a command is about; `place` is the preposition before the namespaces."""
    everywhere = f"Look {place} all namespaces. Without -n, this is the default."
    return option_group(
        namespace_option(f"Look only {place} this namespace."),
        click.option("-A", "--all-namespaces", is_flag=True, help=everywhere),
        click.option("-l", "--selector", metavar="LABELS", help=selector),
    )


snapshots_argument: Final = click.argument(
    "snapshots", metavar="[SNAPSHOT...]", nargs=-1, shell_complete=complete_among_snapshots
)
"""The files to read the cluster from; none for the live cluster."""

skip_bad_objects_option: Final = click.option(
    "--skip-bad-objects", is_flag=True, help="Skip and count objects that do not decode, instead of stopping."
)

snapshot_options: Final = option_group(snapshots_argument, skip_bad_objects_option, live_source_options)
"""SNAPSHOT..., --skip-bad-objects, --kubeconfig, --context."""

cluster_options: Final = option_group(
    snapshot_options,
    click.option(
        "--manifest",
        "-f",
        "--filename",
        "manifests",
        metavar="FILE",
        multiple=True,
        shell_complete=complete_files,
        help="Add new objects that are not in the cluster yet: Pods, Deployments, Jobs and so on. Repeatable.",
    ),
)
"""Those and --manifest."""

plugin_options: Final = option_group(
    plugin_option,
    click.option(
        "--plugin-args",
        "plugin_args",
        metavar="NAME=FILE",
        multiple=True,
        callback=pairs(
            "NAME=FILE, such as TeamZone=team_zone.yaml", twice="; one file holds all arguments of a plugin"
        ),
        help="Arguments of a plugin, in YAML or JSON, if the configuration has none for it. Repeatable.",
    ),
)
"""--plugin, --plugin-args: the plugins of the user."""

prices_option: Final = option_group(
    click.option(
        "--prices",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Prices of nodes per hour by instance type, and perhaps by capacity type, in YAML, JSON or CSV.",
    ),
)

on_option: Final = click.option(
    "--on",
    metavar="ADDRESS",
    help="Run on the Dask cluster of this scheduler, such as tcp://10.0.0.7:8786.  [default: this machine]",
)

setup_options: Final = option_group(
    _config_option(
        "KubeSchedulerConfiguration of any version or Policy, also in a ConfigMap, Helm values or the manifest of a "
        "scheduler.  [default: kube-scheduler's defaults]"
    ),
    plugin_options,
)
"""--config, --plugin, --plugin-args."""

deciding_options: Final = option_group(setup_options, version_options)
"""Those, --kubernetes-version and --feature-gates."""

beside_scheduler_options: Final = option_group(
    _config_option(
        "KubeSchedulerConfiguration of any version, or a Policy: of the plugins that its profiles enable, those that "
        "kube-scheduler does not have, and their arguments. [default: one profile with the plugins of --plugin]"
    ),
    plugin_options,
    click.option(
        "--skip-plugin",
        "skipped",
        multiple=True,
        metavar="NAME",
        help="A plugin that --config enables and that kube-scheduler runs itself, such as one in Go. Repeatable.",
    ),
    beside_version_options,
)
"""The same where kube-scheduler runs the default plugins itself, and --skip-plugin."""

extenders_option: Final = click.option(
    "--extenders",
    type=click.Choice(["call", "skip"]),
    default="skip",
    show_default=True,
    help="Whether to call the filter, prioritize and preempt verbs of the extenders in the configuration. Their "
    "bind verb is never called.",
)

tie_options: Final = option_group(
    click.option(
        "--tie-break",
        type=click.Choice(["upstream", "first", "random"]),
        default="first",
        show_default=True,
        help="Which node to take if several have the highest score: kube-scheduler's choice, the first in the "
        "snapshot, or a random one.",
    ),
    click.option(
        "--seed", type=int, metavar="N", help="Random seed, for random ties and for the search of preemption."
    ),
)
"""Which of equally good nodes is taken."""
