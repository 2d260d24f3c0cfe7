import io
import json
import types
import typing
from pathlib import Path

import msgspec
import pytest

from campaigns.devices.saved import document_of, in_any_order, translated
from campaigns.oracle.compare import read_case
from campaigns.oracle.product import answer
from kubesched import check, drain, explain
from kubesched.api import GROUP_NAMES, KINDS, KubeObject, Node, Pod, ResourceQuota, decode_object
from kubesched.capture import anonymize
from kubesched.explanation import Explanation, gangs_of
from kubesched.snapshot import ClusterObjects, load_snapshot, only_read_fields
from kubesched.testing import make_node, make_object, make_pod
from tests.capture.hostile_cluster import HOSTILE
from tests.device_cluster import device_cluster
from tests.golden.test_cases import CASES

SHOP = Path(__file__).parents[2] / "examples" / "shop" / "cluster.json.gz"
SECRET = "hunter2"
OF_THE_CONFIGURATION = {"scheduler_name"}
"""Fields whose words stay, so that the configuration still applies."""
OF_DEVICES = {"driver", "expression", "match_attribute", "distinct_attribute", "requests", "consumed_capacity"}
"""Fields that stay, so that claims get the same devices; keys of the last two as far as a constraint has them."""
STAYING = OF_THE_CONFIGURATION | OF_DEVICES


