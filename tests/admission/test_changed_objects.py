"""A manifest that is about to be applied counts instead of the object of the same name in the cluster."""

import pytest

from kubesched.api import HorizontalPodAutoscaler, LimitRange, Pod, ResourceQuota, RuntimeClass, Service
from kubesched.explanation import explain
from kubesched.planning import asked_of, fit
from kubesched.release import Release
from kubesched.snapshot import load_snapshot
from tests.admission.test_admission import expanded
from tests.snapshot.builders import listed, node, other, pod, stream, workload

SHOP = {"metadata": {"namespace": "shop"}}
ONE_CPU = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
NODE = node("n", status={"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}})


def there(*objects):
    return load_snapshot(stream(listed(*objects))).objects


def quota(cpu, **status):
    return other("v1", "ResourceQuota", "q", **SHOP, spec={"hard": {"requests.cpu": cpu}}, **status)


def limit_range(cpu):
    return other("v1", "LimitRange", "l", **SHOP, spec={"limits": [{"type": "Container", "default": {"cpu": cpu}}]})


def runtime_class(cpu):
    return other("node.k8s.io/v1", "RuntimeClass", "kata", handler="kata", overhead={"podFixed": {"cpu": cpu}})


def autoscaler(least, name="scale", **status):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": 40}
    return other("autoscaling/v2", "HorizontalPodAutoscaler", name, **SHOP, spec=spec, **status)


def scaled_object(least):
    spec = {"scaleTargetRef": {"name": "web"}, "minReplicaCount": least}
    return other("keda.sh/v1alpha1", "ScaledObject", "queue", **SHOP, spec=spec)


def web(template=ONE_CPU, **spec):
    return workload("Deployment", template=template, **spec)


@pytest.mark.parametrize(
    ("old", "new", "manifest", "would_fit"),
    [
        (autoscaler(1), autoscaler(6), web(), (6, 6)),
        (autoscaler(1, name="keda-hpa-queue"), scaled_object(6), web(), (6, 6)),
        (quota("8"), quota("2"), web(replicas=4), (2, 4)),
        (quota("2"), quota("8"), web(replicas=4), (4, 4)),
        (limit_range("1"), limit_range("4"), web({}, replicas=4), (2, 4)),
        (runtime_class("100m"), runtime_class("3"), web({**ONE_CPU, "runtimeClassName": "kata"}, replicas=4), (2, 4)),
    ],
)
def test_what_is_about_to_be_applied_wins(old, new, manifest, would_fit):
    answer = fit(there(NODE, old), stream(manifest, new))
    assert (answer.n_fit, answer.n_asked) == would_fit
    loaded = expanded(manifest, new, cluster=[NODE, old])
    assert len(loaded.of(Pod)) == would_fit[1]
    if new["kind"] != "ScaledObject":
        sentence = f"in the snapshot and in the manifests, which are used: 1 {new['kind']}"
        assert sentence in answer.notes
        assert sentence in loaded.notes


@pytest.mark.parametrize("kind", [ResourceQuota, LimitRange, RuntimeClass, HorizontalPodAutoscaler])
def test_each_object_is_there_once(kind):
    old = [quota("8"), limit_range("1"), runtime_class("1"), autoscaler(1)]
    new = [quota("2"), limit_range("2"), runtime_class("2"), autoscaler(2)]
    loaded = expanded(*new, pod(), cluster=old)
    assert len(loaded.of(kind)) == 1
    asked = asked_of(stream(*new, pod()), there(*old))
    assert len([one for one in (*asked.cluster, *asked.objects()) if isinstance(one, kind)]) == 1


def test_what_the_cluster_has_counted_stays():
    old = quota("8", status={"used": {"requests.cpu": "5"}})
    assert fit(there(NODE, old), stream(web(replicas=4), quota("6"))).n_fit == 1
    full = quota("5", status={"hard": {"requests.cpu": "5"}, "used": {"requests.cpu": "5"}})
    assert fit(there(NODE, full), stream(web(replicas=4))).n_fit == 0
    assert fit(there(NODE, full), stream(web(replicas=4), quota("7"))).n_fit == 2
    scaler = autoscaler(1, status={"desiredReplicas": 7})
    assert len(expanded(web(), autoscaler(2), cluster=[scaler]).of(Pod)) == 7


def test_the_selector_of_a_service_is_that_of_the_manifest():
    services = [other("v1", "Service", "web", **SHOP, spec={"selector": {"app": app}}) for app in ("old", "new")]
    (found,) = expanded(services[1], pod(), cluster=[services[0]]).of(Service)
    assert found.spec.selector == {"app": "new"}


def test_explain_reads_the_manifest_too(tmp_path):
    from kubesched.cli.new_pod import new_pod

    path = tmp_path / "web.yaml"
    path.write_bytes(stream(web({**ONE_CPU, "runtimeClassName": "kata"}), runtime_class("9")).read())
    found, cluster, _ = new_pod(str(path), there(NODE, runtime_class("1")), Release())
    assert [one.overhead.pod_fixed for one in cluster if isinstance(one, RuntimeClass)] == [{"cpu": "9"}]
    assert explain(cluster, found).message.startswith("0/1 nodes are available: 1 Insufficient cpu")
