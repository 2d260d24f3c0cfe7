"""`kubesched extender`: serve plugins to a stock kube-scheduler."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.cluster import note
from kubesched.cli.json_log import json_log
from kubesched.cli.options import (
    Seconds,
    beside_scheduler_options,
    common_names,
    managed_resource_option,
    preemption_helps_option,
    refuse_options_before,
)
from kubesched.cli.output import print_verbatim
from kubesched.version import VERSION

if TYPE_CHECKING:
    from kubesched.config import ExtenderManagedResource
    from kubesched.extender import Extender, ExtenderOptions
    from kubesched.serving import Server, TlsFiles

_MIB: Final = 2**20


@click.group(invoke_without_command=True)
@beside_scheduler_options
@click.option("--kubeconfig", metavar="FILE", help="Watch this cluster. Needed for node names and for bind.")
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
    "--tls-cert-file", metavar="FILE", help="Serve HTTPS with this certificate; reloaded when the file changes."
)
@click.option("--tls-private-key-file", metavar="FILE", help="The certificate's private key.")
@click.option("--client-ca-file", metavar="FILE", help="Accept only clients with a certificate of this authority.")
@click.option(
    "--client-cn",
    "client_names",
    multiple=True,
    metavar="NAME",
    callback=common_names,
    help="Accept only client certificates with this common name and no other. Repeatable.",
)
@click.option(
    "--http-timeout",
    type=Seconds(),
    default="5s",
    show_default=True,
    help="kube-scheduler's httpTimeout. After four fifths of it, no further hook is called and the extender answers.",
)
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
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Record calls and answers for `kubesched extender replay`. The files contain whole pods and nodes.",
)
@click.option(
    "--log-json",
    is_flag=True,
    help="Log JSON lines. The environment variable LOG_LEVEL sets the level: debug, info, warning or error.",
)
@click.pass_context
def extender(
    ctx: click.Context,
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    skipped: tuple[str, ...],
    kubeconfig: str | None,
    context: str,
    in_cluster: bool,
    host: str,
    path_prefix: str | None,
    port: int,
    health_port: int | None,
    tls_cert_file: str | None,
    tls_private_key_file: str | None,
    client_ca_file: str | None,
    client_names: tuple[str, ...],
    http_timeout: float,
    on_timeout: str,
    preemption_helps: bool,
    offers_bind: bool,
    managed_resources: tuple["ExtenderManagedResource", ...],
    max_body_mib: int,
    max_connections: int,
    drain_seconds: float,
    record: Path | None,
    log_json: bool,
) -> None:
    """Serve plugins to a stock kube-scheduler, over the HTTP extender protocol.

    From --config, the extender uses the plugins that kube-scheduler v1.36 does not have, and pluginConfig: the default
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
    if ctx.invoked_subcommand is not None:
        refuse_options_before(ctx, ctx.invoked_subcommand)
        return
    from kubesched.extender import ExtenderOptions
    from kubesched.serving import ServerOptions

    if health_port and health_port == port:
        raise click.UsageError("--health-port and --port are the same; use a different port for health checks")
    if client_names and not client_ca_file:
        raise click.UsageError("--client-cn needs --client-ca-file, the authority that signs the names")
    if in_cluster and kubeconfig:
        raise click.UsageError("--in-cluster and --kubeconfig are mutually exclusive")
    if in_cluster and context:
        raise click.UsageError("--in-cluster and --context are mutually exclusive: a context belongs to a kubeconfig")
    options = ExtenderOptions(
        server=ServerOptions(
            host=host,
            port=port,
            health_port=health_port,
            tls=_tls(tls_cert_file, tls_private_key_file, client_ca_file),
            max_body_bytes=max_body_mib * _MIB,
            max_connections=max_connections,
            drain_seconds=drain_seconds,
        ),
        client_names=client_names,
        is_watched=in_cluster or bool(kubeconfig) or bool(context),
        kubeconfig=kubeconfig or "",
        context=context,
        in_cluster=in_cluster,
        http_timeout=http_timeout,
        allow_on_timeout=on_timeout == "allow",
        preemption_helps=preemption_helps,
        offers_bind=offers_bind,
        record=record,
        path_prefix=path_prefix,
        managed_resources=managed_resources,
    )
    _serve(config, references, plugin_args, skipped, options, log_json=log_json)


def _tls(cert_file: str | None, key_file: str | None, client_ca_file: str | None) -> "TlsFiles | None":
    from kubesched.serving import TlsFiles

    if cert_file is None and key_file is None:
        if client_ca_file is not None:
            raise click.UsageError("--client-ca-file needs --tls-cert-file and --tls-private-key-file")
        return None
    if cert_file is None or key_file is None:
        raise click.UsageError("--tls-cert-file and --tls-private-key-file need each other; give both")
    return TlsFiles(
        certificate=Path(cert_file),
        key=Path(key_file),
        client_ca=None if client_ca_file is None else Path(client_ca_file),
    )


def _serve(
    config: Path | None,
    references: tuple[str, ...],
    plugin_args: Mapping[str, str],
    skipped: tuple[str, ...],
    options: "ExtenderOptions",
    *,
    log_json: bool,
) -> None:
    import os

    from kubesched.programs import advice_on_extender, serve_until_told
    from kubesched.serving import set_up_logging
    from kubesched.setup import set_up

    set_up_logging(os.environ, as_json=log_json)
    setup = set_up(config, references, plugin_args, default_plugins=False, skipped=skipped)

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
        said = f"{served_at} the stanza"
        log.log(logging.INFO, said, logger="kubesched", stanza=stanza)
        return
    note(f"{served_at}:")
    print_verbatim(stanza)


def _attach() -> None:
    from kubesched.cli.extender_manifests import manifests
    from kubesched.cli.extender_replay import replay

    extender.add_command(manifests)
    extender.add_command(replay)


_attach()