def filled(hint: object) -> object:
    """A value of a type with a secret in every text."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return filled(next(one for one in arguments if one is not type(None)))
    if origin is tuple:
        return (filled(arguments[0]),)
    if origin is dict:
        return {SECRET: "1" if "float" in str(arguments[1]) else filled(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        hints = typing.get_type_hints(hint)
        return hint(**{name: filled(hints[name]) for name in hint.__struct_fields__})
    return SECRET if hint is str else hint() if isinstance(hint, type) else None


def fields_with_secrets(value: object, name: str = "") -> set[str]:
    if isinstance(value, msgspec.Struct):
        return set().union(*(fields_with_secrets(getattr(value, one), one) for one in value.__struct_fields__))
    if isinstance(value, tuple):
        return set().union(*(fields_with_secrets(one, name) for one in value))
    if isinstance(value, dict):
        return {name} if SECRET in repr(value) else set()
    return {name} if value == SECRET else set()


@pytest.mark.parametrize("kind", KINDS)
def test_every_text_is_replaced_in_every_field(kind: str) -> None:
    known = typing.cast("KubeObject", filled(KINDS[kind].type))
    assert fields_with_secrets(known) - STAYING, "the test fills what it looks for"
    (replaced,) = anonymize(ClusterObjects((known,))).cluster
    assert fields_with_secrets(replaced) <= STAYING


def test_a_dict_of_texts_that_no_rule_describes_is_not_left_out_silently() -> None:
    class WithParameters(ResourceQuota, frozen=True):
        parameters: dict[str, str] = {}

    def cluster(**parameters: str) -> ClusterObjects:
        return ClusterObjects((WithParameters(parameters=parameters),))

    assert anonymize(cluster()).cluster == cluster()
    with pytest.raises(TypeError, match=r"parameters: .*capture/anonymize\.py"):
        anonymize(cluster(tier="gold"))


def one(kind: str, **fields: object) -> KubeObject:
    document = {"metadata": {"name": "x"}, **fields}
    return decode_object(kind, json.dumps(document).encode(), keep_source=False)


def test_references_hold() -> None:
    owner = {"apiVersion": "argoproj.io/v1", "kind": "Rollout", "name": "web", "uid": "u-1", "controller": True}
    pod = make_pod("web-1", namespace="shop", node="n-1", labels={"team": "red"}, metadata={"ownerReferences": [owner]})
    node = make_node("n-1", labels={"pool": "red"}, taints=["pool=red:NoSchedule"])
    service = one("Service", metadata={"name": "web", "namespace": "shop"}, spec={"selector": {"team": "red"}})
    replaced = anonymize(only_read_fields(ClusterObjects((node, pod, service)))).cluster
    (new_node,), (new_pod,), new_service = replaced.of(Node), replaced.of(Pod), replaced.objects[2]
    assert new_pod.node_name == new_node.name != "n-1"
    assert new_node.labels["kubernetes.io/hostname"] == new_node.name
    (taint,) = new_node.taints
    assert new_node.labels[taint.key] == taint.value
    assert new_pod.labels == new_service.spec.selector  # type: ignore[attr-defined]
    assert new_pod.namespace == new_service.namespace
    assert new_pod.metadata.controller is not None
    assert new_pod.metadata.controller.kind not in ("Rollout", "rollout")
    assert f"{new_pod.metadata.controller.name}-" in new_pod.name


def test_labels_that_are_compared_as_numbers_stay() -> None:
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["8"]}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    nodes = [make_node("small", labels={"cores": "4", "rack": "8"}), make_node("large", labels={"cores": "16"})]
    cluster = only_read_fields(ClusterObjects((*nodes, make_pod("p", spec={"affinity": affinity}))))
    replaced, table, _ = anonymize(cluster)
    (pod,) = replaced.of(Pod)
    assert [table[explain(replaced, pod.key).feasible[0]]] == ["large"]
    assert "8" in table.values(), "the value of another key is replaced"


def test_of_labels_that_are_compared_as_numbers_only_integers_stay() -> None:
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "team", "operator": "Gt", "values": ["8"]}]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    nodes = [make_node("a", labels={"team": SECRET}), make_node("b", labels={"team": "9"})]
    cluster = only_read_fields(
        ClusterObjects((*nodes, make_pod("p", labels={"team": SECRET}, spec={"affinity": affinity})))
    )
    replaced, table, _ = anonymize(cluster)
    assert SECRET not in json.dumps(document_of(replaced))
    assert [table[name] for name in explain(replaced, replaced.of(Pod)[0].key).feasible] == ["b"]


@pytest.mark.parametrize("salt", ["", "s"])
def test_no_word_of_a_hostile_cluster_is_left(salt: str) -> None:
    cluster = only_read_fields(load_snapshot(io.BytesIO(json.dumps(HOSTILE).encode())))
    assert "acme" in json.dumps(document_of(cluster)).lower()
    replaced, table, _ = anonymize(cluster, salt)
    written = json.dumps(document_of(replaced)).lower()
    assert "acme" not in written
    assert "10.55" not in written
    (before,), (after,) = cluster.of(Pod), replaced.of(Pod)
    was, became = explain(cluster, before.key), explain(replaced, after.key)
    assert rejections(became) == rejections(was)
    assert was.feasible, "every plugin accepts the node"
    assert [translated([{"node": name}], table)[0]["node"] for name in became.feasible] == list(was.feasible)


def rejections(explanation: Explanation) -> dict[str, int]:
    return {plugin: len(said.rejections) for plugin, said in explanation.by_plugin.items()}


def test_what_kubernetes_defines_stays() -> None:
    resources = {"cpu": "4", "hugepages-2Mi": "4Mi", "attachable-volumes-aws-ebs": "3"}
    resources["attachable-volumes-csi-ebs.csi.aws.com"] = "25"
    labels = {"topology.kubernetes.io/zone": "z", "app.kubernetes.io/name": "n", "kubernetes.io/os": "linux"}
    node = make_node("n1", labels=labels, allocatable=resources, taints=["node.kubernetes.io/not-ready:NoExecute"])
    (replaced,) = anonymize(only_read_fields(ClusterObjects((node,)))).cluster.of(Node)
    assert replaced.labels.keys() == node.labels.keys()
    assert replaced.labels["kubernetes.io/os"] == "linux"
    assert replaced.status.allocatable == node.status.allocatable
    assert replaced.taints == node.taints


def test_messages_and_reasons_of_conditions_are_left_out() -> None:
    said = {"type": "Ready", "status": "False", "reason": SECRET, "message": SECRET}
    waits = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": SECRET}
    pod = one("Pod", status={"conditions": [said, waits]})
    (replaced,) = anonymize(ClusterObjects((pod,))).cluster.of(Pod)
    assert [(c.type, c.reason, c.message) for c in replaced.status.conditions or ()] == [
        ("Ready", "", ""),
        ("PodScheduled", "SchedulingGated", ""),
    ]


@pytest.mark.parametrize(
    ("key", "kept", "free"),
    [
        ("pv.kubernetes.io/bind-completed", "yes", "by acme"),
        ("pv.kubernetes.io/bound-by-controller", "yes", "acme"),
        ("storageclass.kubernetes.io/is-default-class", "true", "acme"),
        ("controller.kubernetes.io/pod-deletion-cost", "-12", "acme-12"),
        ("storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd", "acme/disk"),
    ],
)
def test_an_annotation_keeps_only_the_values_that_rules_read(key: str, kept: str, free: str) -> None:
    for value in (kept, free, f"{kept},{free}"):
        replaced, *_ = anonymize(ClusterObjects((one("Node", metadata={"name": "n1", "annotations": {key: value}}),)))
        (node,) = replaced.of(Node)
        assert "acme" not in node.annotations[key]
        assert (node.annotations[key] == value) == (value == kept)


@pytest.mark.parametrize(
    ("server", "kubelet", "kept"),
    [
        ("v1.35.4-eks-1a2b3c", "v1.34.2+k3s1", ("v1.35.4", "v1.34.2")),
        ("", "v1.33.13-gke.7", ("", "v1.33.13")),
        ("main", "hunter2", ("", "")),
    ],
)
def test_the_version_that_decides_stays_without_what_a_provider_adds(
    server: str, kubelet: str, kept: tuple[str, str]
) -> None:
    node = make_node("n1", status={"nodeInfo": {"kubeletVersion": kubelet}})
    found = anonymize(ClusterObjects((node,), server_version=server)).cluster
    (anonymous,) = found.of(Node)
    assert (found.server_version, anonymous.status.node_info.kubelet_version) == kept


def test_the_configuration_that_came_with_the_objects_is_left_out() -> None:
    cluster = ClusterObjects((one("Node", metadata={"name": "n1"}),), scheduler_config=b'{"profiles":[]}')
    assert anonymize(cluster).cluster.scheduler_config == b""


def test_the_reason_that_a_rule_reads_stays() -> None:
    left = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    (replaced,) = anonymize(ClusterObjects((one("Pod", status={"conditions": [left]}),))).cluster.of(Pod)
    assert [condition.reason for condition in replaced.status.conditions or ()] == ["PreemptionByScheduler"]


def test_annotations_that_hold_names_are_replaced_and_others_left_out() -> None:
    avoided = {"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "u1"}}}]}
    annotations = {
        "scheduler.alpha.kubernetes.io/preferAvoidPods": json.dumps(avoided),
        "volume.kubernetes.io/selected-node": "n1",
        "pv.kubernetes.io/bind-completed": "yes",
        "note": SECRET,
    }
    replaced, table, _ = anonymize(ClusterObjects((one("Node", metadata={"name": "n1", "annotations": annotations}),)))
    (node,) = replaced.of(Node)
    assert node.annotations.keys() == annotations.keys() - {"note"}
    assert node.annotations["pv.kubernetes.io/bind-completed"] == "yes"
    assert node.annotations["volume.kubernetes.io/selected-node"] == node.name
    (entry,) = json.loads(node.annotations["scheduler.alpha.kubernetes.io/preferAvoidPods"])["preferAvoidPods"]
    assert table[entry["podSignature"]["podController"]["uid"]] == "u1"


# --- the same verdicts ---


def test_words_of_the_configuration_stay_so_that_it_still_applies() -> None:
    node = make_node("gpu-1", labels={"pool": "gpu"})
    replaced, table, _ = anonymize(ClusterObjects((node,)), keep=["pool: gpu"])
    assert replaced.of(Node)[0].labels["pool"] == "gpu"
    assert table.keys().isdisjoint({"pool", "gpu"})


@pytest.mark.parametrize(
    "path",
    CASES[::16],
    ids=lambda path: path.name.removesuffix(".json.gz"),
)
def test_recorded_cases_are_decided_as_before(path: Path) -> None:
    check_case(path)


def check_case(path: Path) -> None:
    case = read_case(path)
    cluster = only_read_fields(load_snapshot(io.BytesIO(json.dumps(case["snapshot"]).encode())))
    replaced, table, _ = anonymize(cluster, keep=(case["config"] and [case["config"]]) or ())
    before = answer({**case, "snapshot": document_of(cluster)})
    after = answer({**case, "snapshot": document_of(replaced)})
    for lines, new_lines in zip(before, after, strict=True):
        wanted, got = translated(lines, {}), translated(new_lines, table)
        assert [line["pod"] for line in got] == [line["pod"] for line in wanted]
        assert in_any_order(got) == in_any_order(wanted)


@pytest.mark.parametrize("salt", ["", "s"])
def test_the_pod_gets_the_same_fixes_in_the_same_order(salt: str) -> None:
    labels = [{"row": "r1", "color": "blue"}, {"row": "r2", "color": "red"}, {"team": "true", "disk": "ssd"}]
    nodes = [make_node(f"n{i}", labels=of) for i, of in enumerate(labels)]
    for selector in ({"kata": "true"}, {"color": "gpu"}, {"color": "red", "tier": "ssd"}, {"row": "r9"}):
        cluster = only_read_fields(ClusterObjects((*nodes, make_pod("p", spec={"nodeSelector": selector}))))
        replaced, table, _ = anonymize(cluster, salt)
        was, became = explain(cluster, "default/p").fixes, explain(replaced, replaced.of(Pod)[0].key).fixes
        assert was
        assert translated([{"fix": fix.text} for fix in became], table) == [{"fix": fix.text} for fix in was]


@pytest.mark.parametrize("key", GROUP_NAMES)
def test_pods_stay_in_their_group_and_the_group_keeps_its_minimum(key: str) -> None:
    fields = {"annotations": {key: "train"}, "labels": {f"{key}-min": "3"}}
    if key.startswith("spec."):
        fields = {"spec": {"schedulingGroup": {"podGroupName": "train"}}}
    group = GROUP_NAMES[key].kind
    spec = {"minMember": 3, "schedulingPolicy": {"gang": {"minCount": 3}}}
    groups = [one(group, metadata={"name": "train", "namespace": "ml"}, spec=spec)] if group else []
    pods = [make_pod(f"w-{i}", namespace="ml", **fields) for i in range(4)]
    replaced = anonymize(only_read_fields(ClusterObjects((*pods, *groups)))).cluster
    (found,) = gangs_of(replaced, replaced.of(Pod))
    assert (found.key, found.minimum, len(found.pods)) == (key, 3, 4)
    assert found.name != "train"


def test_what_becomes_of_drained_pods_stays() -> None:
    """The kinds that create pods again keep their names, and the Jobs their rules."""

    def owned(name: str, kind: str, version: str) -> Pod:
        owner = {"apiVersion": version, "kind": kind, "name": "set", "uid": "u", "controller": True}
        return make_pod(name, node="n1", metadata={"ownerReferences": [owner]})

    rules = [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
    ]
    job = make_object("Job", "set", spec={"backoffLimit": 0, "podFailurePolicy": {"rules": rules}})
    pods = [
        owned("a", "CloneSet", "apps.kruise.io/v1alpha1"),
        owned("b", "Job", "batch/v1"),
        owned("c", "Secret", "x/v1"),
    ]
    cluster = only_read_fields(ClusterObjects((make_node("n1"), make_node("n2"), job, *pods)))
    after = anonymize(cluster).cluster
    name = next(one.name for one in after.objects if isinstance(one, Node))
    assert [pod.fate for pod in drain(after, [name]).pods] == [pod.fate for pod in drain(cluster, ["n1"]).pods]
    assert [pod.fate.value for pod in drain(cluster, ["n1"]).pods] == ["moves", "moves", "mayBeLost"]


def test_the_implicit_resource_of_a_class_stays_one() -> None:
    resource = "deviceclass.resource.kubernetes.io/gpu.acme.com"
    objects = [*device_cluster(), one("DeviceClass", metadata={"name": "gpu.acme.com"})]
    pod = make_pod("p", requests={resource: "1"})
    replaced = anonymize(only_read_fields(ClusterObjects((*objects, pod)))).cluster
    assert len(explain(replaced, replaced.of(Pod)[-1].key).feasible) == 3


def one_per_node(name: str, *nodes: str, strategy: dict) -> list[KubeObject]:
    """A Deployment whose pods need a node each, on all nodes that they select."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-1", "uid": name, "controller": True}
    more = {"metadata": {"ownerReferences": [owner]}, "labels": {"app": name, "pod-template-hash": "1"}}
    apart = {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": "kubernetes.io/hostname"}
    spec = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}}
    chosen = {"nodeSelector": {f"for-{name}": "yes"}}
    hosts = [
        make_node(f"{node}-{name}", labels={"kubernetes.io/hostname": f"{node}-{name}", f"for-{name}": "yes"})
        for node in nodes
    ]
    pods = [make_pod(f"{name}-1-{host.name}", node=host.name, spec={**spec, **chosen}, **more) for host in hosts]
    return [*hosts, *pods, make_object("Deployment", name, namespace="default", spec={"strategy": strategy})]


def test_what_a_check_reads_is_the_same():
    budget = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": "100%"}
    quiet = {"annotations": {"kubesched/ignore": "one-node, hunter2"}}
    objects = [
        make_node("n1"),
        make_pod("web-1", node="n1", labels={"app": "web"}, metadata=quiet),
        make_pod("web-2", node="n1", labels={"app": "web"}, metadata=quiet),
        make_object("PodDisruptionBudget", "web", spec=budget, status={"expectedPods": 2, "currentHealthy": 2}),
    ]
    objects += one_per_node("api", "n2", "n3", strategy={"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}})
    objects += one_per_node("idle", "n2", "n3", strategy={"type": "Recreate"})
    before, after = check(objects), check(anonymize(ClusterObjects(tuple(objects))).cluster)
    assert [one.about for one in before.findings if one.rule == "rollout-hangs"] == [("Deployment default/api",)]
    left = [(one.rule, one.n_pods) for one in before.findings if one.rule != "unknown-rule"]
    assert [(one.rule, one.n_pods) for one in after.findings] == left
    assert "hunter2" not in repr([one.message for one in after.findings])
    assert "minAvailable 100% of 2 pods" in [one.message for one in after.findings]
