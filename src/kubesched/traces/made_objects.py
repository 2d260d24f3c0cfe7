"""Makes the nodes and pods of a trace as an API server has them."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kubesched.api import HOSTNAME, Node, Pod, decode_object
from kubesched.controllers import stable_uid

_MANY_PODS: Final = "1000"
"""How many pods a node takes where the trace does not limit them."""

_READY: Final = [{"type": "Ready", "status": "True"}]
_NOTHING: Final[Mapping[str, Any]] = {}


def traced_node(name: str, allocatable: Mapping[str, str], labels: Mapping[str, str]) -> Node:
    """A node that is ready, and limits no number of pods.

    Raises:
        ObjectError: the name or an amount is not valid.
    """
    offered = {**allocatable, "pods": _MANY_PODS}
    document = {
        "metadata": {"name": name, "uid": f"Node/{name}", "labels": {HOSTNAME: name, **labels}},
        "status": {"capacity": offered, "allocatable": offered, "conditions": _READY},
    }
    made = decode_object("Node", msgspec.json.encode(document))
    assert isinstance(made, Node)
    return made


def traced_pod(
    name: str,
    requests: Mapping[str, str],
    *,
    namespace: str = "default",
    annotations: Mapping[str, str] = _NOTHING,
    labels: Mapping[str, str] = _NOTHING,
    spec: Mapping[str, Any] = _NOTHING,
) -> Pod:
    """A pending pod with one container.

    Raises:
        ObjectError: the name or an amount is not valid.
    """
    about = {"name": name, "namespace": namespace, "uid": stable_uid("Pod", namespace, name)}
    said = {key: value for key, value in (("labels", labels), ("annotations", annotations)) if value}
    filled = {key: value for key, value in spec.items() if value}
    container = {"name": "app", "resources": {"requests": dict(requests)} if requests else {}}
    document = {
        "metadata": {**about, **said},
        "spec": {"containers": [container], "schedulerName": "default-scheduler", **filled},
        "status": {"phase": "Pending"},
    }
    made = decode_object("Pod", msgspec.json.encode(document))
    assert isinstance(made, Pod)
    return made
