"""What `helm template`, `kustomize build` and release files print is taken as it is."""

import pytest

from kubesched.api import (
    CoschedulingPodGroup,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PriorityClass,
    StorageClass,
)
from tests.admission.test_admission import expanded, refused
from tests.snapshot.builders import listed, node, other, pod, workload

CRD = other("apiextensions.k8s.io/v1", "CustomResourceDefinition", "rollouts.argoproj.io")
ROLE = other("rbac.authorization.k8s.io/v1", "Role", "reader", rules=[])
SERVICE = other("v1", "Service", "web", metadata={"namespace": "shop"}, spec={"selector": {"app": "web"}})


def container(**fields):
    return {"containers": [{"name": "c", **fields}]}


def test_kinds_that_a_scheduler_does_not_read_are_counted_in_one_note():
    loaded = expanded(CRD, ROLE, CRD | {"metadata": {"name": "two"}}, SERVICE, workload("Deployment", replicas=2))
    assert len(loaded.of(Pod)) == 2
    assert loaded.kinds["Service"] == 1
    left_out = [note for note in loaded.notes if "left out" in note]
    assert left_out == [
        "left out of the manifests, because kubesched does not read these kinds: 2 CustomResourceDefinition, 1 Role"
    ]


def test_a_kind_of_another_group_is_counted_with_its_group():
    volcano = {**workload("Job"), "apiVersion": "batch.volcano.sh/v1alpha1"}
    knative = other("serving.knative.dev/v1", "Service", "s")
    (note, _) = [note for note in expanded(volcano, knative).notes if "manifests" in note]
    assert note.endswith(": 1 Job.batch.volcano.sh (shop/web), 1 Service.serving.knative.dev (s)")


def test_objects_of_other_systems_that_show_no_pods_are_named():
    flow = other("argoproj.io/v1alpha1", "Workflow", "report", metadata={"namespace": "etl"}, spec={})
    spec = {"workflowTemplateRef": {"name": "report"}}
    monitors = [other("monitoring.coreos.com/v1", "ServiceMonitor", f"m{i}") for i in range(5)]
    generated = other("ray.io/v1", "RayJob", "")
    generated["metadata"] = {"generateName": "train-", "namespace": "ml"}
    (note,) = [
        note for note in expanded(flow | {"spec": spec}, *monitors, generated, ROLE, pod()).notes if "left" in note
    ]
    monitors = "5 ServiceMonitor (m0, m1, m2 and 2 more)"
    assert note.endswith(f": 1 RayJob (ml/train-), 1 Role, {monitors}, 1 Workflow (etl/report)")


@pytest.mark.parametrize(
    ("kind", "version", "words"),
    [
        ("Deployment", "app/v1", 'apiVersion: found "app/v1"; expected apps/v1'),
        ("Deployment", "extensions/v1beta1", 'apiVersion: found "extensions/v1beta1"; expected apps/v1'),
        ("CronJob", "bacth/v1", 'apiVersion: found "bacth/v1"; expected batch/v1'),
        ("StorageClass", "storage.k8s/v1", 'apiVersion: found "storage.k8s/v1"; expected storage.k8s.io/v1'),
        ("StorageClass", "v1", 'apiVersion: found "v1"; expected storage.k8s.io/v1'),
        ("Deploymnet", "apps/v1", 'kind: found "Deploymnet" in apps/v1; did you mean "Deployment"?'),
        ("DeamonSet", "app/v1", 'kind: found "DeamonSet" in app/v1; did you mean "DaemonSet"?'),
        ("statefulset", "apps/v1", 'kind: found "statefulset" in apps/v1; did you mean "StatefulSet"?'),
        ("StorageClas", "storage.k8s.io/v1", 'in storage.k8s.io/v1; did you mean "StorageClass"?'),
    ],
)
def test_a_misspelt_kind_or_group_is_an_error_where_it_was_left_out(kind, version, words):
    assert words in refused(other(version, kind, "web"))


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        *(("v1", kind) for kind in ("ConfigMap", "Endpoints", "Event", "PodTemplate")),
        *(("v1", kind) for kind in ("Binding", "ComponentStatus", "Secret", "ServiceAccount")),
        ("apps/v1", "ControllerRevision"),
        ("networking.k8s.io/v1", "IngressClass"),
        ("policy/v1beta1", "PodSecurityPolicy"),
        ("storage.k8s.io/v1", "VolumeAttributesClass"),
        ("storagemigration.k8s.io/v1alpha1", "StorageVersionMigration"),
        ("apps.kruise.io/v1alpha1", "StatefulSet"),
        ("apps.openshift.io/v1", "DeploymentConfig"),
        ("metrics.k8s.io/v1beta1", "NodeMetrics"),
        ("metrics.k8s.io/v1beta1", "PodMetrics"),
        ("serving.knative.dev/v1", "Service"),
    ],
)
def test_a_kind_of_another_name_is_not_taken_for_a_misspelt_one(version, kind):
    (note, _) = [note for note in expanded(other(version, kind, "x")).notes if "manifests" in note]
    assert note.startswith("left out of the manifests")


