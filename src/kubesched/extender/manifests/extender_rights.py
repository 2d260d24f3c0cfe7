"""Accounts and roles: the rights of an extender and its kube-scheduler, and no more.

Rule: kube-scheduler's own rights are the bootstrap roles that Kubernetes' guide to several schedulers binds; they name
the lease `kube-scheduler`, so that a second scheduler needs a role for its own.
"""

from collections.abc import Iterable, Sequence

from kubesched.extender.manifests.manifest_options import ManifestOptions
from kubesched.extender.offer import Offer
from kubesched.manifests import (
    Document,
    account,
    cluster_role,
    cluster_role_binding,
    lease_rules,
    read_rules,
    role,
    role_binding,
    rule,
)


def access(options: ManifestOptions, offer: Offer, kinds: Sequence[str]) -> list[Document]:
    """ServiceAccounts, roles and bindings.

    Raises:
        InputError: a plugin reads a kind that no watch brings.
    """
    documents = [account(options, name) for name in dict.fromkeys((options.name, options.extender_account))]
    extender = options.extender_name
    rules = [*extender_rules(kinds, bind=offer.bind), *(grant.rule for grant in options.plugin_grants)]
    documents.append(cluster_role(options, extender, rules))
    documents.append(cluster_role_binding(options, extender, extender, options.extender_account))
    for ours, theirs in (("kube-scheduler", "system:kube-scheduler"), ("volume-scheduler", "system:volume-scheduler")):
        documents.append(cluster_role_binding(options, f"{options.name}-as-{ours}", theirs, options.name))
    documents.append(role(options, options.name, lease_rules(options.name)))
    documents.append(role_binding(options, options.name, options.name))
    reader = "extension-apiserver-authentication-reader"
    documents.append(role_binding(options, f"{options.name}-authentication-reader", reader, "kube-system"))
    return documents


def extender_rules(kinds: Iterable[str], *, bind: bool) -> list[Document]:
    """The rules of an extender: list and watch what its plugins read, and record their events; with bind, look a pod up
    and bind it.

    Raises:
        InputError: a kind is not among those that a watch brings.
    """
    rules = [*read_rules(kinds), rule("events.k8s.io", ["events"], ["create", "patch"])]
    if bind:
        rules += [rule("", ["pods"], ["get"]), rule("", ["pods/binding"], ["create"])]
    return rules
