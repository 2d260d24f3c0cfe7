"""Finds what admission added to a pod: what the template of its workload lacks, and what gave it.

Rule: kube-apiserver v1.36: the plugin PodNodeSelector adds the pairs of a namespace's annotation to the node selector,
LimitRanger the default requests of LimitRanges, which it names in an annotation. Webhooks may add and change anything.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kubesched.admission.amounts import amounts_of
from kubesched.api import LIMIT_RANGER, NAMESPACE_SELECTOR, Container, KubeObject, Pod

Document = dict[str, Any]
_INJECTED: Final = frozenset(
    (
        "consul-dataplane",
        "daprd",
        "envoy-sidecar",
        "istio-init",
        "istio-proxy",
        "istio-validation",
        "kuma-init",
        "kuma-sidecar",
        "linkerd-init",
        "linkerd-proxy",
        "vault-agent",
        "vault-agent-init",
    )
)
"""Containers that the webhooks of service meshes and secret stores add, where the template is not known."""
_SET: Final = re.compile(
    r"(?:LimitRanger plugin set: )?(?P<names>.+) request for (?:init )?container (?P<container>.+)"
)


class AddedParts(msgspec.Struct, frozen=True):
    """What admission added to a pod.

    Attributes:
        template: the spec of the template; None where it is not known.
        containers: the names of the containers that the template lacks.
        requests: container of the template -> the resources whose requests are not those of the template.
        node_selector: the pairs that the template lacks.
        of_namespace: the pairs that the annotation of the namespace gives.
    """

    template: Document | None = None
    containers: tuple[str, ...] = ()
    requests: Mapping[str, tuple[str, ...]] = {}
    node_selector: Mapping[str, str] = {}
    of_namespace: Mapping[str, str] = {}

    def gives(self, container: str, resource: str) -> bool:
        """Whether a request of the pod is not that of its template."""
        return container in self.containers or resource in self.requests.get(container, ())


def added_parts(pod: Pod, get: Callable[[str, str], KubeObject | None]) -> AddedParts:
    """What admission added to a pod of a workload, as far as it is known.

    Args:
        get: gets an object by its kind and `namespace/name`; None for none.

    Example:
        objects = {(kind_of(one), one.key): one for one in load_snapshot("cluster.json")}
        print(added_parts(pod, lambda kind, key: objects.get((kind, key))).containers)
    """
    template, every = _template_of(pod, get), (*pod.containers, *pod.init_containers)
    namespace = get("Namespace", pod.namespace)
    inherited = _pairs(namespace.annotations.get(NAMESPACE_SELECTOR, "")) if namespace is not None else {}
    inherited = {key: value for key, value in inherited.items() if pod.node_selector.get(key) == value}
    if template is None:
        names = tuple(one.name for one in every if one.name in _INJECTED) if pod.metadata.controller else ()
        return AddedParts(None, names, _set_by_limit_ranger(pod), inherited, inherited)
    written = {one.get("name"): one for one in _containers(template)}
    mine = template.get("nodeSelector") or {}
    more = {key: value for key, value in pod.node_selector.items() if mine.get(key) != value}
    return AddedParts(
        template,
        tuple(one.name for one in every if one.name not in written),
        {one.name: names for one in every if one.name in written and (names := _changed(one, written[one.name]))},
        more,
        {key: value for key, value in inherited.items() if key in more},
    )


def _template_of(pod: Pod, get: Callable[[str, str], KubeObject | None]) -> Document | None:
    """The spec of the template that a pod was made from; None where its controller is not known, or lacks it."""
    owner = pod.metadata.controller
    known = None if owner is None else get(owner.kind, f"{pod.namespace}/{owner.name}")
    spec = (known.document.get("spec") if known is not None else None) or {}
    inner = (spec.get("template") or {}).get("spec")
    return inner if isinstance(inner, dict) and inner.get("containers") else None


def _containers(template: Document) -> Iterator[Document]:
    for field in ("containers", "initContainers"):
        yield from template.get(field) or ()


def _changed(container: Container, written: Document) -> tuple[str, ...]:
    """The resources whose requests a template does not have so; Kubernetes takes a limit for a missing request."""
    resources = written.get("resources") or {}
    mine = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    amounts = amounts_of(mine)
    return tuple(name for name, amount in amounts_of(container.requests).items() if amounts.get(name) != amount)


def _set_by_limit_ranger(pod: Pod) -> dict[str, tuple[str, ...]]:
    """Container -> the resources whose requests a LimitRange gave, as the pod itself says."""
    parts = pod.annotations.get(LIMIT_RANGER, "").split("; ")
    found = (match for part in parts if (match := _SET.fullmatch(part)) is not None)
    return {match["container"]: tuple(match["names"].split(", ")) for match in found}


def _pairs(selector: str) -> dict[str, str]:
    """Rule: kube-apiserver v1.36 PodNodeSelector: `key=value` with commas between them."""
    split = (pair.partition("=") for pair in selector.split(",") if "=" in pair)
    return {key.strip(): value.strip() for key, _, value in split}
