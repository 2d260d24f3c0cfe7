"""`kubesched extender manifests`: print the objects that run an extender and its kube-scheduler in a cluster."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.bad_input import BadInput, refuse_bad_input
from kubesched.cli.cluster import note
from kubesched.cli.options import (
    Seconds,
    beside_scheduler_options,
    common_names,
    managed_resource_option,
    preemption_helps_option,
)

if TYPE_CHECKING:
    from kubesched.config import ExtenderManagedResource
    from kubesched.extender.manifests import ManifestOptions
    from kubesched.extender.server import Offer
    from kubesched.framework import Profile

_NAME: Final = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")  # with what is appended, a name of any kind of object
_SCHEDULER_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_FILE_NAME: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")


def _object_name(context: click.Context, option: click.Parameter, value: str) -> str:
    if not _NAME.fullmatch(value):
        raise click.BadParameter(f"found {value!r}; expected up to 40 of a-z, 0-9 and -, with a letter first")
    return value


def _scheduler_name(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _SCHEDULER_NAME.fullmatch(value):
        raise click.BadParameter(f"found {value!r}; expected only a-z, 0-9, - and ., as in spec.schedulerName of a pod")
    return value


@click.command()
@click.option("--image", metavar="IMAGE", required=True, help="Image with kubesched, and Python as python3.")
@beside_scheduler_options
@click.option(
    "--plugin-file",
    "plugin_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Another file that the plugins import or read; it is mounted next to them in /etc/kubesched. Repeatable.",
)
@click.option("--bind", is_flag=True, help="Let the extender bind pods even if no plugin takes part in binding.")
@managed_resource_option
@preemption_helps_option
@click.option(
    "--name",
    default="kubesched",
    show_default=True,
    callback=_object_name,
    help="Name of the scheduler, its lease and most objects. Use a name once per cluster.",
)
@click.option(
    "--namespace",
    default="kube-system",
    show_default=True,
    callback=_object_name,
    help="Namespace of all objects. Some providers allow system-cluster-critical pods only in kube-system.",
)
@click.option("--create-namespace", is_flag=True, help="Print the namespace, too; deleting the file then deletes it.")
@click.option(
    "--scheduler-name",
    metavar="NAME",
    callback=_scheduler_name,
    help="Value for spec.schedulerName of pods.  [default: the profiles of --config, or --name]",
)
@click.option(
    "--kube-scheduler-image",
    metavar="IMAGE",
    help="Use the minor version of your cluster.  [default: registry.k8s.io/kube-scheduler:v1.36.3]",
)
@click.option(
    "--service/--sidecar",
    "is_service",
    help="Run the extender as a separate Deployment behind a Service with TLS, or (the default) next to kube-scheduler "
    "on 127.0.0.1. A sidecar needs a cluster of v1.29 or newer.",
)
@click.option(
    "--replicas",
    "n_replicas",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of schedulers; one is active, the others wait for its lease. With --service also the number of "
    "extenders, if they do not bind.",
)
@click.option(
    "--http-timeout",
    type=Seconds(),
    default="5s",
    show_default=True,
    help="kube-scheduler's httpTimeout. After four fifths of it, no further hook is called and the extender answers.",
)
@click.option("--ignorable", is_flag=True, help="Schedule pods without the extender while it is down.")
@click.option(
    "--tls-secret",
    metavar="NAME",
    help="With --service: Secret with tls.crt and tls.key for the name NAME-extender.NAMESPACE.svc, and ca.crt; "
    "[default: NAME-extender-tls]",
)
@click.option(
    "--client-secret",
    metavar="NAME",
    default="",
    help="With --service: Secret with kube-scheduler's client certificate (tls.crt, tls.key) and the ca.crt that "
    "signed it. The extender then refuses clients without such a certificate (mutual TLS). Required if the extender "
    "binds pods.",
)
@click.option(
    "--client-cn",
    "client_names",
    metavar="NAME",
    multiple=True,
    callback=common_names,
    help="With --client-secret: accepted common name. Repeatable.  [default: any]",
)
def manifests(
    image: str,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    plugin_files: tuple[Path, ...],
    bind: bool,
    managed_resources: tuple["ExtenderManagedResource", ...],
    preemption_helps: bool,
    name: str,
    namespace: str,
    create_namespace: bool,
    scheduler_name: str | None,
    kube_scheduler_image: str | None,
    is_service: bool,
    n_replicas: int,
    http_timeout: float,
    ignorable: bool,
    tls_secret: str | None,
    client_secret: str,
    client_names: tuple[str, ...],
) -> None:
    """Print manifests that run an extender and a kube-scheduler that calls it.

    \b
    Examples:
      kubesched extender manifests --image registry.example.com/kubesched:1 --plugin team_zone.py:TeamZone
      kubesched extender manifests --image ... --plugin gpu_share.py:GpuShare --name gpu | kubectl apply -f -

    The command loads the plugins to find out which calls they need. Verbs, roles and the KubeSchedulerConfiguration
    follow from that. The plugins' files go into a ConfigMap. The cluster's own scheduler does not change: pods ask for
    the new one by spec.schedulerName. Notes on the result go to standard error.
    """  # noqa: D301
    from kubesched.extender.manifests import KUBE_SCHEDULER_IMAGE, ManifestOptions
    from kubesched.extender.manifests import manifests as make_manifests
    from kubesched.extender.server import find_offer, served_profiles, watched_kinds
    from kubesched.setup import set_up

    with refuse_bad_input():
        profiles = served_profiles(set_up(config, references, plugin_args, default_plugins=False), offers_bind=bind)
        mounted = _Mounted()
        arguments = mounted.arguments(config, references, plugin_args)
        for file in plugin_files:
            mounted.path(file)
        options = ManifestOptions(
            image=image,
            name=name,
            namespace=namespace,
            creates_namespace=create_namespace,
            scheduler_names=_scheduler_names(scheduler_name, name, profiles if config else ()),
            kube_scheduler_image=kube_scheduler_image or KUBE_SCHEDULER_IMAGE,
            arguments=(*arguments, "--preemption-helps") if preemption_helps else arguments,
            files=mounted.files,
            imports_files=any(file.suffix == ".py" for file in plugin_files),
            is_service=is_service,
            n_replicas=n_replicas,
            http_timeout=http_timeout,
            ignorable=ignorable,
            tls_secret=tls_secret or f"{name}-extender-tls",
            client_secret=client_secret,
            client_names=client_names,
            managed_resources=managed_resources,
        )
        offer = find_offer(profiles, bind=bind)
        documents = make_manifests(options, offer, watched_kinds(profiles, bind=offer.bind))
    _print(documents, options)
    _print_advice(options, offer, profiles, preemption_helps)


def _scheduler_names(given: str | None, name: str, profiles: Iterable["Profile"]) -> tuple[str, ...]:
    return (given,) if given else tuple(profile.scheduler_name for profile in profiles if profile.plugins) or (name,)


class _Mounted:
    """The files of the user that go into a ConfigMap, and where the container has them.

    Attributes:
        files: their text by the name that they have there.
    """

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self._sources: dict[str, Path] = {}

    def arguments(
        self, config: Path | None, references: Sequence[str], plugin_args: Mapping[str, str]
    ) -> tuple[str, ...]:
        """The same options as the container needs them."""
        options = [f"--config={self.path(config)}"] if config is not None else []
        for reference in references:
            source, _, class_name = reference.rpartition(":")
            options.append(f"--plugin={self.path(Path(source)) if source.endswith('.py') else source}:{class_name}")
        options += [f"--plugin-args={name}={self.path(Path(file))}" for name, file in plugin_args.items()]
        return tuple(options)

    def path(self, file: Path) -> str:
        """Take a file in. Returns: its path in the container."""
        from kubesched.extender.manifests import PLUGIN_FOLDER

        name = file.name
        if self._sources.setdefault(name, file).resolve() != file.resolve():
            raise BadInput(
                f"{self._sources[name]} and {file} have the same name, but go into the same folder; rename one"
            )
        if not _FILE_NAME.fullmatch(name):
            raise BadInput(f"{file}: a ConfigMap accepts only names of a-z, A-Z, 0-9, -, _ and .; rename the file")
        try:
            self.files[name] = file.read_text(encoding="utf-8")
        except OSError as error:
            raise BadInput(f"open {file}: {(error.strerror or str(error)).lower()}") from None
        except UnicodeDecodeError as error:
            raise BadInput(f"{file}: not UTF-8 text (byte {error.start}); put it into the image") from None
        return f"{PLUGIN_FOLDER}/{name}"


def _print(documents: Iterable[Mapping[str, object]], options: "ManifestOptions") -> None:
    from kubesched.documents import write_yaml

    click.echo(
        f"# Pods with spec.schedulerName: {' or '.join(options.scheduler_names)} are scheduled with the extender."
    )
    click.echo("---\n".join(map(write_yaml, documents)), nl=False)


def _print_advice(
    options: "ManifestOptions", offer: "Offer", profiles: Iterable["Profile"], preemption_helps: bool
) -> None:
    from kubesched.extender.manifests import scheduler_configuration
    from kubesched.extender.server import advice
    from kubesched.setup import load_configuration

    configuration = load_configuration(scheduler_configuration(options, offer).encode())
    version = options.kube_scheduler_image.rpartition(":")[2]
    sentences = advice(
        offer,
        configuration,
        n_nodes=None,
        is_watched=True,
        scheduler_version=version,
        profiles=profiles,
        preemption_helps=preemption_helps,
        is_open=options.is_service and not options.client_secret,
    )
    for sentence in sentences:
        note(sentence)
