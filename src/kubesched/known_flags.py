"""The flags that kube-scheduler has: those that `kubesched scheduler` accepts, and that other command lines may name.

Rule: kube-scheduler v1.36.3 --help, and the flags of its JSON log. Underscores in a flag count as dashes.
"""

from collections.abc import Iterable
from typing import Final

BOOLEAN_FLAGS: Final = frozenset(
    (
        "authentication-skip-lookup",
        "authentication-tolerate-lookup-failure",
        "contention-profiling",
        "disable-http2-serving",
        "help",
        "leader-elect",
        "log-json-split-stream",
        "log-text-split-stream",
        "permit-address-sharing",
        "permit-port-sharing",
        "profiling",
        "version",
    )
)
"""The names of the flags that need no value, without dashes in front."""

FLAGS: Final = BOOLEAN_FLAGS.union(
    (
        "allow-metric-labels",
        "allow-metric-labels-manifest",
        "authentication-kubeconfig",
        "authentication-token-webhook-cache-ttl",
        "authorization-always-allow-paths",
        "authorization-kubeconfig",
        "authorization-webhook-cache-authorized-ttl",
        "authorization-webhook-cache-unauthorized-ttl",
        "bind-address",
        "cert-dir",
        "client-ca-file",
        "config",
        "disabled-metrics",
        "emulated-version",
        "feature-gates",
        "http2-max-streams-per-connection",
        "kube-api-burst",
        "kube-api-content-type",
        "kube-api-qps",
        "kubeconfig",
        "leader-elect-lease-duration",
        "leader-elect-renew-deadline",
        "leader-elect-resource-lock",
        "leader-elect-resource-name",
        "leader-elect-resource-namespace",
        "leader-elect-retry-period",
        "log-flush-frequency",
        "log-json-info-buffer-size",
        "log-text-info-buffer-size",
        "logging-format",
        "master",
        "min-compatibility-version",
        "pod-max-in-unschedulable-pods-duration",
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
        "vmodule",
        "write-config-to",
    )
)
"""The names of all flags, without dashes in front."""


def unknown_flags(flags: Iterable[str]) -> tuple[str, ...]:
    """Those flags of a command line that kube-scheduler does not have, in their order."""
    return tuple(flag for flag in flags if flag not in FLAGS)
