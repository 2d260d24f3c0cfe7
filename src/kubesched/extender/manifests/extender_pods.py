"""The pods of an extender and its kube-scheduler: containers, probes, mounts and security settings."""

from typing import Final

from kubesched.extender.manifests.manifest_options import HEALTH_PORT, SERVICE_PORT, SIDECAR_PORT, ManifestOptions
from kubesched.extender.offer import Offer
from kubesched.manifests import (
    PLUGIN_FOLDER,
    Document,
    config_map_volume,
    container,
    mount,
    pod_spec,
    python_environment,
    secret_volume,
)

CONFIG_KEY: Final = "kube-scheduler.yaml"
"""The file of the KubeSchedulerConfiguration in its ConfigMap."""
SCHEDULER_CA: Final = "/etc/kube-scheduler/extender-ca/ca.crt"
SCHEDULER_CERT: Final = "/etc/kube-scheduler/client/tls.crt"
SCHEDULER_KEY: Final = "/etc/kube-scheduler/client/tls.key"

_CONFIG_FOLDER: Final = "/etc/kube-scheduler/config"
_TLS_FOLDER: Final = "/etc/kubesched-tls"
_CLIENT_CA_FOLDER: Final = "/etc/kubesched-client-ca"
_SCHEDULER_PORT: Final = 10259
_ASK: Final = (  # a sidecar listens on 127.0.0.1 alone, where the kubelet's own probes do not come
    "import http.client, sys; c = http.client.HTTPConnection('127.0.0.1', {port}, timeout=4); "
    "c.request('GET', '{path}'); sys.exit(c.getresponse().status != 200)"
)


def pod_specs(options: ManifestOptions, offer: Offer) -> dict[str, Document]:
    """The pods by component: the scheduler with its sidecar, or scheduler and extender apart."""
    scheduler, extender = _scheduler(options), _extender(options, offer)
    volumes = [config_map_volume("config", options.name)]
    plugins = [config_map_volume("plugins", options.extender_name)] if options.files else []
    if not options.is_service:
        # As an init container that stays it is up before kube-scheduler starts and ends after it; from v1.29 on.
        sidecar = {**extender, "restartPolicy": "Always"}
        return {"scheduler": pod_spec(options.name, [scheduler], [*volumes, *plugins], [sidecar])}
    volumes.append(secret_volume("extender-ca", options.tls_secret, ("ca.crt",)))
    secrets = [secret_volume("tls", options.tls_secret, ("tls.crt", "tls.key"))]
    if options.client_secret:
        volumes.append(secret_volume("client", options.client_secret, ("tls.crt", "tls.key")))
        secrets.append(secret_volume("client-ca", options.client_secret, ("ca.crt",)))
    return {
        "extender": pod_spec(options.extender_account, [extender], [*plugins, *secrets]),
        "scheduler": pod_spec(options.name, [scheduler], volumes),
    }


# --- kube-scheduler ---


def _scheduler(options: ManifestOptions) -> Document:
    mounts = [mount("config", _CONFIG_FOLDER)]
    if options.is_service:
        mounts.append(mount("extender-ca", SCHEDULER_CA.rpartition("/")[0]))
    if options.client_secret:
        mounts.append(mount("client", SCHEDULER_CERT.rpartition("/")[0]))
    probe = {"httpGet": {"path": "/healthz", "port": _SCHEDULER_PORT, "scheme": "HTTPS"}}
    return container(
        "kube-scheduler",
        options.kube_scheduler_image,
        command=["kube-scheduler", f"--config={_CONFIG_FOLDER}/{CONFIG_KEY}"],
        ports=[{"name": "https", "containerPort": _SCHEDULER_PORT, "protocol": "TCP"}],
        mounts=mounts,
        probes={
            "livenessProbe": {**probe, "initialDelaySeconds": 15, "timeoutSeconds": 15},
            "readinessProbe": {**probe, "timeoutSeconds": 15},
        },
        resources={"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}},
    )


# --- the extender ---


def _extender(options: ManifestOptions, offer: Offer) -> Document:
    mounts = [mount("plugins", PLUGIN_FOLDER)] if options.files else []
    if options.is_service:
        mounts.append(mount("tls", _TLS_FOLDER))
    if options.client_secret:
        mounts.append(mount("client-ca", _CLIENT_CA_FOLDER))
    ports = [{"name": "extender", "containerPort": SIDECAR_PORT, "protocol": "TCP"}]
    if options.is_service:
        ports = [
            {"name": "extender", "containerPort": SERVICE_PORT, "protocol": "TCP"},
            {"name": "health", "containerPort": HEALTH_PORT, "protocol": "TCP"},
        ]
    return container(
        "extender",
        options.image,
        command=["kubesched", "extender", *_arguments(options, offer)],
        ports=ports,
        mounts=mounts,
        probes=_extender_probes(options),
        resources={"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        env=python_environment(options),
    )


def _arguments(options: ManifestOptions, offer: Offer) -> list[str]:
    return [
        "--in-cluster",
        *_listening(options),
        *options.arguments,
        f"--http-timeout={options.http_timeout:g}s",
        *(["--bind"] if offer.bind else []),
        "--log-json",
    ]


def _listening(options: ManifestOptions) -> list[str]:
    if not options.is_service:
        return ["--host=127.0.0.1", f"--port={SIDECAR_PORT}"]
    arguments = ["--host=0.0.0.0", f"--port={SERVICE_PORT}", f"--health-port={HEALTH_PORT}"]
    arguments += [f"--tls-cert-file={_TLS_FOLDER}/tls.crt", f"--tls-private-key-file={_TLS_FOLDER}/tls.key"]
    if options.client_secret:
        arguments.append(f"--client-ca-file={_CLIENT_CA_FOLDER}/ca.crt")
    return arguments + [f"--client-cn={name}" for name in options.client_names]


def _extender_probes(options: ManifestOptions) -> dict[str, Document]:
    live, ready = _asking(options, "/livez"), _asking(options, "/readyz")
    return {
        "startupProbe": {**ready, "periodSeconds": 2, "timeoutSeconds": 5, "failureThreshold": 150},
        "livenessProbe": {**live, "periodSeconds": 20, "timeoutSeconds": 5},
        "readinessProbe": {**ready, "periodSeconds": 10, "timeoutSeconds": 5},
    }


def _asking(options: ManifestOptions, path: str) -> Document:
    """A probe of a path of the extender, where it is answered however busy the plugins are."""
    if not options.is_service:
        return {"exec": {"command": ["python3", "-c", _ASK.format(port=SIDECAR_PORT, path=path)]}}
    return {"httpGet": {"path": path, "port": HEALTH_PORT}}
