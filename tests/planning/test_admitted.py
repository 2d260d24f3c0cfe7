"""New pods are asked about as an API server, controllers and kubelets would have them."""

import io
import json

import pytest

from kubesched.api import Deployment
from kubesched.errors import InputError
from kubesched.pages.formats import Paragraph, Table
from kubesched.pages.plans import fit_page
from kubesched.pages.simulations import report_page
from kubesched.planning import fit
from kubesched.planning.pods_that_fit import Fit
from kubesched.session import PodState, Simulator
from kubesched.snapshot import admit_manifests
from kubesched.testing import make_object, make_pod
from tests.device_cluster import GPU, device_cluster
from tests.planning.drain_clusters import owned_by
from tests.planning.test_fit import NODES, deployment, stream


def scaler(least, most=40):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": spec}


def quota(used=None, **hard):
    status = {"used": used} if used else {}
    return make_object("ResourceQuota", "q", namespace="default", spec={"hard": hard}, status=status)


def notes_of(answer: Fit) -> list[str]:
    return [one for one in answer.notes if "replicas are" in one]


def table(answer: Fit, name: str) -> list[list[object]]:
    (found,) = [part for part in fit_page(answer).parts if isinstance(part, Table) and part.name == name]
    return [[getattr(cell, "text", cell) for cell in row] for row in found.rows]


def test_as_many_pods_are_tried_as_the_autoscaler_wants():
    web = deployment(cpu="3")
    del web["spec"]["replicas"]
    answer = fit(NODES, stream(web, scaler(5)))
    assert (answer.n_fit, answer.n_asked) == (3, 5)
    assert notes_of(answer)[0].endswith("minReplicas 5 to maxReplicas 40, tried with 5 (HorizontalPodAutoscaler h)")


def test_a_number_that_is_asked_for_is_the_one_that_is_tried():
    answer = fit(NODES, stream(deployment(), scaler(5)), replicas=7)
    assert answer.n_asked == 7
    assert notes_of(answer)[0].endswith("minReplicas 5 to maxReplicas 40, tried with 7 (HorizontalPodAutoscaler h)")
    answer = fit(NODES, stream(deployment(), scaler(5)), maximum=True)
    assert notes_of(answer)[0].endswith("minReplicas 5 to maxReplicas 40 (HorizontalPodAutoscaler h)")


def test_pods_beyond_a_quota_are_not_created():
    answer = fit([*NODES, quota(cpu="5")], stream(deployment(4, cpu="2")))
    assert (answer.n_fit, answer.n_asked, answer.all_fit) == (2, 4, False)
    left = answer.placements[2]
    assert (left.state, left.is_not_created) == (PodState.NOT_TRIED, True)
    fault = "exceeded quota: q, requested: cpu=2, used: cpu=4, limited: cpu=5"
    fix = "Fix: raise cpu of ResourceQuota default/q."
    assert left.message == f'pods "{left.pod.partition("/")[2]}" is forbidden: {fault}'
    assert [row[:2] for row in table(answer, "notCreated")] == [[2, f"the API server refuses it: {fault}. {fix}"]]
    assert table(answer, "left") == []
    verdict = fit_page(answer).verdict
    assert isinstance(verdict, Paragraph)
    assert verdict.text == f"2 of 4 would fit; the 3rd: the API server refuses it: {fault}. {fix}"


def test_copies_for_more_replicas_are_counted_too():
    objects = [*NODES, quota(cpu="5", used={"cpu": "2"})]
    assert fit(objects, stream(deployment(1)), replicas=7).n_fit == 3
    answer = fit(objects, stream(deployment(1)), maximum=True)
    assert answer.n_fit == 3
    assert answer.next_left is not None
    assert answer.next_left.refused == "exceeded quota: q, requested: cpu=1, used: cpu=5, limited: cpu=5"


def test_more_nodes_do_not_help_against_a_quota():
    answer = fit([*NODES, quota(cpu="2")], stream(deployment(4)), nodes_like="n0")
    assert (answer.n_fit, answer.added_nodes) == (2, ())
    verdict = fit_page(answer).verdict
    assert isinstance(verdict, Paragraph)
    assert "more nodes like n0 would not help: the API server refuses it: exceeded quota: q" in verdict.text


