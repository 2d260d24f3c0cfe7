"""Accounts, roles and bindings as documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kubesched.api import KindUse, Unstructured, kind_named
from kubesched.framework import Profile
from kubesched.manifests.base_installation import Document, Grant, Installation

_RBAC: Final = "rbac.authorization.k8s.io"
_API_VERSION: Final = f"{_RBAC}/v1"
_READ: Final = ["list", "watch"]


# --- rules ---


def rule(group: str, resources: Sequence[str], verbs: Sequence[str], names: Sequence[str] = ()) -> Document:
    """One rule of a role; with names, for the objects with these names only."""
    named = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": list(resources), **named, "verbs": list(verbs)}


def read_rules(kinds: Iterable[str]) -> list[Document]:
    """List and watch kinds: one rule for each API group, and one for each kind that only plugins read.

    Raises:
        InputError: there is no such kind.
    """
    by_group: dict[str, list[str]] = {}
    of_plugins: dict[tuple[str, str], None] = {}
    for kind in map(kind_named, kinds):
        if kind.use is KindUse.SCHEDULING:
            by_group.setdefault(kind.group, []).append(kind.plural)
        else:
            of_plugins[kind.group, kind.plural] = None
    known = [rule(group, sorted(plurals), _READ) for group, plurals in sorted(by_group.items())]
    return known + [rule(group, [plural], _READ) for group, plural in sorted(of_plugins)]


def why_read(one: Document, readers: Mapping[str, Sequence[str]]) -> str:
    """Why there is a rule for a kind that only plugins read; empty for any other rule.

    Args:
        readers: the names of the plugins that read a kind, by its key.
    """
    if one["verbs"] != _READ:
        return ""
    for key, plugins in readers.items():
        kind = kind_named(key)
        if kind.use is not KindUse.SCHEDULING and one["apiGroups"] == [kind.group] and kind.plural in one["resources"]:
            named = f"Read {kind.resource}, for {' and '.join(plugins)}."
            advice = f" `kubectl api-resources --api-group={kind.group}` shows whether this is the plural."
            return named + (advice if kind.type is Unstructured and kind.group else "")
    return ""


def lease_rules(name: str) -> list[Document]:
    """Elect a leader on one Lease. A Lease that does not exist yet has no name to restrict its creation to."""
    group = "coordination.k8s.io"
    return [rule(group, ["leases"], ["create"]), rule(group, ["leases"], ["get", "update"], [name])]


def plugin_grants(profiles: Iterable[Profile]) -> tuple[Grant, ...]:
    """What the plugins of some profiles may do with `handle.client`, as their classes list it in `rbac`."""
    rules = {plugin.name: plugin.rbac for profile in profiles for plugin in profile.plugins}
    return tuple(
        Grant({field: list(values) for field, values in one.items()}, f"For the plugin {name}.")
        for name, own in rules.items()
        for one in own
    )


def rule_comments(document: Document, grants: Iterable[Grant]) -> dict[str, str]:
    """Why a role has some of its rules, by the path of each."""
    why = [(grant.rule, grant.why) for grant in grants]
    return {
        f"rules[{row}]": reason
        for row, own in enumerate(document.get("rules", ()))
        for known, reason in why
        if own == known
    }


# --- documents ---


def account(installation: Installation, name: str) -> Document:
    """A ServiceAccount."""
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": installation.metadata(name)}


def cluster_role(installation: Installation, name: str, rules: list[Document]) -> Document:
    """A ClusterRole."""
    metadata = installation.metadata(name, namespace="")
    return {"apiVersion": _API_VERSION, "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def role(installation: Installation, name: str, rules: list[Document], namespace: str | None = None) -> Document:
    """A Role in a namespace, in that of the installation if None."""
    metadata = installation.metadata(name, namespace=namespace)
    return {"apiVersion": _API_VERSION, "kind": "Role", "metadata": metadata, "rules": rules}


def cluster_role_binding(installation: Installation, name: str, role_name: str, account_name: str) -> Document:
    """An account gets a role of the cluster."""
    return _binding("ClusterRole", installation, name, role_name, account_name, namespace="")


def role_binding(installation: Installation, name: str, role_name: str, namespace: str | None = None) -> Document:
    """The scheduler's account gets a role of a namespace, of that of the installation if None."""
    return _binding("Role", installation, name, role_name, installation.name, namespace=namespace)


def _binding(
    kind: str, installation: Installation, name: str, role_name: str, account_name: str, *, namespace: str | None
) -> Document:
    return {
        "apiVersion": _API_VERSION,
        "kind": f"{kind}Binding",
        "metadata": installation.metadata(name, namespace=namespace),
        "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": role_name},
        "subjects": [{"kind": "ServiceAccount", "name": account_name, "namespace": installation.namespace}],
    }
