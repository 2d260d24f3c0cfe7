"""Pods that kube-scheduler does not schedule: ended ones, and those that hang on the node that they name."""

from typing import Any

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.explanation import Explainer, answer_of, explain
from kubesched.pages.explanations import as_document, explanation_page, overview_page
from kubesched.pages.formats import Level
from kubesched.session import Simulator
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, claim, with_claim

NODE = make_node("n1", allocatable=SMALL)
WEB = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "w", "controller": True}]
LATE = make_object("StorageClass", "late", provisioner="disk.example.com", volumeBindingMode="WaitForFirstConsumer")
UNBOUND = claim(storageClassName="late")


def ended(phase: str = "Failed", **more) -> Pod:
    reason = {} if phase == "Succeeded" else {"reason": "Evicted"}
    return make_pod("old", status={"phase": phase, **reason}, **more)


def on_node(pod: Pod, node: str = "n1", phase: str = "Pending", **spec) -> Pod:
    return make_pod(pod.name, spec={**pod.document["spec"], "nodeName": node, **spec}, status={"phase": phase})


def text_of(pod: Pod, *objects: KubeObject) -> str:
    return explanation_page(explain([*objects, pod], pod.key)).verdict.text


def test_a_pod_that_has_ended_is_not_offered_a_node():
    found = explain([NODE, ended(node="n1")], "default/old")
    page = explanation_page(found)
    assert page.verdict.text == "Pod default/old has ended (phase Failed, reason Evicted). Nothing schedules it again."
    assert page.parts[0].text == "It has no controller that would create another pod for it."
    assert (found.feasible, found.best, found.fixes, found.message) == ([], [], (), "")
    assert as_document(found) == {
        "pod": "default/old",
        "profile": "default-scheduler",
        "plugins": {},
        "ended": {"phase": "Failed", "reason": "Evicted"},
    }


def test_a_pod_that_has_ended_without_a_reason_or_a_node():
    assert (
        text_of(ended("Succeeded"), NODE) == "Pod default/old has ended (phase Succeeded). Nothing schedules it again."
    )


@pytest.mark.parametrize("as_name", [True, False])
def test_the_other_pods_of_its_controller_are_named(as_name):
    metadata = {"ownerReferences": WEB}
    old = ended(metadata=metadata)
    new, more = make_pod("web-2", node="n1", metadata=metadata), make_pod("web-3", metadata=metadata)
    other = make_pod("db-0", node="n1")

    def successor(*pods: Pod) -> str:
        with Explainer([NODE, other, old, *pods]) as explainer:
            (found,) = explainer.each([old.key if as_name else old])
            return found.ended.successor

    assert successor() == "ReplicaSet web, its controller, has no other pod here that has not ended."
    assert successor(new) == "ReplicaSet web, its controller, has another pod, default/web-2."
    assert successor(new, more) == "ReplicaSet web, its controller, has 2 others, such as default/web-2."


def stuck(objects: list[KubeObject]) -> list[str]:
    """The pods that have a node and do not start there, which explain and a simulation tell alike."""
    found = [one.pod for one in Simulator(objects).run().stuck]
    assert found == [one.key for one in objects if isinstance(one, Pod) and explain(objects, one.key).hangs]
    return found


def test_a_claim_that_waits_for_the_scheduler_keeps_a_pod_that_names_its_node():
    pod = on_node(with_claim("data"))
    found = explain([NODE, LATE, UNBOUND, pod], pod.key)
    page = explanation_page(found)
    assert page.verdict.level is Level.BAD
    assert page.verdict.text == (
        "Pod default/p hangs (phase Pending): claim default/data is not bound, and WaitForFirstConsumer leaves that to "
        "the scheduler; kube-scheduler does not schedule a pod that has spec.nodeName; create the pod without "
        "spec.nodeName, and with a node selector if it has to be on n1."
    )
    assert as_document(found)["hangs"].startswith("claim default/data is not bound")


def test_a_node_that_does_not_exist():
    pod = on_node(make_pod("p"), "n9")
    assert text_of(pod, NODE).startswith("Pod default/p hangs (phase Pending): node n9 does not exist; kube-scheduler")
    assert "n9 and" not in text_of(pod, NODE)


@pytest.mark.parametrize("is_admitted", [True, False])
def test_a_pod_hangs_that_its_kubelet_rejects_unless_the_kubelet_has_admitted_it(is_admitted):
    conditions = [{"type": "PodScheduled", "status": "True"}, *([{"type": "Ready", "status": "False"}] * is_admitted)]
    status = {"phase": "Pending", "conditions": conditions}
    pod = make_pod("p", spec={"nodeName": "n1", "nodeSelector": {"disk": "ssd"}}, status=status)
    assert stuck([NODE, pod]) == ([] if is_admitted else ["default/p"])


