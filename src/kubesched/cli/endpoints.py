"""The flags of the HTTPS endpoints of `kubesched scheduler`, with kube-scheduler's names."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.parameters import option_value

if TYPE_CHECKING:
    from kubesched.live import EndpointOptions

_FILE: Final = click.Path(path_type=Path)
_VERSIONS: Final = {"VersionTLS12": "TLSv1_2", "VersionTLS13": "TLSv1_3"}


def _endpoints(
    *,
    secure_port: int,
    bind_address: str,
    tls_cert_file: Path | None,
    tls_private_key_file: Path | None,
    cert_dir: Path | None,
    tls_min_version: str,
    tls_cipher_suites: tuple[str, ...],
    client_ca_file: Path | None,
    authentication_kubeconfig: str,
    authorization_kubeconfig: str,
    authorization_always_allow_paths: tuple[str, ...],
) -> "EndpointOptions | None":
    """What the flags ask for; None for no endpoints."""
    import ssl

    from kubesched.live import EndpointOptions
    from kubesched.serving import HEALTH_PATHS

    if not secure_port:
        return None
    return EndpointOptions(
        host=bind_address,
        port=secure_port,
        certificate=tls_cert_file,
        key=tls_private_key_file,
        certificate_folder=cert_dir,
        client_ca=client_ca_file,
        min_version=ssl.TLSVersion[_VERSIONS[tls_min_version]],
        cipher_suites=_split(tls_cipher_suites),
        authentication_kubeconfig=authentication_kubeconfig,
        authorization_kubeconfig=authorization_kubeconfig,
        always_allow_paths=_split(authorization_always_allow_paths) or HEALTH_PATHS,
    )


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of lists with commas."""
    return tuple(part.strip() for value in values for part in value.split(",") if part.strip())


endpoint_options: Final = option_value(
    "endpoints",
    _endpoints,
    click.option(
        "--secure-port",
        type=click.IntRange(0, 65535),
        default=10259,
        show_default=True,
        help="Port of the HTTPS endpoints: health, metrics and configuration. 0 serves nothing.",
    ),
    click.option(
        "--bind-address",
        metavar="IP",
        default="127.0.0.1",
        show_default=True,
        help="Address of the HTTPS endpoints. In a pod, probes and Prometheus need 0.0.0.0, kube-scheduler's default.",
    ),
    click.option("--tls-cert-file", type=_FILE, metavar="FILE", help="Certificate; reloaded when the file changes."),
    click.option("--tls-private-key-file", type=_FILE, metavar="FILE", help="The certificate's private key."),
    click.option(
        "--cert-dir",
        type=_FILE,
        metavar="DIR",
        help="Without a certificate, use kube-scheduler.crt and kube-scheduler.key in this folder, and create them if "
        "they do not exist.  [default: a self-signed certificate in memory]",
    ),
    click.option(
        "--tls-min-version", type=click.Choice(list(_VERSIONS)), default="VersionTLS12", help="Oldest version of TLS."
    ),
    click.option(
        "--tls-cipher-suites", metavar="NAMES", multiple=True, help="Allowed for TLS 1.2, separated by commas."
    ),
    click.option(
        "--client-ca-file",
        type=_FILE,
        metavar="FILE",
        help="Authenticate clients that have a certificate of this authority: the common name is the user, "
        "organizations are groups.",
    ),
    click.option(
        "--authentication-kubeconfig",
        default="",
        metavar="FILE",
        help="Check bearer tokens (TokenReview) with this kubeconfig.  [default: as the scheduler itself]",
    ),
    click.option(
        "--authorization-kubeconfig",
        default="",
        metavar="FILE",
        help="Check what clients may ask (SubjectAccessReview) with this one.  [default: as the scheduler itself]",
    ),
    click.option(
        "--authorization-always-allow-paths",
        metavar="PATHS",
        multiple=True,
        help="Paths that everybody may ask, separated by commas.  [default: /healthz,/readyz,/livez]",
    ),
)
"""The argument `endpoints` of a command."""
