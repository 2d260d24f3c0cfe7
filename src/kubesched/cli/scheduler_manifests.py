"""`kubesched scheduler manifests`: print the objects that run a live scheduler in a cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kubesched.cli.bad_input import BadInput, refuse_bad_input
from kubesched.cli.cluster import note
from kubesched.cli.installation import MountedFiles, installation_options
from kubesched.cli.options import setup_options
from kubesched.cli.output import print_verbatim

if TYPE_CHECKING:
    from kubesched.manifests import SchedulerInstallation


@click.command()
@installation_options
@setup_options
@click.option(
    "--replicas",
    "n_replicas",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Number of replicas; one schedules, the others wait for its lease.",
)
@click.option(
    "--replace",
    "replaces",
    is_flag=True,
    help="Replace kube-scheduler: serve default-scheduler, and share kube-scheduler's lease so that only one of the "
    "two schedules.",
)
def manifests(
    image: str,
    plugin_files: tuple[Path, ...],
    name: str,
    namespace: str,
    create_namespace: bool,
    scheduler_name: str | None,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    n_replicas: int,
    replaces: bool,
) -> None:
    """Print manifests that run kubesched as a scheduler, beside kube-scheduler or in its place.

    \b
    Examples:
      kubesched scheduler manifests --image registry.example.com/kubesched:1 --plugin team_zone.py:TeamZone
      kubesched scheduler manifests --image ... --config scheduler.yaml --name gpu | kubectl apply -f -
      kubesched scheduler manifests --image ... --replace

    The command checks the configuration and loads the plugins, as `kubesched scheduler` does. Their files go into a
    ConfigMap. Without --replace, the cluster's own scheduler does not change: pods ask for the new one by
    spec.schedulerName. Comments explain each field. Notes on the result go to standard error.
    """  # noqa: D301
    from kubesched.manifests import (
        CONFIG_FILE,
        SchedulerInstallation,
        plugin_grants,
        scheduler_manifests,
        write_commented,
    )
    from kubesched.setup import readers_of, set_up

    if config is not None and scheduler_name is not None:
        raise click.UsageError("--scheduler-name and --config are mutually exclusive: the profiles have the names")
    with refuse_bad_input():
        setup = set_up(config, references, plugin_args)
        mounted = MountedFiles()
        arguments = mounted.plugin_arguments(references, plugin_args)
        for file in plugin_files:
            mounted.path(file)
        if CONFIG_FILE in mounted.files:
            raise BadInput(f"{CONFIG_FILE} is the name of the configuration in the ConfigMap; rename the plugins' file")
        if config is not None:
            scheduler_names = tuple(profile.scheduler_name for profile in setup.profiles)
        else:
            scheduler_names = (scheduler_name or ("default-scheduler" if replaces else name),)
        installation = SchedulerInstallation(
            image=image,
            name=name,
            namespace=namespace,
            creates_namespace=create_namespace,
            scheduler_names=scheduler_names,
            given=_fields_of(config, references),
            kinds=setup.watched_kinds,
            readers=readers_of(setup.profiles),
            plugin_grants=plugin_grants(setup.profiles),
            arguments=arguments,
            files=mounted.files,
            imports_files=any(file.suffix == ".py" for file in plugin_files),
            n_replicas=n_replicas,
            replaces=replaces,
        )
        documents = scheduler_manifests(installation)
    print_verbatim(write_commented(documents, installation))
    _print_notes(installation)


def _fields_of(config: Path | None, references: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a configuration that is known to be valid, as v1."""
    from kubesched.documents import read_yaml
    from kubesched.setup import convert_text, read_source

    if config is None:
        return {}
    text, _ = convert_text(read_source(config), references, kube_scheduler=False)
    fields: dict[str, Any] = next(read_yaml(text)).value
    return fields


def _print_notes(installation: "SchedulerInstallation") -> None:
    if installation.replaces:
        note(
            "apply these manifests while kube-scheduler runs, which places the pods; then stop kube-scheduler. "
            "docs/guides/scheduler.md has the steps"
        )
        if installation.n_replicas == 1:
            note("if the node of the only replica fails, no scheduler is left to place a new one; use --replicas 2")
    if (installation.given.get("clientConnection") or {}).get("kubeconfig"):
        note("clientConnection.kubeconfig is not used: in the cluster, the scheduler uses its service account")