def test_pods_with_an_unknown_runtime_class_are_named():
    kata = workload("StatefulSet", replicas=2, template={"runtimeClassName": "kata"})
    assert [note for note in expanded(kata, pod()).notes if "RuntimeClass" in note] == [
        (
            "neither the snapshot nor the manifests have a RuntimeClass: kata may add overhead, a node selector and "
            "tolerations to 2 pods (shop/web-0, shop/web-1), which then fit on fewer nodes; an API server without it "
            "refuses them"
        )
    ]


def test_new_claims_of_an_immediate_class_are_named():
    fast = other("storage.k8s.io/v1", "StorageClass", "fast", provisioner="x.io/p")
    slow = other("storage.k8s.io/v1", "StorageClass", "slow", provisioner="x", volumeBindingMode="WaitForFirstConsumer")
    claims = [
        other("v1", "PersistentVolumeClaim", name, metadata={"namespace": "shop"}, spec={"storageClassName": name})
        for name in ("fast", "slow")
    ]
    bound = other("v1", "PersistentVolumeClaim", "b", spec={"storageClassName": "fast", "volumeName": "disk"})
    assert [note for note in expanded(fast, slow, *claims, bound).notes if "provision" in note] == [
        (
            "a cluster would provision or bind the volumes of 1 new claim (shop/fast) at once, because "
            "volumeBindingMode of StorageClass fast is Immediate; kubesched does not, so their pods fit nowhere"
        )
    ]


def test_manifests_without_a_pod_say_so():
    assert "the manifests add no pod" in expanded(ROLE).notes


def test_pods_see_the_cluster_objects_of_manifests_wherever_they_are():
    high = other("scheduling.k8s.io/v1", "PriorityClass", "high", value=9)
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    fast = other("storage.k8s.io/v1", "StorageClass", "fast", metadata={"annotations": default}, provisioner="x.io/p")
    claim = other("v1", "PersistentVolumeClaim", "data", metadata={"namespace": "shop"}, spec={"accessModes": ["x"]})
    volume = other("v1", "PersistentVolume", "disk", spec={"capacity": {"storage": "1Gi"}})
    loaded = expanded(pod(priorityClassName="high"), workload("DaemonSet"), claim, fast, high, volume, node("n"))
    assert [found.priority for found in loaded.of(Pod)] == [9, 0]
    assert loaded.of(PersistentVolumeClaim)[0].spec.storage_class_name == "fast"
    assert loaded.of(StorageClass)[0].volume_binding_mode == "Immediate"
    assert loaded.of(PersistentVolume)[0].status.phase == "Available"
    assert (len(loaded.of(Node)), len(loaded.of(PriorityClass))) == (1, 1)


def test_a_custom_resource_may_have_fields_that_are_not_read():
    spec = {"minMember": 2, "scheduleTimeoutSeconds": 10}
    loaded = expanded(other("scheduling.x-k8s.io/v1alpha1", "PodGroup", "train", spec=spec), pod())
    assert [found.minimum for found in loaded.of(CoschedulingPodGroup)] == [2]


def test_what_the_snapshot_has_already_stays_where_the_manifest_changes_nothing():
    present = other("v1", "Namespace", "shop", metadata={"labels": {"team": "a"}})
    loaded = expanded(other("v1", "Namespace", "shop"), SERVICE, pod(), cluster=[present, SERVICE])
    assert [found.labels for found in loaded.of(Namespace)] == [{"team": "a"}]
    assert not any("manifests, which are used" in note for note in loaded.notes)


def test_a_kind_that_a_cluster_fills_in_stays_as_the_snapshot_has_it():
    volume = other("v1", "PersistentVolume", "disk", spec={"capacity": {"storage": "1Gi"}})
    bound = {**volume, "spec": {**volume["spec"], "claimRef": {"namespace": "shop", "name": "data"}}}
    loaded = expanded(volume, pod(), cluster=[bound])
    assert [one.spec.claim_ref.name for one in loaded.of(PersistentVolume)] == ["data"]
    assert "in the manifests and in the snapshot, which is used: 1 PersistentVolume" in loaded.notes


def test_the_same_cluster_object_in_two_manifests_is_refused():
    assert "Service shop/web already exists, from <stream>, document 1" in refused(SERVICE, SERVICE)


def test_a_replication_controller_is_expanded():
    template = {"metadata": {"labels": {"app": "old"}}, "spec": container()}
    controller = other("v1", "ReplicationController", "old", spec={"replicas": 2, "template": template})
    loaded = expanded(controller)
    assert [found.labels for found in loaded.of(Pod)] == [{"app": "old"}] * 2
    assert {found.metadata.controller.kind for found in loaded.of(Pod)} == {"ReplicationController"}
    controller["spec"]["selector"] = {"app": "new"}
    assert "`selector` does not match template `labels`" in refused(controller)


