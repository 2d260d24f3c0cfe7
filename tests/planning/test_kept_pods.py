"""Manifests of workloads that run: only another template replaces pods, another number adds or removes some."""

import pytest

from kubesched.api import Pod, ReplicaSet, rewritten
from kubesched.pages.plans import fit_page
from kubesched.planning import fit
from kubesched.planning.pods_that_fit import Fit
from kubesched.testing import make_object
from tests.planning.test_fit import NODES, stream

FIRST = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}


def web(replicas=4, kind="Deployment", cpu="1", strategy=None, pod=None, **container):
    resources = {"requests": {"cpu": cpu}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [], **(pod or {})}}
    template["spec"]["containers"] = [{"name": "c", "image": "i:1", "resources": resources, **container}]
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    if kind == "DaemonSet":
        del spec["replicas"]
    if strategy:
        spec["strategy"] = strategy
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec}


def running(manifest):
    """A cluster in which the pods of a manifest run."""
    return fit(NODES, stream(manifest), keeps_objects=True).objects


def verdict(answer: Fit) -> str:
    return fit_page(answer).verdict.text


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
def test_what_is_there_already_is_not_replaced(kind):
    answer = fit(running(web(kind=kind)), stream(web(kind=kind, strategy=FIRST if kind == "Deployment" else None)))
    assert (answer.placements, answer.rollouts, len(answer.kept)) == ((), (), 1)
    assert verdict(answer).startswith(f"Unchanged template and number of pods: {kind} default/web. No new pod")


@pytest.mark.parametrize(
    "change",
    [
        {"image": "i:2"},
        {"cpu": "500m"},
        {"pod": {"priorityClassName": "system-node-critical"}},
        {"pod": {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}},
        {"pod": {"hostNetwork": True}},
        {"env": [{"name": "A", "value": "2"}]},
        {"args": ["b"]},
    ],
)
def test_another_template_replaces_the_pods_in_both_directions(change):
    plain = {"env": [{"name": "A", "value": "1"}], "args": ["a"]}
    for old, new in (({}, change), (change, {})):
        answer = fit(running(web(2, **plain | old)), stream(web(2, **plain | new)))
        assert ([one.n_old for one in answer.rollouts], answer.kept) == ([2], ())


def test_the_same_amount_in_other_words_is_no_change():
    assert fit(running(web(cpu="1")), stream(web(cpu="1000m"))).rollouts == ()


def test_what_admission_adds_is_no_change():
    def inject(document):
        document["spec"]["containers"].append({"name": "proxy", "image": "mesh"})

    objects = [rewritten(one, inject) if isinstance(one, Pod) else one for one in running(web())]
    assert fit(objects, stream(web())).rollouts == ()


def test_a_rollout_may_be_asked_for_without_a_change():
    answer = fit(running(web()), stream(web()), rollout=True)
    assert ([one.n_old for one in answer.rollouts], answer.kept) == ([4], ())


def test_more_replicas_are_added_and_old_pods_stay():
    cluster = running(web(4))
    answer = fit(cluster, stream(web(99)), keeps_objects=True)
    (kept,) = answer.kept
    assert (kept.before, kept.after, kept.running, answer.n_asked, answer.rollouts) == (4, 99, 4, 95, ())
    there = {one.key: one.node_name for one in answer.objects if isinstance(one, Pod)}
    assert {one.key: one.node_name for one in cluster if isinstance(one, Pod)}.items() <= there.items()
    assert [one.replicas for one in answer.objects if isinstance(one, ReplicaSet)] == [99]
    assert verdict(answer).startswith("Scaling Deployment default/web 4 -> 99 (the old pods stay): ")
    assert not answer.all_fit


def test_fewer_replicas_remove_pods():
    answer = fit(running(web(4)), stream(web(1)), keeps_objects=True)
    assert (answer.placements, sum(isinstance(one, Pod) for one in answer.objects)) == ((), 1)
    assert "Deployment default/web scales 4 -> 1 with the same template: 1 would run" in verdict(answer)


def test_a_quota_without_room_for_one_more_pod_asks_for_another_strategy_first():
    quota = make_object("ResourceQuota", "q", namespace="default", spec={"hard": {"requests.cpu": "4"}})
    answer = fit([*running(web(4)), quota], stream(web(4, image="i:2", strategy=FIRST)))
    (refused,) = (one for one in answer.placements if one.refused)
    assert refused.fix.startswith("set maxSurge: 0 and maxUnavailable: 1, so that an old pod makes way")
    (step,) = refused.patches
    assert (step.target.kind, step.patch["spec"]["strategy"]["rollingUpdate"]) == (
        "Deployment",
        {"maxSurge": 0, "maxUnavailable": 1},
    )


def test_manifests_without_pods_have_nothing_to_place():
    budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": {}}
    answer = fit(NODES, stream(budget))
    assert (answer.placements, answer.is_known) == ((), True)
    assert verdict(answer) == ("The manifests have no pod to place: PodDisruptionBudget default/web has no pods.")
