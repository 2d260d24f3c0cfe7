"""A kubeconfig file as structs: only the fields that kubesched uses, each of which may be absent or null."""

from typing import Any, Literal

import msgspec


class NamedExtension(msgspec.Struct, frozen=True):
    """What others keep in a kubeconfig."""

    name: str
    extension: Any = None


class ClusterEntry(msgspec.Struct, frozen=True, rename="kebab"):
    """Where an API server is."""

    server: str | None = None
    tls_server_name: str | None = None
    insecure_skip_tls_verify: bool | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    proxy_url: str | None = None
    disable_compression: bool | None = None
    extensions: tuple[NamedExtension, ...] | None = None


class ExecVariable(msgspec.Struct, frozen=True):
    """A variable for the environment of a program."""

    name: str
    value: str = ""


class ExecEntry(msgspec.Struct, frozen=True, rename="camel"):
    """A program that gives credentials."""

    api_version: str | None = None
    command: str | None = None
    args: tuple[str, ...] | None = None
    env: tuple[ExecVariable, ...] | None = None
    install_hint: str | None = None
    provide_cluster_info: bool | None = None
    interactive_mode: Literal["Never", "IfAvailable", "Always"] | None = None


class UserEntry(msgspec.Struct, frozen=True, rename="kebab"):
    """The credentials of a user."""

    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    username: str | None = None
    password: str | None = None
    impersonate: str | None = msgspec.field(default=None, name="as")
    impersonate_uid: str | None = msgspec.field(default=None, name="as-uid")
    impersonate_groups: tuple[str, ...] | None = msgspec.field(default=None, name="as-groups")
    impersonate_user_extra: dict[str, tuple[str, ...]] | None = msgspec.field(default=None, name="as-user-extra")
    auth_provider: dict[str, Any] | None = None
    exec: ExecEntry | None = None

    def __repr__(self) -> str:
        return "UserEntry(...)"


class ContextEntry(msgspec.Struct, frozen=True):
    """A cluster and a user together."""

    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None


class NamedCluster(msgspec.Struct, frozen=True):
    """An item of `clusters`."""

    name: str
    cluster: ClusterEntry | None = None


class NamedUser(msgspec.Struct, frozen=True):
    """An item of `users`."""

    name: str
    user: UserEntry | None = None


class NamedContext(msgspec.Struct, frozen=True):
    """An item of `contexts`."""

    name: str
    context: ContextEntry | None = None


class KubeconfigFile(msgspec.Struct, frozen=True, rename="kebab"):
    """One file."""

    api_version: str | None = msgspec.field(default=None, name="apiVersion")
    kind: str | None = None
    current_context: str | None = None
    clusters: tuple[NamedCluster, ...] | None = None
    users: tuple[NamedUser, ...] | None = None
    contexts: tuple[NamedContext, ...] | None = None