@pytest.mark.parametrize(
    ("pod", "objects"),
    [
        (on_node(with_claim("data"), phase="Running"), (LATE, UNBOUND)),
        (on_node(with_claim("data")), (LATE, claim(storageClassName="late", volumeName="pv-1"))),
        (on_node(with_claim("data")), (UNBOUND,)),
        (on_node(make_pod("p")), ()),
        (with_claim("data"), (LATE, UNBOUND)),
    ],
    ids=["it runs", "the claim has a volume", "the class is not known", "no claim", "no node"],
)
def test_other_pods_do_not_hang(pod, objects):
    assert stuck([NODE, *objects, pod]) == []
    assert "hangs" not in text_of(pod, NODE, *objects)


def test_a_claim_whose_node_a_scheduler_has_selected_is_under_way():
    selected = make_object(
        "PersistentVolumeClaim",
        "data",
        annotations={"volume.kubernetes.io/selected-node": "n1"},
        spec={"accessModes": ["ReadWriteOnce"], "storageClassName": "late"},
    )
    assert stuck([NODE, LATE, selected, on_node(with_claim("data"))]) == []


def test_a_pod_that_has_not_started_is_not_said_to_run():
    assert text_of(on_node(make_pod("p")), NODE).startswith(
        "Pod default/p has not started yet on n1, rank 1 of 1 nodes"
    )
    assert text_of(on_node(make_pod("p"), phase="Running"), NODE).startswith("Pod default/p runs on n1, rank 1 of 1")


def test_pods_that_hang_and_pods_that_have_ended_have_their_rows():
    pods = [on_node(make_pod("p"), "n9"), ended()]
    with Explainer([NODE, *pods]) as explainer:
        page = overview_page(
            (answer_of(one, one.pod.name, explainer.fixes) for one in explainer.evaluations(pods)), what="chosen"
        )
    assert page.verdict.text == "2 chosen pods: 1 stuck on a node, 1 ended."
    (groups,) = [table for table in page.tables if table.name == "groups"]
    assert [row[3] for row in groups.rows] == [
        "on n9, which spec.nodeName names: node n9 does not exist",
        "phase Failed, reason Evicted",
    ]
    assert [bool(check.failure) for check in page.checks] == [True, False]


def filling(name: str, cpu: str, created: str = "", conditions: tuple[str, ...] = (), **fields: Any) -> Pod:
    """A pod that names n1 and has not started there, with these conditions."""
    status = {"phase": "Pending", "conditions": [{"type": one, "status": "True"} for one in conditions]}
    metadata = {"creationTimestamp": created} if created else {}
    return make_pod(name, node="n1", requests={"cpu": cpu}, status=status, metadata=metadata, **fields)


FOUR = make_node("n1", allocatable={"cpu": "4", "memory": "8Gi", "pods": "4"})


def test_the_kubelet_rejects_pods_that_overfill_a_node_whose_name_they_have():
    pods = [filling(name, "2") for name in "abc"]
    assert stuck([FOUR, *pods]) == ["default/c"]
    assert text_of(pods[2], FOUR, *pods[:2]).startswith(
        "Pod default/c hangs (phase Pending): the kubelet of n1 rejects it: Node didn't have enough resource: cpu, "
        "requested: 2000, used: 4000, capacity: 4000 (OutOfcpu); "
    )


def test_a_kubelet_admits_older_pods_first_and_what_still_fits():
    young, old, small = filling("a", "3", "2024-01-02T00:00:00Z"), filling("b", "3", "2024-01-01T00:00:00Z"), "1"
    assert stuck([FOUR, young, old, filling("c", small, "2024-01-03T00:00:00Z")]) == ["default/a"]


def test_pods_that_a_kubelet_has_admitted_hold_their_room():
    admitted = filling("z", "4", conditions=("PodScheduled", "Initialized"))
    assert stuck([FOUR, filling("a", "1", conditions=("PodScheduled",)), admitted]) == ["default/a"]
    assert stuck([FOUR, filling("a", "1"), ended("Succeeded", node="n1", requests={"cpu": "4"})]) == []


def test_a_pod_that_its_kubelet_rejects_takes_no_room():
    refused = filling("a", "4", spec={"nodeSelector": {"disk": "ssd"}})
    assert stuck([FOUR, refused, filling("b", "4")]) == ["default/a"]


def test_a_node_takes_no_more_pods_than_it_allows():
    assert stuck([FOUR, *(filling(name, "1m") for name in "abcde")]) == ["default/e"]


def test_a_kubelet_makes_room_for_a_critical_pod():
    assert stuck([FOUR, filling("a", "4"), filling("b", "4", priority=2_000_000_000)]) == []
