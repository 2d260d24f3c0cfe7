"""Explanations name the version where a rule of it decides, and offer an upgrade where that alone helps."""

from typing import Any

import msgspec
import pytest

from kubesched import Explanation
from kubesched.api import ResourceSlice
from kubesched.explanation import Explainer, explain
from kubesched.pages.explanations import explanation_page
from kubesched.pages.formats import as_text
from kubesched.release import Release
from kubesched.setup import set_up
from kubesched.snapshot import ClusterObjects
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.claiming import DRIVER, claim, claiming, decoded
from tests.plugins.dynamic_resources.device_objects import ask, device, device_class, resource_slice, selecting

HOST = "kubernetes.io/hostname"
NOT_BLUE = {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["blue"]}]}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "x"}}, "namespaceSelector": NOT_BLUE}
        ]
    }
}
WAITING = make_pod("new", labels={"app": "x"}, spec={"affinity": APART})
NEGATIVE = (
    make_object("Namespace", "default", labels={"team": "blue"}),
    make_node("n1", labels={HOST: "n1"}),
    make_node("full", labels={HOST: "full"}, allocatable={"cpu": "1", "memory": "1Gi", "pods": "0"}),
    make_pod("old", node="n1", labels={"app": "x"}),
    WAITING,
)


def explained(version: str, *objects: Any, pod: str = "default/new", **how: Any) -> Explanation:
    return explain(ClusterObjects(objects, server_version=version), pod, **how)


@pytest.mark.parametrize(
    ("version", "misreads", "corrected"), [("v1.34.4", "v1.34.4", "v1.34.13"), ("v1.36.5", "v1.36.3", "v1.36.6")]
)
def test_a_selector_that_a_version_misreads_is_named_and_the_upgrade_is_the_last_fix(
    version: str, misreads: str, corrected: str
) -> None:
    explanation = explained(version, *NEGATIVE)
    text = as_text(explanation_page(explanation), 200)
    assert f"InterPodAffinity: {misreads} matches every namespace" in text
    assert f"(kubernetes issue 141526); {corrected} does not." in text
    *others, last = explanation.fixes
    assert others
    assert (str(last), last.kind, last.nodes) == (f"upgrade to {corrected} -> 1 node", "upgrade", ("n1",))
    assert [patch.text for patch in last.patches] == [f"upgrade to {corrected}"]
    assert last.patches[0].target is None
    page = explanation_page(explanation)
    assert page.document["versionRules"] == [rule.text for rule in explanation.version_rules]


def test_an_upgrade_is_not_cut_where_many_other_changes_help() -> None:
    reserved = (make_node(f"r{i}", labels={HOST: f"r{i}"}, taints=[f"team=t{i}:NoSchedule"]) for i in range(9))
    fixes = explained("v1.36.3", *NEGATIVE, *reserved).fixes
    assert len(fixes) == 8
    assert str(fixes[-1]) == "upgrade to v1.36.6 -> 1 node"


@pytest.mark.parametrize(
    ("expressions", "labels", "key"),
    [
        ([{"key": "team", "operator": "NotIn", "values": ["blue"]}], {"team": "red"}, "team"),
        ([{"key": "team", "operator": "NotIn", "values": ["blue"]}], {}, "kubernetes.io/metadata.name"),
        ([{"key": "team", "operator": "DoesNotExist"}], {}, "kubernetes.io/metadata.name"),
    ],
)
def test_a_selector_that_is_misread_gets_an_expression_that_no_version_misreads(
    expressions: list[dict[str, Any]], labels: dict[str, str], key: str
) -> None:
    """The pods that the term means stay apart: those of a namespace without the key of the selector, too."""
    selector = {"labelSelector": {"matchLabels": {"app": "x"}}, "namespaceSelector": {"matchExpressions": expressions}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOST, **selector}]}
    pod = make_pod("new", labels={"app": "x"}, spec={"affinity": {"podAntiAffinity": required}})
    other = make_object("Namespace", "other", labels={**labels, "kubernetes.io/metadata.name": "other"})
    meant = make_node("n2", labels={HOST: "n2"}), make_pod("far", namespace="other", node="n2", labels={"app": "x"})
    objects = ClusterObjects((*NEGATIVE[:-1], other, *meant, pod), server_version="v1.36.3")
    fix = explain(objects, "default/new").fixes[0]
    added = f"add {{key: {key}, operator: Exists}} to the namespaceSelector of the required pod anti-affinity"
    assert (str(fix), fix.kind, fix.keeps_intent) == (f"{added} -> 1 node", "podAntiAffinity", True)
    assert any(key in line for patch in fix.patches for line in patch.commands)
    changed = [one for one in fix.change.apply(objects, pod)[0] if one is not pod]
    for version in ("v1.33.13", "v1.36.3", "v1.37.2"):
        assert explained(version, *changed, fix.change.pod(pod)).feasible == ["n1"]


