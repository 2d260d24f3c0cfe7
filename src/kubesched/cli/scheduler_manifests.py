"""`kubesched scheduler manifests`: print the objects that run a live scheduler in a cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kubesched.cli.cluster import note
from kubesched.cli.inputs import SetupOptions, with_setup
from kubesched.cli.installation import MountedFiles, installation_options
from kubesched.cli.options import setup_options
from kubesched.cli.output import print_verbatim
from kubesched.errors import InputError

if TYPE_CHECKING:
    from kubesched.manifests import SchedulerInstallation


@click.command()
@with_setup
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
    setup_options: SetupOptions,
    plugin_files: tuple[Path, ...],
    scheduler_name: str | None,
    name: str,
    replaces: bool,
    **fields: Any,
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
    from kubesched.manifests import SchedulerInstallation, scheduler_manifests, write_commented
    from kubesched.setup import readers_of, set_up

    setup = set_up(*setup_options[:3])
    mounted = MountedFiles()
    profile_names = tuple(profile.scheduler_name for profile in setup.profiles) if setup_options.config else ()
    installation = SchedulerInstallation(
        arguments=mounted.plugin_arguments(setup_options),
        **mounted.fields(plugin_files, setup.profiles),
        scheduler_names=profile_names or (scheduler_name or ("default-scheduler" if replaces else name),),
        name=name,
        given=_fields_of(setup_options),
        kinds=setup.watched_kinds,
        readers=readers_of(setup.profiles),
        replaces=replaces,
        **fields,
    )
    _refuse_name_of_configuration(mounted)
    documents = scheduler_manifests(installation)
    print_verbatim(write_commented(documents, installation))
    _print_notes(installation)


def _refuse_name_of_configuration(mounted: MountedFiles) -> None:
    from kubesched.manifests import CONFIG_FILE

    if CONFIG_FILE in mounted.files:
        raise InputError(f"{CONFIG_FILE} is the name of the configuration in the ConfigMap; rename the plugins' file")


def _fields_of(setup_options: SetupOptions) -> dict[str, Any]:
    """The fields of a configuration that is known to be valid, as v1."""
    from kubesched.documents import read_yaml
    from kubesched.setup import convert_text, read_source

    if setup_options.config is None:
        return {}
    text, _ = convert_text(read_source(setup_options.config), setup_options.references, kube_scheduler=False)
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
