"""`kubesched extender manifests`: print the objects that run an extender and its kube-scheduler in a cluster."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kubesched.cli.cluster import note
from kubesched.cli.inputs import SetupOptions, with_setup
from kubesched.cli.installation import MountedFiles, installation_options
from kubesched.cli.options import (
    beside_scheduler_options,
    client_cn_option,
    http_timeout_option,
    managed_resource_option,
    preemption_helps_option,
)
from kubesched.cli.output import print_verbatim
from kubesched.cli.reading_release import set_up_beside
from kubesched.release import RECORDED_DEFAULT

if TYPE_CHECKING:
    from kubesched.extender import ManifestOptions, Offer
    from kubesched.framework import Profile


@click.command()
@with_setup
@installation_options
@beside_scheduler_options
@click.option("--bind", is_flag=True, help="Let the extender bind pods even if no plugin takes part in binding.")
@managed_resource_option
@preemption_helps_option
@click.option(
    "--kube-scheduler-image",
    metavar="IMAGE",
    help=f"Use the minor version of your cluster.  [default: registry.k8s.io/kube-scheduler:{RECORDED_DEFAULT}]",
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
@http_timeout_option
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
@client_cn_option("With --client-secret: accepted common name. Repeatable.  [default: any]")
def manifests(
    setup_options: SetupOptions,
    plugin_files: tuple[Path, ...],
    scheduler_name: str | None,
    name: str,
    bind: bool,
    preemption_helps: bool,
    kube_scheduler_image: str | None,
    tls_secret: str | None,
    **fields: Any,
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
    from kubesched.extender import (
        KUBE_SCHEDULER_IMAGE,
        ManifestOptions,
        extender_manifests,
        find_offer,
        served_profiles,
        watched_kinds,
    )

    profiles = served_profiles(set_up_beside(setup_options), offers_bind=bind)
    mounted = MountedFiles()
    options = ManifestOptions(
        arguments=_arguments(setup_options, mounted, preemption_helps),
        **mounted.fields(plugin_files, profiles),
        scheduler_names=_scheduler_names(scheduler_name, name, profiles if setup_options.config else ()),
        name=name,
        kube_scheduler_image=kube_scheduler_image or KUBE_SCHEDULER_IMAGE,
        tls_secret=tls_secret or f"{name}-extender-tls",
        **fields,
    )
    offer = find_offer(profiles, bind=bind)
    documents = extender_manifests(options, offer, watched_kinds(profiles, bind=offer.bind))
    _print(documents, options, profiles)
    _print_advice(options, offer, profiles, preemption_helps)


def _arguments(setup_options: SetupOptions, mounted: MountedFiles, preemption_helps: bool) -> tuple[str, ...]:
    """The options of `kubesched extender` in the container."""
    config = setup_options.config
    return (
        *([f"--config={mounted.path(config)}"] if config is not None else []),
        *mounted.plugin_arguments(setup_options),
        *(f"--skip-plugin={name}" for name in setup_options.skipped),
        *([f"--kubernetes-version={version}"] if (version := setup_options.kubernetes_version) else []),
        *(f"--feature-gates={gates}" for gates in setup_options.feature_gates),
        *(["--preemption-helps"] if preemption_helps else []),
    )


def _scheduler_names(given: str | None, name: str, profiles: Iterable["Profile"]) -> tuple[str, ...]:
    return (given,) if given else tuple(profile.scheduler_name for profile in profiles if profile.plugins) or (name,)


def _print(documents: Iterable[dict[str, Any]], options: "ManifestOptions", profiles: Iterable["Profile"]) -> None:
    from kubesched.documents import write_yaml
    from kubesched.manifests import rule_comments, why_read
    from kubesched.setup import readers_of

    readers = readers_of(profiles)
    print_verbatim(
        f"# Pods with spec.schedulerName: {' or '.join(options.scheduler_names)} are scheduled with the extender.\n"
    )
    texts = []
    for document in documents:
        reads = {f"rules[{row}]": why_read(one, readers) for row, one in enumerate(document.get("rules", ()))}
        texts.append(write_yaml(document, reads | rule_comments(document, options.plugin_grants)))
    print_verbatim("---\n".join(texts))


def _print_advice(
    options: "ManifestOptions", offer: "Offer", profiles: Iterable["Profile"], preemption_helps: bool
) -> None:
    from kubesched.extender import advice, scheduler_configuration
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