@pytest.mark.parametrize("version", ["v1.33.13", "v1.34.13", "v1.35.11", "v1.36.6", "v1.37.2"])
def test_versions_that_read_it_have_nothing_to_say(version: str) -> None:
    explanation = explained(version, *NEGATIVE)
    assert explanation.feasible == ["n1"]
    assert not explanation.version_rules


def test_an_upgrade_that_alone_does_not_help_is_not_offered() -> None:
    unready = make_node("n1", labels={HOST: "n1"}, unschedulable=True)
    objects = (unready, *(one for one in NEGATIVE if one.name != "n1"))
    explanation = explained("v1.36.3", *objects)
    assert any(rule.may_fit_later for rule in explanation.version_rules)
    assert "upgrade" not in {fix.kind for fix in explanation.fixes}


def test_an_upgrade_keeps_the_rest_of_the_configuration() -> None:
    """A version that rejects the configuration is none that helps; profiles that are built stay as they are."""
    cluster = ClusterObjects(NEGATIVE, server_version="v1.36.3")
    setup = set_up(release=Release(36))
    with Explainer(cluster, setup) as explainer:
        assert explainer.explain("default/new", max_fixes=8).fixes[-1].kind == "upgrade"
        assert explainer.explain("default/new", max_fixes=1).fixes[0].kind != "upgrade"
    with Explainer(cluster, set_up(release=Release(36)).profiles) as explainer:
        assert "upgrade" not in {fix.kind for fix in explainer.explain("default/new", max_fixes=8).fixes}


def test_a_pod_that_runs_is_tried_without_itself() -> None:
    runs = msgspec.structs.replace(WAITING, spec=msgspec.structs.replace(WAITING.spec, node_name="n1"))
    explanation = explained("v1.36.3", *NEGATIVE[:-1], runs)
    assert str(explanation.fixes[-1]) == "upgrade to v1.36.6 -> 1 node"


def test_a_downgrade_is_never_offered() -> None:
    pod = make_pod("new", spec={"resources": {"requests": {"cpu": "3"}}})
    node = make_node("n1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"})
    assert explained("v1.33.13", node, pod).fits
    explanation = explained("v1.34.4", node, pod)
    assert not explanation.fits
    assert "upgrade" not in {fix.kind for fix in explanation.fixes}


CLASS = "WaitForFirstConsumer"
GOLD = (
    make_node("n1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"}),
    make_object("StorageClass", "sc", provisioner="d.example", volumeBindingMode=CLASS),
    make_object(
        "PersistentVolumeClaim",
        "c",
        spec={"storageClassName": "sc", "accessModes": ["ReadWriteOnce"], "volumeAttributesClassName": "gold"},
    ),
)
VOLUMES = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]


@pytest.mark.parametrize(("cpu", "fixes"), [("1", ["upgrade to v1.34 -> 1 node"]), ("3", [])])
def test_the_later_version_reads_all_fields_of_the_pod(cpu: str, fixes: list[str]) -> None:
    pod = make_pod("new", spec={"volumes": VOLUMES, "resources": {"requests": {"cpu": cpu}}})
    explanation = explained("v1.33.13", *GOLD, pod)
    assert (
        "VolumeBinding: an unbound claim with volumeAttributesClassName is an error in v1.33; in v1.34 it is not"
        in {rule.text for rule in explanation.version_rules}
    )
    assert [str(fix) for fix in explanation.fixes if fix.kind == "upgrade"] == fixes


def test_fields_that_the_version_does_not_read_are_named() -> None:
    pod = make_pod("new", spec={"resources": {"requests": {"cpu": "3"}}})
    node = make_node("n1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"})
    (rule,) = explained("v1.33.13", node, pod).version_rules
    assert rule.text == "v1.33 does not read spec.resources (feature gate PodLevelResources)"


@pytest.mark.parametrize("version", ["v1.34.4", "v1.37.2"])
def test_a_request_of_the_pod_itself_is_named_where_it_is_short(version: str) -> None:
    own = {"resources": {"requests": {"cpu": "3", "memory": "1Gi"}}}
    pod = make_pod("new", requests={"cpu": "100m"}, spec=own)
    small = make_node("n1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"})
    (rule,) = explained(version, small, pod).version_rules
    assert rule.text == (
        "NodeResourcesFit: the request for 3 cpu is the pod's own spec.resources, while its containers ask for "
        "100m cpu; v1.33 does not read spec.resources (feature gate PodLevelResources)"
    )
    assert not rule.may_fit_later
    assert not explained(version, make_node("n1"), pod).version_rules
    assert not explained(version, small, make_pod("new", requests={"cpu": "3"}, spec=own)).version_rules


def test_preemption_on_nodes_that_are_too_small_is_of_one_version() -> None:
    pod = make_pod("new", requests={"cpu": "3"})
    node = make_node("n1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"})
    (rule,) = explained("v1.33.13", node, pod).version_rules
    assert rule.text.startswith("NodeResourcesFit: v1.33 tries preemption on nodes that are too small")
    assert not explained("v1.34.4", node, pod).version_rules


