"""Accounts and roles: the rights of an extender and its kube-scheduler, and no more.

Rule: kube-scheduler's own rights are the bootstrap roles that Kubernetes' guide to several schedulers binds; they name
the lease `kube-scheduler`, so that a second scheduler needs a role for its own.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from kubesched.api import KINDS
from kubesched.errors import InputError
from kubesched.extender.manifests.options import ManifestOptions
from kubesched.extender.server import Offer

Document = dict[str, Any]

_RBAC: Final = "rbac.authorization.k8s.io"
_API_VERSION: Final = f"{_RBAC}/v1"


def access(options: ManifestOptions, offer: Offer, kinds: Sequence[str]) -> list[Document]:
    """ServiceAccounts, roles and bindings.

    Raises:
        InputError: a plugin reads a kind that no watch brings.
    """
    accounts = dict.fromkeys((options.name, options.extender_account))
    documents = [_account(options, account) for account in accounts]
    documents.append(_role(options, "ClusterRole", options.extender_name, extender_rules(kinds, bind=offer.bind)))
    extender = options.extender_name
    documents.append(_cluster_binding(options, extender, extender, options.extender_account))
    for ours, theirs in (("kube-scheduler", "system:kube-scheduler"), ("volume-scheduler", "system:volume-scheduler")):
        documents.append(_cluster_binding(options, f"{options.name}-as-{ours}", theirs, options.name))
    documents.append(_role(options, "Role", options.name, _lease_rules(options.name)))
    documents.append(_binding(options, options.name, options.name, options.namespace))
    reader = "extension-apiserver-authentication-reader"
    documents.append(_binding(options, f"{options.name}-authentication-reader", reader, "kube-system"))
    return documents


def extender_rules(kinds: Iterable[str], *, bind: bool) -> list[Document]:
    """The rules of an extender: list and watch what its plugins read; with bind, look a pod up and bind it.

    Raises:
        InputError: a kind is not among those that a watch brings.
    """
    by_group: dict[str, list[str]] = {}
    for name in kinds:
        if name not in KINDS:
            raise InputError(f'a plugin reads "{name}"; expected one of the kinds {", ".join(KINDS)}')
        by_group.setdefault(KINDS[name].group, []).append(KINDS[name].plural)
    rules = [_rule(group, sorted(plurals), ["list", "watch"]) for group, plurals in sorted(by_group.items())]
    if bind:
        rules += [_rule("", ["pods"], ["get"]), _rule("", ["pods/binding"], ["create"])]
    return rules


def _lease_rules(name: str) -> list[Document]:
    """A lease that does not exist yet has no name to restrict its creation to."""
    lease = _rule("coordination.k8s.io", ["leases"], ["get", "update"])
    return [_rule("coordination.k8s.io", ["leases"], ["create"]), {**lease, "resourceNames": [name]}]


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> Document:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}


# --- the documents ---


def _account(options: ManifestOptions, name: str) -> Document:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": _metadata(options, name, options.namespace)}


def _role(options: ManifestOptions, kind: str, name: str, rules: list[Document]) -> Document:
    namespace = options.namespace if kind == "Role" else ""
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": _metadata(options, name, namespace), "rules": rules}


def _cluster_binding(options: ManifestOptions, name: str, role: str, account: str) -> Document:
    return {
        "apiVersion": _API_VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": _metadata(options, name, ""),
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [_subject(options, account)],
    }


def _binding(options: ManifestOptions, name: str, role: str, namespace: str) -> Document:
    """The scheduler's account gets a role of a namespace."""
    return {
        "apiVersion": _API_VERSION,
        "kind": "RoleBinding",
        "metadata": _metadata(options, name, namespace),
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": role},
        "subjects": [_subject(options, options.name)],
    }


def _subject(options: ManifestOptions, account: str) -> Document:
    return {"kind": "ServiceAccount", "name": account, "namespace": options.namespace}


def _metadata(options: ManifestOptions, name: str, namespace: str) -> Document:
    place = {"namespace": namespace} if namespace else {}
    return {"name": name, **place, "labels": options.labels()}
