"""Flags of kube-scheduler that `kubesched scheduler` accepts, so that its command lines work, and ignores.

Rule: kube-scheduler v1.36. Flags that it has no longer are unknown here, too: to ignore a --policy-config-file would
place pods by other rules.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_BOOLEAN: Final = (
    "authentication-skip-lookup",
    "authentication-tolerate-lookup-failure",
    "contention-profiling",
    "disable-http2-serving",
    "emulation-forward-compatible",
    "log-json-split-stream",
    "log-text-split-stream",
    "permit-address-sharing",
    "permit-port-sharing",
    "profiling",
)
_WITH_VALUE: Final = (
    "allow-metric-labels",
    "allow-metric-labels-manifest",
    "authentication-token-webhook-cache-ttl",
    "authorization-webhook-cache-authorized-ttl",
    "authorization-webhook-cache-unauthorized-ttl",
    "disabled-metrics",
    "emulated-version",
    "http2-max-streams-per-connection",
    "kube-api-burst",
    "kube-api-content-type",
    "kube-api-qps",
    "log-flush-frequency",
    "log-json-info-buffer-size",
    "log-text-info-buffer-size",
    "min-compatibility-version",
    "requestheader-allowed-names",
    "requestheader-client-ca-file",
    "requestheader-extra-headers-prefix",
    "requestheader-group-headers",
    "requestheader-uid-headers",
    "requestheader-username-headers",
    "show-hidden-metrics-for-version",
    "tls-curve-preferences",
    "tls-sni-cert-key",
    "vmodule",
)
_GIVEN: Final = f"{__name__}.given"  # the names on this command line


def ignored_flags(command: F) -> F:
    """Accept the flags without showing them in --help; `given_ignored_flags` returns those that were given."""
    for name in (*_BOOLEAN, *_WITH_VALUE):
        value: dict[str, Any] = {"is_flag": False, "flag_value": "true"} if name in _BOOLEAN else {}
        decorate = click.option(
            f"--{name}", **value, multiple=True, hidden=True, expose_value=False, callback=_note_given
        )
        command = decorate(command)
    return command


def given_ignored_flags() -> list[str]:
    """The flags on this command line that have no effect, sorted."""
    return sorted(click.get_current_context().meta.get(_GIVEN, ()))


def _note_given(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> None:
    if values:
        context.meta.setdefault(_GIVEN, set()).add(option.opts[0])
