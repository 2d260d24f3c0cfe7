"""Which new pods the API server creates, in every command that simulates."""

import io
import json

from kubesched.api import KubeObject, Pod
from kubesched.pages.simulations import report_page
from kubesched.planning import WhatIf, new_pods
from kubesched.scheduler import TieBreak
from kubesched.session import PodState, Report, Simulator, place_all, refused_pods
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_object, make_pod

NODE = make_node("n", allocatable={"cpu": "9", "memory": "9Gi", "pods": "20"})
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}


def quota(used: str, hard: str) -> KubeObject:
    return make_object("ResourceQuota", "q", spec={"hard": {"cpu": hard}}, status={"used": {"cpu": used}})


def old(name: str, node: str = "n") -> Pod:
    metadata = {"ownerReferences": [OWNER], "uid": f"uid-of-{name}"}
    return make_pod(name, requests={"cpu": "1"}, node=node, metadata=metadata)


def of_manifest(name: str, **spec: object) -> dict[str, object]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    spec = {"containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def added(*manifests: dict[str, object], to: list[KubeObject]) -> list[KubeObject]:
    cluster = io.BytesIO(json.dumps([json.loads(one.raw) for one in to]).encode())
    return list(load_snapshot(cluster, manifests=[io.BytesIO(json.dumps(list(manifests)).encode())]))


def states(report: Report) -> dict[str, str]:
    return {one.pod.partition("/")[2]: one.refused or one.state.value for one in report.placements}


OVER = "exceeded quota: q, requested: cpu=1, used: cpu=2, limited: cpu=2"


def test_a_pod_of_a_manifest_is_refused_and_one_of_the_cluster_is_not():
    objects = [NODE, quota("2", "2"), old("waits", node="")]
    report = Simulator(added(of_manifest("new"), to=objects)).run()
    assert states(report) == {"waits": "scheduled", "new": OVER}
    page = report_page(report)
    assert page.verdict.text == "2 pods: 1 would be placed, 1 would not be created."
    assert next(check.failure for check in page.checks if check.name == "new").startswith(OVER)


def test_pods_that_are_tried_once_are_created_alike():
    objects = added(of_manifest("a"), of_manifest("b"), to=[NODE, quota("1", "2")])
    assert states(place_all(Simulator(objects), TieBreak.FIRST)) == {"a": "scheduled", "b": OVER}


def test_pods_that_are_added_are_refused_and_those_that_are_re_created_are_not():
    objects = [NODE, make_node("m", allocatable={"cpu": "9", "pods": "9"}), quota("2", "2"), old("web-1"), old("web-2")]
    moved = WhatIf(remove=("n",)).applied(objects)
    assert states(Simulator(moved.objects).run()) == {"web-1": "scheduled", "web-2": "scheduled"}
    more = WhatIf(scale={"rs/web": 3}).applied(objects)
    assert list(states(Simulator(more.objects).run()).values()) == [OVER]


def test_a_pod_that_names_its_node_is_refused_too_and_runs_otherwise():
    bound = of_manifest("bound", nodeName="n")
    assert states(Simulator(added(bound, to=[NODE, quota("2", "2")])).run()) == {"bound": OVER}
    report = Simulator(added(bound, of_manifest("next"), to=[NODE])).run()
    assert [one.state for one in report.placements] == [PodState.SCHEDULED] * 2
    assert report.nodes[0].after["cpu"] == 2000


def test_a_pod_that_names_its_node_in_the_cluster_is_taken_as_it_is():
    report = Simulator([NODE, make_pod("mirror", requests={"cpu": "99"}, node="n")]).run()
    assert report.placements == ()


def test_a_stateful_set_waits_for_a_pod_that_is_refused():
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "db"}}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": spec}
    objects = added(manifest, to=[NODE, quota("1", "2")])
    report = Simulator(objects, new=new_pods(objects)).run()
    assert states(report) == {"db-0": "scheduled", "db-1": OVER, "db-2": "notTried"}
    assert [one.awaits for one in report.placements] == ["", "", "default/db-1"]


def test_the_pods_that_are_refused_are_those_of_a_simulation():
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "db"}}, "template": _template("db")},
    }
    bound = of_manifest("a-bound", nodeName="n")
    objects = added(bound, stateful, of_manifest("web"), to=[NODE, quota("0", "2"), old("waits", node="")])
    report = Simulator(objects, new=new_pods(objects)).run()
    simulated = {one.pod: one.refused for one in report.placements if one.refused}
    assert refused_pods(objects, new_pods(objects)).keys() == simulated.keys() == {"default/a-bound", "default/db-1"}


def _template(app: str) -> dict[str, object]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container]}}
