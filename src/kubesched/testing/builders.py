"""Builds objects for tests as an API server would store them: in one line, decoded from JSON, complete with `raw`.

What tests vary most has a separate argument. Everything else is given as on the wire, under its section:
`make_pod("web", spec={"priorityClassName": "high"})`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from kubesched.api import HOSTNAME, ZONE, KubeObject, Node, Pod, decode_object, kind_named

Section = Mapping[str, Any]

_CREATED: Final = "2026-01-01T00:00:00Z"
_ROOM: Final = {"cpu": "4", "memory": "8Gi", "pods": "110"}
_NO_FIELDS: Final[Section] = {}


def make_object(
    kind: str,
    name: str,
    *,
    namespace: str = "",
    labels: Mapping[str, str] = _NO_FIELDS,
    annotations: Mapping[str, str] = _NO_FIELDS,
    metadata: Section = _NO_FIELDS,
    **sections: Any,
) -> KubeObject:
    """Make an object of any kind that a scheduler or a plugin reads.

    Args:
        kind: as in the field `kind`, such as `Service`; as plugins name it in `reads` for kinds that kubesched does not
            know: `metrics.k8s.io/v1beta1/NodeMetrics`.
        namespace: left out for kinds that live outside namespaces. By default it is `default` for those that live in
            one, as far as kubesched knows them.
        metadata: further fields of the metadata, and others for those that are made up: uid, resourceVersion,
            creationTimestamp.
        sections: the other fields of the object in the wire's spelling, such as `spec={...}`.
    Raises:
        InputError: there is no such kind.
        ObjectError: the fields do not decode.

    Example:
        make_object("PersistentVolumeClaim", "data", spec={"storageClassName": "ssd"})
    """
    known = kind_named(kind)
    place = {"namespace": namespace or "default"} if known.namespaced or (namespace and "/" in kind) else {}
    made_up = {
        "uid": "-".join(("uid", known.resource if "/" in kind else kind.lower(), *place.values(), name)),
        "resourceVersion": "1",
        "creationTimestamp": _CREATED,
    }
    said = _filled(labels=dict(labels), annotations=dict(annotations))
    about = {"name": name, **place, **made_up, **said, **metadata}
    document = {"apiVersion": known.api_version, "kind": known.name, "metadata": about, **sections}
    return decode_object(known, msgspec.json.encode(document))


def make_pod(
    name: str,
    *,
    namespace: str = "default",
    labels: Mapping[str, str] = _NO_FIELDS,
    annotations: Mapping[str, str] = _NO_FIELDS,
    requests: Mapping[str, str | int] = _NO_FIELDS,
    image: str = "app",
    host_ports: Iterable[int] = (),
    node: str = "",
    node_selector: Mapping[str, str] = _NO_FIELDS,
    tolerations: Iterable[Section] = (),
    priority: int = 0,
    metadata: Section = _NO_FIELDS,
    spec: Section = _NO_FIELDS,
    status: Section = _NO_FIELDS,
) -> Pod:
    """Make a pod with one container.

    Args:
        requests: of the container, as quantities: `{"cpu": "100m", "memory": "1Gi"}`.
        host_ports: ports of the node that the container takes.
        node: where it runs; a pod without one is pending.
        tolerations: as the wire has them: `{"key": "gpu", "operator": "Exists"}`.
        metadata, spec, status: further fields, and others for those that the arguments give.
    Raises:
        ObjectError: the fields do not decode.

    Example:
        make_pod("web", labels={"app": "web"}, requests={"cpu": "100m"}, node_selector={"disk": "ssd"})
    """
    container = _filled(
        name="app",
        image=image,
        resources=_filled(requests=dict(requests)),
        ports=[{"containerPort": port, "hostPort": port} for port in host_ports],
    )
    said = _filled(
        containers=[container],
        schedulerName="default-scheduler",
        nodeName=node,
        nodeSelector=dict(node_selector),
        tolerations=[dict(toleration) for toleration in tolerations],
    )
    made = make_object(
        "Pod",
        name,
        namespace=namespace,
        labels=labels,
        annotations=annotations,
        metadata=metadata,
        spec={**said, "priority": priority, **spec},
        status={"phase": "Running" if node else "Pending", **status},
    )
    assert isinstance(made, Pod)
    return made


def make_node(
    name: str,
    *,
    labels: Mapping[str, str] = _NO_FIELDS,
    annotations: Mapping[str, str] = _NO_FIELDS,
    zone: str = "",
    allocatable: Mapping[str, str | int] = _NO_FIELDS,
    taints: Iterable[str] = (),
    unschedulable: bool = False,
    metadata: Section = _NO_FIELDS,
    spec: Section = _NO_FIELDS,
    status: Section = _NO_FIELDS,
) -> Node:
    """Make a node that is ready, with the label `kubernetes.io/hostname`.

    Args:
        zone: its label `topology.kubernetes.io/zone`.
        allocatable: quantities that add to or replace 4 cores, 8Gi and 110 pods.
        taints: as `kubectl taint` takes them: `gpu=true:NoSchedule`, `gpu:NoExecute`.
        metadata, spec, status: further fields, and others for those that the arguments give.
    Raises:
        ObjectError: the fields do not decode.

    Example:
        make_node("n1", zone="a", labels={"disk": "ssd"}, allocatable={"cpu": "16"}, taints=["gpu=true:NoSchedule"])
    """
    places = _filled(**{HOSTNAME: name, ZONE: zone})
    room = {**_ROOM, **allocatable}
    made = make_object(
        "Node",
        name,
        labels={**places, **labels},
        annotations=annotations,
        metadata=metadata,
        spec={**_filled(taints=[_taint(taint) for taint in taints], unschedulable=unschedulable), **spec},
        status={"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}], **status},
    )
    assert isinstance(made, Node)
    return made


def _filled(**fields: Any) -> dict[str, Any]:
    """The fields that are not empty; an API server stores no empty ones."""
    return {name: value for name, value in fields.items() if value}


def _taint(text: str) -> dict[str, str]:
    """`key=value:Effect`, the value being optional."""
    said, _, effect = text.rpartition(":")
    key, _, value = said.partition("=")
    return {"key": key, "value": value, "effect": effect}
