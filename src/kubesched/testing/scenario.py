"""A small cluster with a bit of everything, for checks that need the objects that a plugin reads."""

from collections.abc import Iterable
from typing import Any, Final, TypeVar, cast

import msgspec

from kubesched.api import HOSTNAME, ZONE, KubeObject, Node, Pod, decode_object, kind_of
from kubesched.testing.builders import make_node, make_object, make_pod

T = TypeVar("T", bound=KubeObject)


class Scenario(msgspec.Struct, frozen=True):
    """A cluster and the pods to ask about.

    Attributes:
        nodes: the nodes.
        pods: pods on them.
        pending: pods to ask about, one after another.
        objects: of any other kind.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...] = ()
    pending: tuple[Pod, ...] = ()
    objects: tuple[KubeObject, ...] = ()

    def copied(self) -> "Scenario":
        """The same of new objects."""
        return Scenario(_copied(self.nodes), _copied(self.pods), _copied(self.pending), _copied(self.objects))

    def extended(
        self,
        nodes: Iterable[Node] = (),
        pods: Iterable[Pod] = (),
        pending: Iterable[Pod] = (),
        objects: Iterable[KubeObject] = (),
    ) -> "Scenario":
        """The same with more of it."""
        return Scenario(
            (*self.nodes, *nodes), (*self.pods, *pods), (*self.pending, *pending), (*self.objects, *objects)
        )


def _copied(objects: tuple[T, ...]) -> tuple[T, ...]:
    return tuple(cast("T", decode_object(kind_of(known), known.raw)) for known in objects)


_WEB: Final = {"app": "web"}


def varied_scenario() -> Scenario:
    """Seven nodes in three zones, busy and idle, tainted and cordoned; pods that care about each of these things.

    Example:
        scenario = varied_scenario().extended(pending=[make_pod("gpu", requests={"example.com/gpu": 1})])
    """
    return Scenario(_nodes(), _pods(), _pending(), _objects())


def _nodes() -> tuple[Node, ...]:
    image = {"names": ["app"], "sizeBytes": 300_000_000}
    return (
        make_node("n1", zone="a", labels={"disk": "ssd", "team": "red"}),
        make_node("n2", zone="a", allocatable={"cpu": "16", "memory": "64Gi", "ephemeral-storage": "100Gi"}),
        make_node("n3", zone="b", labels={"disk": "ssd", "team": "blue"}, taints=["gpu=true:NoSchedule"]),
        make_node("n4", zone="b", allocatable={"cpu": "2", "memory": "4Gi", "example.com/gpu": 2}),
        make_node("n5", zone="c", taints=["spot=true:PreferNoSchedule"], status={"images": [image]}),
        make_node("n6", zone="c", unschedulable=True),
        make_node("n7", labels={"team": "red"}, allocatable={"pods": 1}),
    )


def _pods() -> tuple[Pod, ...]:
    return (
        make_pod("web-1", node="n1", labels=_WEB, requests={"cpu": "500m", "memory": "1Gi"}),
        make_pod("web-2", node="n3", labels=_WEB, requests={"cpu": "500m", "memory": "1Gi"}),
        make_pod("db-1", node="n2", labels={"app": "db"}, requests={"cpu": "4", "memory": "16Gi"}, host_ports=[5432]),
        make_pod("batch-1", node="n4", labels={"team": "blue"}, requests={"cpu": "1900m"}, priority=-10),
        make_pod("batch-2", node="n7", labels={"team": "red"}, priority=-10),
        make_pod("alone-1", node="n5", labels={"app": "alone"}, spec=_apart("alone")),
        make_pod("other-1", node="n1", namespace="other", labels=_WEB, requests={"memory": "2Gi"}),
    )


def _pending() -> tuple[Pod, ...]:
    return (
        make_pod("plain"),
        make_pod("large", requests={"cpu": "3", "memory": "6Gi"}),
        make_pod("huge", requests={"cpu": "64"}, priority=100),
        make_pod("urgent", requests={"cpu": "1500m"}, priority=100),
        make_pod("gpu", requests={"example.com/gpu": 1}, tolerations=[{"key": "gpu", "operator": "Exists"}]),
        make_pod("ssd", node_selector={"disk": "ssd"}, tolerations=[{"operator": "Exists"}]),
        make_pod("nowhere", node_selector={"disk": "tape"}),
        make_pod("port", host_ports=[5432]),
        make_pod("red", labels={"team": "red"}, annotations={"note": "checked"}),
        make_pod("blue", labels={"team": "blue"}, namespace="other"),
        make_pod("web-3", labels=_WEB, spec=_apart("web")),
        make_pod("near", labels={"app": "near"}, spec={"affinity": {"podAffinity": _required("web", ZONE)}}),
        make_pod("spread", labels=_WEB, spec=_spread("web")),
        make_pod("alone-2", labels={"app": "alone"}),
        make_pod("by-name", spec={"affinity": {"nodeAffinity": _named("n4")}}),
        make_pod("gated", spec={"schedulingGates": [{"name": "example.com/quota"}]}),
        make_pod("claim", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}),
    )


def _objects() -> tuple[KubeObject, ...]:
    local = {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["n2"]}]}]}
    size = {"storage": "1Gi"}
    return (
        make_object("Namespace", "default"),
        make_object("Namespace", "other", labels={"kind": "other"}),
        make_object("Service", "web", spec={"selector": _WEB}),
        make_object("StorageClass", "local", provisioner="kubernetes.io/no-provisioner", volumeBindingMode=_LATE),
        make_object(
            "PersistentVolume",
            "disk-1",
            spec={
                "capacity": size,
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "local": {"path": "/mnt"},
                "nodeAffinity": {"required": local},
            },
            status={"phase": "Available"},
        ),
        make_object(
            "PersistentVolumeClaim",
            "data",
            spec={"accessModes": ["ReadWriteOnce"], "storageClassName": "local", "resources": {"requests": size}},
            status={"phase": "Pending"},
        ),
    )


_LATE: Final = "WaitForFirstConsumer"


def _required(app: str, topology_key: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": topology_key}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _apart(app: str) -> dict[str, Any]:
    """Not on a node with pods of this app."""
    return {"affinity": {"podAntiAffinity": _required(app, HOSTNAME)}}


def _spread(app: str) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    constraints = [
        {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector},
        {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector},
    ]
    return {"topologySpreadConstraints": constraints}


def _named(name: str) -> dict[str, Any]:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
