"""`kubesched extender`: serve plugins to a stock kube-scheduler."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kubesched.cli.cluster import note
from kubesched.cli.extender_manifests import manifests
from kubesched.cli.extender_replay import replay
from kubesched.cli.inputs import SetupOptions, with_setup
from kubesched.cli.json_log import json_log
from kubesched.cli.options import (
    beside_scheduler_options,
    client_cn_option,
    http_timeout_option,
    managed_resource_option,
    preemption_helps_option,
)
from kubesched.cli.output import print_verbatim
from kubesched.cli.parameters import Seconds
from kubesched.cli.reading_release import set_up_beside
from kubesched.version import VERSION

if TYPE_CHECKING:
    from kubesched.extender import Extender, ExtenderOptions
    from kubesched.serving import Server

_MIB: Final = 2**20
_FILE: Final = click.Path(path_type=Path)
_OF_SERVER: Final = ("host", "port", "health_port", "max_connections", "drain_seconds")


@click.group(invoke_without_command=True)
@with_setup
@beside_scheduler_options
@click.option(
    "--kubeconfig", default="", metavar="FILE", help="Watch this cluster. Needed for node names and for bind."
)
@click.option("--context", default="", metavar="NAME", help="Context in the kubeconfig.")
@click.option("--in-cluster", is_flag=True, help="Watch the cluster that this pod runs in.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--path-prefix",
    metavar="PATH",
    help="Answer below this path, as in urlPrefix, and at the verbs' exact paths.  [default: below any path]",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8888, show_default=True, help="0 picks a free port.")
@click.option(
    "--health-port",
    type=click.IntRange(0, 65535),
    help="Serve health checks and metrics at this port as well, in plain HTTP. Needed for TLS with slow plugins.",
)
@click.option(
    "--tls-cert-file",
    type=_FILE,
    metavar="FILE",
    help="Serve HTTPS with this certificate; reloaded when the file changes.",
)
@click.option("--tls-private-key-file", type=_FILE, metavar="FILE", help="The certificate's private key.")
@click.option(
    "--client-ca-file", type=_FILE, metavar="FILE", help="Accept only clients with a certificate of this authority."
)
@client_cn_option("Accept only client certificates with this common name and no other. Repeatable.")
@http_timeout_option
@click.option(
    "--on-timeout",
    type=click.Choice(["error", "allow"]),
    default="error",
    show_default=True,
    help="When a filter times out: fail the pod's attempt, or let all nodes pass.",
)
@preemption_helps_option
@click.option("--bind", "offers_bind", is_flag=True, help="Bind pods even if no plugin takes part in binding.")
@managed_resource_option
@click.option("--max-body-mib", type=click.IntRange(1), default=256, show_default=True, help="Largest request, in MiB.")
@click.option(
    "--max-connections", type=click.IntRange(1), default=2000, show_default=True, help="Most open connections."
)
@click.option(
    "--drain",
    "drain_seconds",
    type=Seconds(),
    default="10s",
    show_default=True,
    help="How long to wait for in-flight calls after SIGTERM.",
)
@click.option(
    "--record",
    type=_FILE,
    metavar="DIR",
    help="Record calls and answers for `kubesched extender replay`. The files contain whole pods and nodes.",
)
@click.option(
    "--log-json",
    is_flag=True,
    help="Log JSON lines. The environment variable LOG_LEVEL sets the level: debug, info, warning or error.",
)
def extender(setup_options: SetupOptions, log_json: bool, **flags: Any) -> None:
    """Serve plugins to a stock kube-scheduler, over the HTTP extender protocol.

    From --config, the extender uses the plugins that kube-scheduler does not have, and pluginConfig: the default
    plugins run in kube-scheduler. A pod gets the profile of its schedulerName, else the first one. The
    command prints the `extenders:` stanza for kube-scheduler's own configuration; with --log-json, it is the field
    `stanza` of a log line.

    \b
    Examples:
      kubesched extender --plugin team_zone.py:TeamZone
      kubesched extender --plugin team_zone.py:TeamZone --kubeconfig ~/.kube/config
      kubesched extender manifests --image registry.example/kubesched:1 --plugin team_zone.py:TeamZone
      kubesched extender replay recording/ --plugin team_zone.py:TeamZone

    Without a cluster, kube-scheduler has to send whole nodes (nodeCacheCapable: false). With a cluster, names are
    enough, which is much faster; docs/guides/extender.md has figures.
    """  # noqa: D301
    _serve(setup_options, _extender_options(**flags), log_json=log_json)


def _extender_options(
    *,
    max_body_mib: int,
    on_timeout: str,
    tls_cert_file: Path | None,
    tls_private_key_file: Path | None,
    client_ca_file: Path | None,
    **flags: Any,
) -> "ExtenderOptions":
    """What the flags ask for; those that are not listed have the names of fields."""
    from kubesched.extender import ExtenderOptions
    from kubesched.serving import ServerOptions, TlsFiles

    tls = None
    if tls_cert_file is not None and tls_private_key_file is not None:
        tls = TlsFiles(certificate=tls_cert_file, key=tls_private_key_file, client_ca=client_ca_file)
    of_server = {name: flags.pop(name) for name in _OF_SERVER}
    return ExtenderOptions(
        server=ServerOptions(tls=tls, max_body_bytes=max_body_mib * _MIB, **of_server),
        is_watched=flags["in_cluster"] or bool(flags["kubeconfig"]) or bool(flags["context"]),
        allow_on_timeout=on_timeout == "allow",
        **flags,
    )


def _serve(setup_options: SetupOptions, options: "ExtenderOptions", *, log_json: bool) -> None:
    import os

    from kubesched.programs import advice_on_extender, serve_until_told
    from kubesched.serving import set_up_logging

    set_up_logging(os.environ, as_json=log_json)
    setup = set_up_beside(setup_options)

    def on_listening(served: "Extender", server: "Server") -> None:
        _announce(served, server, options)

    def on_ready(served: "Extender") -> None:
        for sentence in advice_on_extender(served, setup, options):
            note(sentence)
        note(f"ready: {', '.join(served.offer.verbs)}")

    if serve_until_told(setup, options, on_listening=on_listening, on_ready=on_ready):
        raise click.Abort


def _announce(served: "Extender", server: "Server", options: "ExtenderOptions") -> None:
    """Print the address, and what kube-scheduler's configuration needs."""
    names = ", ".join(sorted(served.singles))
    served_at = f"kubesched {VERSION} serves {names} at {server.url}; kube-scheduler's configuration needs"
    tls = None
    if options.server.tls is not None:
        tls = {"caFile": "/path/to/ca.crt"}
        if options.server.tls.client_ca is not None:
            tls.update(certFile="/path/to/client.crt", keyFile="/path/to/client.key")
    stanza = served.offer.stanza(
        server.url + "".join(f"/{part}" for part in (options.path_prefix or "").split("/") if part),
        node_cache_capable=options.is_watched,
        http_timeout=options.http_timeout,
        tls=tls,
        managed_resources=options.managed_resources,
    )
    if (log := json_log()) is not None:
        text = f"{served_at} the stanza"
        log.log(logging.INFO, text, logger="kubesched", stanza=stanza)
        return
    note(f"{served_at}:")
    print_verbatim(stanza)


extender.add_command(manifests)
extender.add_command(replay)