POOL = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
COUNTERS = [{"name": "s", "counters": {"m": {"value": "1"}}}]
USED = [{"counterSet": "s", "counters": {"m": {"value": "1"}}}]
PARTS = (
    make_node("n1"),
    *decoded(
        device_class("gpu", f'device.driver == "{DRIVER}"', resource="example.com/gpu"),
        resource_slice("n1", [device("a", model="MIG", consumesCounters=USED)], pool=POOL),
        {**resource_slice("n1", [], pool=POOL, sharedCounters=COUNTERS), "metadata": {"name": "counters"}},
        claim("c", ask()),
        claim("other", ask(selectors=selecting(f'device.attributes["{DRIVER}"].model == "H100"'))),
    ),
)


def test_a_part_of_a_device_names_the_version_that_gives_it() -> None:
    explanation = explained("v1.34.4", *PARTS, claiming("c"), pod="default/p")
    needs = "that needs v1.36 or the feature gate DRAPartitionableDevices"
    (rule,) = explanation.version_rules
    assert rule.text == f"DynamicResources: v1.34 gives parts of devices to no claim; {needs}"
    assert str(explanation.fixes[-1]) == "upgrade to v1.36 -> 1 node"
    assert not explained("v1.34.4", *PARTS, claiming("other"), pod="default/p").version_rules
    assert not explained("v1.36.3", *PARTS, claiming("c"), pod="default/p").version_rules


@pytest.mark.parametrize(
    ("version", "needs"),
    [("v1.33.13", "v1.36"), ("v1.35.4", "v1.36 or the feature gate DRAExtendedResource"), ("v1.36.3", "")],
)
def test_a_resource_that_a_class_serves_later_names_that_version(version: str, needs: str) -> None:
    whole = decoded(resource_slice("n1", [device("a")]))
    objects = [*(one for one in PARTS if not isinstance(one, ResourceSlice)), *whole]
    explanation = explained(version, *objects, make_pod("new", requests={"example.com/gpu": "1"}))
    assert explanation.fits == (not needs)
    texts = [rule.text.partition(" does not ")[2] for rule in explanation.version_rules]
    assert texts == ([f"let DeviceClass gpu serve example.com/gpu; that needs {needs}"] if needs else [])
    if needs:
        assert str(explanation.fixes[-1]) == "upgrade to v1.36 -> 1 node"


LT_OR_GT = "does not compare the numbers of tolerations with the operator Lt or Gt"
GATE = "the feature gate TaintTolerationComparisonOperators"


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("v1.34.4", f"{GATE} exists since v1.35"),
        ("v1.36.3", f"{GATE} is off; it exists since v1.35"),
        ("v1.37.2", f"{GATE} is off; it exists since v1.35"),
    ],
)
def test_a_toleration_that_compares_numbers_names_its_gate(version: str, why: str) -> None:
    comparing = {"key": "sla", "operator": "Gt", "value": "900", "effect": "NoSchedule"}
    pod = make_pod("new", spec={"tolerations": [comparing]})
    fast, slow = make_node("fast", taints=["sla=950:NoSchedule"]), make_node("slow", taints=["sla=800:NoSchedule"])
    explanation = explained(version, fast, pod)
    (rule,) = explanation.version_rules
    assert rule.text == f"TaintToleration: {version[:5]} {LT_OR_GT}: {why}"
    assert "upgrade" not in {fix.kind for fix in explanation.fixes}
    assert not explained(version, slow, pod).version_rules


def test_with_its_gate_a_toleration_compares_numbers() -> None:
    comparing = {"key": "sla", "operator": "Gt", "value": "900", "effect": "NoSchedule"}
    pod = make_pod("new", spec={"tolerations": [comparing]})
    release = Release(36).with_gates({"TaintTolerationComparisonOperators": True})
    explanation = explain(
        [make_node("fast", taints=["sla=950:NoSchedule"]), pod], "default/new", set_up(release=release)
    )
    assert explanation.fits
    assert not explanation.version_rules


@pytest.mark.parametrize(("version", "fits"), [("v1.36.3", False), ("v1.37.2", True)])
def test_selectors_are_those_of_the_version(version: str, fits: bool) -> None:
    selector = f'device.attributes["{DRIVER}"].`model` == "H100"'
    objects = decoded(
        device_class("gpu", f'device.driver == "{DRIVER}"'),
        resource_slice("n1", [device("a", model="H100")]),
        resource_slice("n2", [device("b", model="A100")]),
        claim("c", ask(selectors=selecting(selector))),
    )
    explanation = explained(version, make_node("n1"), make_node("n2"), *objects, claiming("c"), pod="default/p")
    assert explanation.feasible == (["n1"] if fits else [])
    assert ("unsupported syntax" in explanation.message) is not fits
