"""The flags that kube-scheduler has.

Rule: kube-scheduler v1.36.3 --help, and the flags of its JSON log. Underscores in a flag count as dashes.
"""

from collections.abc import Iterable
from typing import Final

__all__ = ["FLAGS", "unknown_flags"]

FLAGS: Final = frozenset(
    (
        "allow-metric-labels",
        "allow-metric-labels-manifest",
        "authentication-kubeconfig",
        "authentication-skip-lookup",
        "authentication-token-webhook-cache-ttl",
        "authentication-tolerate-lookup-failure",
        "authorization-always-allow-paths",
        "authorization-kubeconfig",
        "authorization-webhook-cache-authorized-ttl",
        "authorization-webhook-cache-unauthorized-ttl",
        "bind-address",
        "cert-dir",
        "client-ca-file",
        "config",
        "contention-profiling",
        "disable-http2-serving",
        "disabled-metrics",
        "emulated-version",
        "feature-gates",
        "help",
        "http2-max-streams-per-connection",
        "kube-api-burst",
        "kube-api-content-type",
        "kube-api-qps",
        "kubeconfig",
        "leader-elect",
        "leader-elect-lease-duration",
        "leader-elect-renew-deadline",
        "leader-elect-resource-lock",
        "leader-elect-resource-name",
        "leader-elect-resource-namespace",
        "leader-elect-retry-period",
        "log-flush-frequency",
        "log-json-info-buffer-size",
        "log-json-split-stream",
        "log-text-info-buffer-size",
        "log-text-split-stream",
        "logging-format",
        "master",
        "min-compatibility-version",
        "permit-address-sharing",
        "permit-port-sharing",
        "pod-max-in-unschedulable-pods-duration",
        "profiling",
        "requestheader-allowed-names",
        "requestheader-client-ca-file",
        "requestheader-extra-headers-prefix",
        "requestheader-group-headers",
        "requestheader-uid-headers",
        "requestheader-username-headers",
        "secure-port",
        "show-hidden-metrics-for-version",
        "tls-cert-file",
        "tls-cipher-suites",
        "tls-curve-preferences",
        "tls-min-version",
        "tls-private-key-file",
        "tls-sni-cert-key",
        "v",
        "version",
        "vmodule",
        "write-config-to",
    )
)
"""The names of the flags, without dashes in front."""


def unknown_flags(flags: Iterable[str]) -> tuple[str, ...]:
    """Those flags of a command line that kube-scheduler does not have, in their order."""
    return tuple(flag for flag in flags if flag not in FLAGS)