def cron_job(**job):
    spec = {"template": {"spec": container()}, **job}
    return other("batch/v1", "CronJob", "report", spec={"schedule": "0 4 * * *", "jobTemplate": {"spec": spec}})


def test_a_cron_job_has_the_pods_of_one_run():
    loaded = expanded(cron_job(parallelism=2, completions=2))
    assert [found.name.rpartition("-")[0] for found in loaded.of(Pod)] == ["report-1"] * 2
    assert "<stream>: CronJob default/report: the pods of one run are added" in loaded.notes
    suspended = cron_job()
    suspended["spec"]["suspend"] = True
    loaded = expanded(suspended)
    assert not loaded.of(Pod)
    assert "<stream>: CronJob default/report is suspended; no pod is added for it" in loaded.notes


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"metadata": "v1"}, 'metadata: expected an object, found "v1"'),
        ({"metadata": {"name": "report", "annotations": "a=b"}}, "metadata.annotations: expected an object"),
        ({"spec": {"jobTemplate": "report"}}, 'spec.jobTemplate: expected an object, found "report"'),
        ({"spec": {"jobTemplate": {"metadata": "v1"}}}, "spec.jobTemplate.metadata: expected an object"),
    ],
)
def test_a_field_of_a_wrong_type_is_named(fields, fault):
    assert fault in refused(cron_job() | fields)


def test_a_cron_job_without_a_spec_lacks_the_pods_of_its_job():
    without = cron_job()
    del without["spec"]
    assert "spec.jobTemplate.spec.template.spec.containers is missing" in refused(without)


def test_a_claim_without_a_spec_gets_its_defaults():
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}}
    assert expanded(claim).objects[-1].document["spec"] == {"volumeMode": "Filesystem"}


def test_a_fault_in_a_cron_job_names_the_field_as_it_is_written():
    assert "(CronJob report): spec.jobTemplate.spec.parallelism: found -1" in refused(cron_job(parallelism=-1))


def test_the_tests_of_a_helm_chart_are_left_out():
    hook = pod("web-test")
    hook["metadata"]["annotations"] = {"helm.sh/hook": "test"}
    loaded = expanded(pod("web"), hook)
    assert [found.name for found in loaded.of(Pod)] == ["web"]
    assert any("1 Helm test" in note for note in loaded.notes)


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (
            pod(**container(resources={"request": {"cpu": "2"}})),
            'spec.containers[0].resources.request: unknown field; did you mean "requests"?',
        ),
        (
            workload("Deployment", template=container(requests={"cpu": "2"})),
            'spec.template.spec.containers[0].requests: unknown field; did you mean "resources.requests"?',
        ),
        (
            workload("Deployment", tolerations=[]),
            'spec.tolerations: unknown field; did you mean "template.spec.tolerations"?',
        ),
        (
            pod(**container(tolerations=[])),
            "containers[0].tolerations: unknown field; it belongs to the spec of the pod",
        ),
        (
            pod(**container(resources={"cpu": 1})),
            "resources.cpu: unknown field; expected claims, limits, requests",
        ),
        (
            other("storage.k8s.io/v1", "StorageClass", "s", bindingMode="Immediate"),
            'bindingMode: unknown field; did you mean "volumeBindingMode"?',
        ),
        ({**cron_job(), "specs": {}}, 'specs: unknown field; did you mean "spec"?'),
        (
            workload("StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": {"storageClass": "x"}}]),
            'spec.volumeClaimTemplates[0].spec.storageClass: unknown field; did you mean "storageClassName"?',
        ),
    ],
)
def test_an_unknown_field_of_what_is_used_is_an_error(manifest, words):
    assert words in refused(manifest)


def test_fields_that_a_scheduler_does_not_read_are_known():
    fields = {
        "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
        "livenessProbe": {"httpGet": {"path": "/", "port": "http"}, "periodSeconds": 5},
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}},
        "volumeMounts": [{"name": "t", "mountPath": "/tmp", "recursiveReadOnly": "Disabled"}],
        "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
    }
    manifest = workload("Deployment", template=container(**fields), strategy={"rollingUpdate": {"maxSurge": "25%"}})
    assert len(expanded(manifest).of(Pod)) == 1
    assert len(expanded(listed(manifest)).of(Pod)) == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"stats": {"allocatable": {"cpu": "31"}}}, 'stats: unknown field; did you mean "status"?'),
        ({"status": {"allocatble": {"cpu": "31"}}}, 'status.allocatble: unknown field; did you mean "allocatable"?'),
        ({"spec": {"taints": [{"key": "a", "effect": "NoShedule"}]}}, 'spec.taints[0].effect: found "NoShedule"'),
    ],
)
def test_a_node_that_people_wrote_is_decoded_strictly(fields, words):
    assert words in refused(node("big") | fields)


def test_a_field_for_anchors_is_answered_with_a_place_for_them():
    words = "x-common: unknown field; an API server rejects it too: put the anchor where it is used first"
    assert words in refused(pod() | {"x-common": {"name": "c"}})
