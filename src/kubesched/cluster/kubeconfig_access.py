"""Turns a context of a kubeconfig into an Access, and checks which fields may be combined."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

import msgspec

from kubesched.cluster.api_access import Access
from kubesched.cluster.content import Content, Token
from kubesched.cluster.credentials import ConfiguredCredentials, Credentials, basic_authorization
from kubesched.cluster.exec_plugin import EXEC_VERSIONS, ExecCluster, ExecCredentials, ExecPlugin
from kubesched.cluster.kubeconfig import Kubeconfig, PlacedEntry
from kubesched.cluster.kubeconfig_types import ClusterEntry, ExecEntry, UserEntry
from kubesched.cluster.proxies import check_proxy, check_server, proxy_from_environment
from kubesched.cluster.timing import Timing
from kubesched.errors import ConfigError

_EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"


def access_of(kubeconfig: Kubeconfig, context: str, environ: Mapping[str, str], timing: Timing) -> Access:
    """What a context says, with every file in it read once.

    Raises:
        ConfigError: it contradicts itself, or something is missing; with file and place.
    """
    chosen = kubeconfig.context(context)
    cluster, user = kubeconfig.cluster_of(chosen), kubeconfig.user_of(chosen)
    server = check_server(cluster.value.server or "", cluster.at("server"))
    ca = _content(cluster, "certificate-authority", timing)
    is_insecure = bool(cluster.value.insecure_skip_tls_verify)
    if ca and is_insecure:
        raise ConfigError(
            f"{cluster.at('insecure-skip-tls-verify')}: found true together with certificate-authority; "
            "give only one of them"
        )
    proxy = check_proxy(cluster.value.proxy_url or "", cluster.at("proxy-url"))
    return Access(
        label=chosen.at(""),
        server=server,
        credentials=_credentials(user, cluster, ca, timing),
        ca=ca,
        tls_server_name=cluster.value.tls_server_name or "",
        insecure=is_insecure,
        proxy=proxy or proxy_from_environment(server, environ),
        compression=not cluster.value.disable_compression,
        namespace=chosen.value.namespace or "default",
        context=context or kubeconfig.current_context,
        headers=_impersonation(user),
    )


def _content(
    entry: PlacedEntry[ClusterEntry] | PlacedEntry[UserEntry], field: str, timing: Timing, file_only: bool = False
) -> Content | None:
    """The field `...-data`, or else the file that the field names; None where neither is set."""
    name = field.replace("-", "_")
    data = "" if file_only else getattr(entry.value, f"{name}_data")
    if data:
        return Content(entry.at(f"{field}-data"), timing, data=_base64(data, entry.at(f"{field}-data")))
    path = getattr(entry.value, name)
    if not path:
        return None
    content = Content(entry.at(field), timing, path=entry.resolve(path))
    content.read()
    return content


def _base64(text: str, label: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError(f"{label}: not valid base64") from None


def _credentials(
    user: PlacedEntry[UserEntry], cluster: PlacedEntry[ClusterEntry], ca: Content | None, timing: Timing
) -> Credentials:
    entry = user.value
    ways = [
        way
        for way, is_set in (
            ("token", entry.token or entry.token_file),
            ("username", entry.username or entry.password),
            ("exec", entry.exec),
        )
        if is_set
    ]
    if entry.auth_provider:
        raise ConfigError(
            f"{user.at('auth-provider')}: Kubernetes no longer supports this; use exec with your provider's plugin"
        )
    if len(ways) > 1:
        raise ConfigError(f"{user.at('')}: found {' and '.join(ways)}; give only one of them")
    certificate, key = _content(user, "client-certificate", timing), _content(user, "client-key", timing)
    if bool(certificate) != bool(key):
        missing = "client-key" if certificate else "client-certificate"
        raise ConfigError(f"{user.at(missing)}: missing; a client certificate needs its key")
    if entry.exec:
        if certificate:
            raise ConfigError(f"{user.at('')}: found exec and client-certificate; give only one of them")
        return ExecCredentials(_exec_plugin(user, entry.exec, cluster, ca), timing)
    return ConfiguredCredentials(
        token=_token(user, timing),
        authorization=basic_authorization(entry.username or "", entry.password or "") if "username" in ways else "",
        certificate=certificate,
        key=key,
    )


def _token(user: PlacedEntry[UserEntry], timing: Timing) -> Content | None:
    """The file goes before the text."""
    if user.value.token_file:
        token = Token(user.at("tokenFile"), timing, path=user.resolve(user.value.token_file))
        token.read()
        return token
    return Token(user.at("token"), timing, data=user.value.token.encode()) if user.value.token else None


def _exec_plugin(
    user: PlacedEntry[UserEntry], entry: ExecEntry, cluster: PlacedEntry[ClusterEntry], ca: Content | None
) -> ExecPlugin:
    label = user.at("exec")
    if entry.api_version not in EXEC_VERSIONS:
        raise ConfigError(f"{label}.apiVersion: found {entry.api_version!r}; expected {' and '.join(EXEC_VERSIONS)}")
    if not entry.command:
        raise ConfigError(f"{label}.command: missing; name the program that prints credentials")
    if entry.interactive_mode is None and entry.api_version == EXEC_VERSIONS[0]:
        raise ConfigError(f"{label}.interactiveMode: missing; expected Never, IfAvailable or Always")
    return ExecPlugin(
        label=label,
        api_version=entry.api_version or "",
        command=str(user.resolve(entry.command)) if "/" in entry.command else entry.command,
        args=entry.args or (),
        env=tuple((variable.name, variable.value) for variable in entry.env or ()),
        install_hint=entry.install_hint or "",
        interactive_mode=entry.interactive_mode or "IfAvailable",
        cluster=_exec_cluster(cluster.value, ca) if entry.provide_cluster_info else None,
    )


def _exec_cluster(entry: ClusterEntry, ca: Content | None) -> ExecCluster:
    config: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    for extension in entry.extensions or ():
        if extension.name == _EXEC_EXTENSION:
            config = msgspec.Raw(msgspec.json.encode(extension.extension))
    return ExecCluster(
        server=entry.server or "",
        tls_server_name=entry.tls_server_name or "",
        insecure_skip_tls_verify=bool(entry.insecure_skip_tls_verify),
        certificate_authority_data=ca.read() if ca else b"",
        proxy_url=entry.proxy_url or "",
        disable_compression=bool(entry.disable_compression),
        config=config,
    )


def _impersonation(user: PlacedEntry[UserEntry]) -> tuple[tuple[str, str], ...]:
    """Rule: Kubernetes user impersonation: uid, groups and extra only with a user."""
    entry = user.value
    headers = [("Impersonate-Uid", entry.impersonate_uid)] if entry.impersonate_uid else []
    headers += [("Impersonate-Group", group) for group in entry.impersonate_groups or ()]
    for name, values in (entry.impersonate_user_extra or {}).items():
        headers += [(f"Impersonate-Extra-{name}", value) for value in values]
    if not entry.impersonate:
        if headers:
            raise ConfigError(f"{user.at('as')}: missing; as-uid, as-groups and as-user-extra need it")
        return ()
    return (("Impersonate-User", entry.impersonate), *headers)
