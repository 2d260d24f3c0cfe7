"""Which objects the differences between versions are about."""

from typing import Any

import pytest

from kubesched.api import KubeObject
from kubesched.comparison.concerned import CONCERNED, n_concerned
from kubesched.release.version_rules import VERSION_RULES
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.claiming import claim, decoded
from tests.plugins.dynamic_resources.device_objects import ask, device_class, resource_slice

NOT_BLUE = {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["blue"]}]}
COUNTERS = [{"name": "s", "counters": {"m": {"value": "1"}}}]
CLAIM = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}


def apart(selector: Any) -> KubeObject:
    term = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": selector}
    return make_pod(
        "p", spec={"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    )


def bound(**spec: Any) -> KubeObject:
    return make_object("PersistentVolumeClaim", "c", spec=spec)


def resized(cpu: str, n: int = 2) -> KubeObject:
    containers = [{"name": f"c{i}", "resources": {"requests": {"cpu": "1"}}} for i in range(n)]
    status = {"containerStatuses": [{"name": "c0", "resources": {"requests": {"cpu": cpu}}}]}
    return make_pod("p", node="n1", spec={"containers": containers}, status=status)


def whole(spec: Any) -> KubeObject:
    return make_pod("p", node="n1", spec=spec, status={"resources": {"requests": {"cpu": "1"}}})


def asked(*asks: Any, **more: Any) -> KubeObject:
    return decoded(claim("c", *asks, **more))[0]


def deleted(**more: Any) -> KubeObject:
    return make_pod("p", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}, **more)


STARTED = {"startTime": "2026-01-01T00:00:00Z"}
(PLAIN_SLICE, SHARED_SLICE) = decoded(resource_slice("n1", []), resource_slice("n1", [], sharedCounters=COUNTERS))
CASES = {
    "waiting": (make_pod("p"), make_pod("p", node="n1")),
    "terminating": (deleted(node="n1"), deleted()),
    "no start time": (make_pod("p", node="n1"), make_pod("p", node="n1", status=STARTED)),
    "negative selector": (apart(NOT_BLUE), apart({"matchLabels": {"a": "b"}, **NOT_BLUE})),
    "image volume": (make_pod("p", spec={"volumes": [{"name": "v", "image": {"reference": "x"}}]}), make_pod("p")),
    "comparing toleration": (make_pod("p", spec={"tolerations": [{"key": "a", "operator": "Lt", "value": "1"}]}),),
    "resize": (resized("2"), resized("1")),
    "status of whole pod": (whole({}), whole({"resources": {"requests": {"cpu": "1"}}})),
    "volumes": (make_pod("p", spec={"volumes": [CLAIM]}), make_pod("p", node="n1", spec={"volumes": [CLAIM]})),
    "claims of pods": (make_pod("p", spec={"resourceClaims": [{"name": "c"}]}), make_pod("p")),
    "taints": (make_node("n1", taints=["a:NoExecute"]), make_node("n1", taints=["a:PreferNoSchedule"])),
    "needed features": (make_pod("p", spec={"hostNetwork": True, "hostUsers": False}), make_pod("p")),
    "single pod access": (bound(accessModes=["ReadWriteOncePod"]), bound(accessModes=["ReadWriteOnce"])),
    "attributes class": (bound(volumeAttributesClassName="gold"), bound()),
    "portworx": (make_object("PersistentVolume", "v", spec={"portworxVolume": {"volumeID": "x"}}),),
    "required driver": (make_object("CSIDriver", "d", spec={"preventPodSchedulingIfMissing": True}),),
    "claim": (asked(ask()),),
    "slice": (PLAIN_SLICE,),
    "counters": (SHARED_SLICE, PLAIN_SLICE),
    "all devices": (asked(ask(allocationMode="All")), asked(ask())),
    "capacity request": (asked(ask(capacity={"requests": {"m": "1"}})), asked(ask())),
    "distinct attribute": (asked(ask(), constraints=[{"distinctAttribute": "d/x"}]), asked(ask())),
    "device selector": decoded(device_class("gpu", "true")),
}


@pytest.mark.parametrize("concerns", CONCERNED)
def test_a_rule_concerns_the_objects_that_it_is_about_and_no_others(concerns: str) -> None:
    first, *others = CASES[concerns]
    assert n_concerned([first, make_object("Service", "s")], [concerns])[concerns] == (type(first).__name__, 1)
    assert n_concerned(others, [concerns])[concerns][1] == 0


def test_every_rule_that_differs_concerns_something() -> None:
    assert {rule.concerns for rule in VERSION_RULES} <= CONCERNED.keys()
