"""Builds the objects that run an extender with a separate kube-scheduler, as plain documents.

In one form the extender is a sidecar: kube-scheduler reaches it on 127.0.0.1, every scheduler has its own, and leader
election leaves one of them at work. In the other it is a Deployment and a Service with TLS. `extender_rights.py` has
the permissions, `extender_pods.py` the pods.
"""

from collections.abc import Sequence
from typing import Final

from kubesched.documents import write_yaml
from kubesched.errors import InputError
from kubesched.extender.manifests.extender_pods import (
    CONFIG_KEY,
    SCHEDULER_CA,
    SCHEDULER_CERT,
    SCHEDULER_KEY,
    pod_specs,
)
from kubesched.extender.manifests.extender_rights import access
from kubesched.extender.manifests.manifest_options import SERVICE_PORT, SIDECAR_PORT, ManifestOptions
from kubesched.extender.offer import Offer
from kubesched.manifests import Document, checksum_of, config_map, namespace, service, workload

_OF_THE_CLUSTER: Final = "default-scheduler"


def extender_manifests(options: ManifestOptions, offer: Offer, kinds: Sequence[str]) -> list[Document]:
    """Everything that an extender and its kube-scheduler need, in the order in which to apply it.

    Args:
        offer: what the plugins take part in; roles, stanza and replicas follow it.
        kinds: what the plugins read.
    Raises:
        InputError: the options do not go together.
    """
    _check(options, offer)
    config_maps = [config_map(options, options.name, {CONFIG_KEY: scheduler_configuration(options, offer)})]
    if options.files:
        config_maps.append(config_map(options, options.extender_name, options.files))
    checksum = checksum_of(config_maps)
    workloads = []
    for component, spec in pod_specs(options, offer).items():
        name = options.extender_name if component == "extender" else options.name
        is_alone = _is_alone(options, offer, component)
        workloads += workload(options, name, component, spec, checksum, is_alone=is_alone)
    return [
        *([namespace(options)] if options.creates_namespace else []),
        *access(options, offer, kinds),
        *config_maps,
        *([_service(options)] if options.is_service else []),
        *workloads,
    ]


def scheduler_configuration(options: ManifestOptions, offer: Offer) -> str:
    """The KubeSchedulerConfiguration of the kube-scheduler that calls the extender, as YAML."""
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {
            "leaderElect": True,
            "resourceName": options.name,
            "resourceNamespace": options.namespace,
        },
        **({"percentageOfNodesToScore": 100} if offer.filter else {}),  # else a filter sees only a sample
        "profiles": [{"schedulerName": name} for name in options.scheduler_names],
    }
    return write_yaml(configuration) + offer.stanza(
        _url(options),
        node_cache_capable=True,
        http_timeout=options.http_timeout,
        ignorable=options.ignorable,
        tls=_tls(options) if options.is_service else None,
        managed_resources=options.managed_resources,
    )


def _url(options: ManifestOptions) -> str:
    if options.is_service:
        return f"https://{options.extender_name}.{options.namespace}.svc"
    return f"http://127.0.0.1:{SIDECAR_PORT}"


def _tls(options: ManifestOptions) -> dict[str, str]:
    tls_config = {"caFile": SCHEDULER_CA}
    if options.client_secret:
        tls_config |= {"certFile": SCHEDULER_CERT, "keyFile": SCHEDULER_KEY}
    return tls_config


def _check(options: ManifestOptions, offer: Offer) -> None:
    if _OF_THE_CLUSTER in options.scheduler_names:
        raise InputError(
            f'schedulerName "{_OF_THE_CLUSTER}" belongs to the cluster\'s own kube-scheduler, and two schedulers must '
            "not serve the same pods; give another with --scheduler-name"
        )
    if options.is_service and offer.bind and not options.client_secret:
        raise InputError(
            "the extender binds pods, and as a Service without client certificates it would do so for every "
            "client that can "
            "reach it; give --client-secret, or omit --service and run it as a sidecar"
        )
    if options.client_names and not options.client_secret:
        raise InputError("--client-cn needs --client-secret, whose ca.crt signs the names")
    if options.client_secret and not options.is_service:
        raise InputError("client certificates need --service; a sidecar listens only on 127.0.0.1")


def _service(options: ManifestOptions) -> Document:
    return service(options, options.extender_name, "extender", port=443, target_port=SERVICE_PORT)


def _is_alone(options: ManifestOptions, offer: Offer, component: str) -> bool:
    """Whether two pods must never run at the same time: behind a Service each would count only what it bound itself."""
    return options.is_service and offer.bind and component == "extender"