def test_a_rollout_uses_what_the_old_pods_free():
    old = [
        make_pod(f"web-{i}", requests={"cpu": "1"}, node="n0", metadata=owned_by("Deployment", "web")) for i in range(2)
    ]
    tight, enough = quota(cpu="2", used={"cpu": "2"}), quota(cpu="3", used={"cpu": "2"})
    assert fit([*NODES, *old, enough], stream(deployment(2)), rollout=True).n_fit == 2
    stopped = fit([*NODES, *old, tight], stream(deployment(2)), rollout=True)
    assert stopped.n_fit == 0
    assert stopped.first_left is not None
    assert stopped.first_left.refused


def test_plain_requests_are_no_pod_of_a_namespace():
    limits = {"limits": [{"type": "Container", "default": {"memory": "1Ti"}}]}
    objects = [*NODES, quota(cpu="1"), make_object("LimitRange", "l", namespace="default", spec=limits)]
    assert fit(objects, {"cpu": "2"}, replicas=2).n_fit == 2


@pytest.mark.parametrize(
    ("node", "cpu", "why"),
    [
        ("nope", "1", "node nope does not exist"),
        (
            "n0",
            "99",
            (
                "the kubelet of n0 rejects it: Node didn't have enough resource: cpu, requested: 99000, used: 0, "
                "capacity: 4000 (OutOfcpu)"
            ),
        ),
    ],
)
def test_a_pod_that_names_its_node_is_admitted_by_the_kubelet(node, cpu, why):
    answer = fit(NODES, stream(deployment(1, cpu=cpu, nodeName=node)))
    assert (answer.n_fit, answer.n_asked) == (0, 1)
    assert answer.placements[0].message == f"spec.nodeName is set, so kube-scheduler does not see the pod; {why}"


def test_pods_that_name_their_node_take_its_room():
    bound = deployment(5, nodeName="n0")
    answer = fit(NODES, stream(bound, deployment(9, name="other")))
    assert answer.n_fit == 4 + 8
    assert sum(one.node == "n0" for one in answer.placements) == 4
    assert fit(NODES, stream(deployment(1, nodeName="n0")), maximum=True).n_fit == 4


def test_a_node_selector_that_the_node_does_not_have_is_the_kubelets_too():
    answer = fit(NODES, stream(deployment(1, nodeName="n0", nodeSelector={"disk": "ssd"})))
    assert "Predicate NodeAffinity failed" in answer.placements[0].message


def test_a_file_without_pods_says_what_it_has():
    document = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "web"}, "spec": {}}
    with pytest.raises(InputError) as caught:
        fit(NODES, stream(document))
    assert "kubesched does not read these kinds: 1 Rollout" in str(caught.value)
    assert "neither" not in str(caught.value)


@pytest.mark.usefixtures("no_search")
def test_pods_that_cannot_be_decided_have_one_output_id():
    waiting = make_pod("waits", requests={GPU: 1})
    pages = [fit_page(fit(device_cluster(), [waiting])), report_page(Simulator([*device_cluster(), waiting]).run())]
    tables = [[one for one in page.parts if isinstance(one, Table) and one.rows] for page in pages]
    ids = [[one.name for one in of if one.title.startswith("Cannot be decided")] for of in tables]
    assert ids == [["notDecided"]] * 2


def test_a_deployment_that_is_there_has_the_strategy_of_its_manifest():
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "x"}]}}
    strategy = {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "strategy": strategy, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    there = make_object("Deployment", "web", namespace="default", spec={"strategy": {"type": "Recreate"}})
    new = admit_manifests([there], [io.StringIO(json.dumps(manifest))])
    (deployment,) = (one for one in new.applied_to([there]) if isinstance(one, Deployment))
    assert deployment.spec.strategy.rolling_update is not None
    assert deployment.spec.strategy.rolling_update.max_unavailable == 1
    assert not [note for note in new.notes if "which are used" in note]
