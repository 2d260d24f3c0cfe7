import pytest

from kubesched.framework import Status
from kubesched.plugins import VolumeBinding
from tests.plugins.one_plugin import Asked, node, pod, read
from tests.plugins.storage_objects import (
    HOST,
    SELECTED_NODE,
    ZONE,
    claim,
    csi_node,
    one_of,
    storage_class,
    uses,
    volume,
)

NODES = [node(name, labels={HOST: name, ZONE: f"z-{name}"}) for name in ("a", "b")]
LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
NONE_TO_BIND = "node(s) didn't find available persistent volumes to bind"
GONE = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def ask(items: list[dict], *claims: str) -> Asked:
    return Asked(VolumeBinding(), [*NODES, LOCAL, storage_class("csi"), *items], pod(volumes=uses(*claims)))


def verdicts(items: list[dict], *claims: str) -> dict[str, Status]:
    asked = ask(items, *claims)
    assert asked.pre_filter() == Status.SUCCESS
    return asked.filter()


# --- PreFilter ---


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        (
            [claim("c", volume="pv", phase="Lost")],
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "pv"',
        ),
        (
            [claim("c", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            'persistentvolumeclaim "c" is being deleted',
        ),
        ([claim("c")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", "missing")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", "csi", volume="pv", annotations={"x": "y"})], "pod has unbound immediate PersistentVolumeClaims"),
    ],
)
def test_a_claim_that_cannot_be_had_rejects_the_pod(items: list[dict], reason: str):
    assert ask(items, "c").pre_filter() == Status.unresolvable(reason)


def test_a_class_must_say_when_it_binds():
    items = [claim("c", "x"), storage_class("x", mode=None)]
    assert ask(items, "c").pre_filter() == Status.error('VolumeBindingMode not set for StorageClass "x"')


def test_an_ephemeral_claim_must_exist_and_be_the_pods_own():
    ephemeral = pod(volumes=[{"name": "v", "ephemeral": {}}])
    asked = Asked(VolumeBinding(), NODES, ephemeral)
    text = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v"'
    assert asked.pre_filter() == Status.unresolvable(text)
    asked = Asked(VolumeBinding(), [*NODES, claim("p-v")], ephemeral)
    text = "PVC default/p-v was not created for pod default/p (pod is not owner)"
    assert asked.pre_filter() == Status.unresolvable(text)


def test_a_pod_without_claims_is_skipped_and_has_nothing_to_reserve():
    asked = ask([])
    assert asked.pre_filter() == Status.SKIP
    assert asked.plugin.reserve(asked.state, asked.pod, "a") == Status.SUCCESS
    assert asked.plugin.pre_bind_pre_flight(asked.state, asked.pod, "a") == Status.SKIP


def test_without_pre_filter_filter_and_reserve_fail():
    asked = ask([claim("c", "local")], "c")
    with pytest.raises(RuntimeError, match=r"^not found$"):
        asked.filter()
    assert asked.plugin.reserve(asked.state, asked.pod, "a") == Status.error("not found")


# --- Filter ---


def test_a_bound_volume_is_reached_by_node_affinity():
    items = [claim("c", volume="pv"), volume("pv", on=("a",))]
    assert verdicts(items, "c") == {"b": Status.unresolvable(AFFINITY)}


def test_problems_of_bound_and_unbound_claims_are_told_together_in_a_fixed_order():
    items = [claim("c", volume="gone"), claim("d", "local"), volume("local", "local", on=("b",))]
    assert verdicts(items, "c", "d") == {"a": Status.unresolvable(NONE_TO_BIND, GONE), "b": Status.unresolvable(GONE)}


def test_the_first_bound_claim_with_a_problem_is_the_one_that_counts():
    items = [claim("c", volume="pv"), volume("pv", on=("a",)), claim("d", volume="gone")]
    assert verdicts(items, "c", "d") == {"a": Status.unresolvable(GONE), "b": Status.unresolvable(AFFINITY)}


def test_claims_with_a_selected_node_go_there_or_nowhere():
    selected = [claim(name, "csi", annotations={SELECTED_NODE: node}) for name, node in (("c", "a"), ("d", "b"))]
    assert verdicts(selected, "c") == {"b": Status.unresolvable(NONE_TO_BIND)}
    assert verdicts(selected, "c", "d") == dict.fromkeys("ab", Status.unresolvable(NONE_TO_BIND))


def test_the_first_claim_that_cannot_be_provisioned_is_the_one_that_counts():
    items = [
        claim("c", "nowhere", annotations={SELECTED_NODE: "a"}),
        claim("d", "csi", annotations={SELECTED_NODE: "a"}),
        storage_class("nowhere", allowedTopologies=[{}]),
    ]
    assert verdicts(items, "c", "d") == dict.fromkeys("ab", Status.unresolvable(NONE_TO_BIND))


def test_in_tree_volumes_are_translated_where_their_plugin_was_migrated():
    labels = {"topology.gke.io/zone": "z-b"}
    items = [
        node("m", labels=labels),
        csi_node("m", migrated="kubernetes.io/aws-ebs,kubernetes.io/gce-pd"),
        node("old", labels=labels),
        claim("c", volume="pv"),
        volume("pv", terms=[one_of(ZONE, "z-b")], gcePersistentDisk={"pdName": "d"}),
    ]
    assert verdicts(items, "c") == dict.fromkeys(("a", "old"), Status.unresolvable(AFFINITY))


def test_a_volume_that_cannot_be_translated_fails_the_migrated_nodes_that_got_so_far():
    items = [
        csi_node("a", migrated="kubernetes.io/gce-pd"),
        csi_node("b", migrated="kubernetes.io/gce-pd"),
        claim("first", volume="first"),
        volume("first", on=("a",)),
        claim("c", volume="pv"),
        volume("pv", labels={ZONE: "us-east1-a__x"}, gcePersistentDisk={"pdName": "d"}),
    ]
    fault = (
        "could not translate pv: failed to get region from zones: zone in unexpected format, "
        "expected: {locale}-{region}-{zone}, got: x"
    )
    assert verdicts(items, "first", "c") == {"a": Status.error(fault), "b": Status.unresolvable(AFFINITY)}


def test_a_selector_that_does_not_parse_fails_the_nodes_on_which_volumes_are_looked_for():
    wrong = {"matchExpressions": [{"key": "k", "operator": "Near"}]}
    items = [claim("c", "local", selector=wrong), claim("d", "csi", annotations={SELECTED_NODE: "b"})]
    found = verdicts(items, "c", "d")
    assert found["a"] == Status.unresolvable(NONE_TO_BIND)
    assert found["b"].message.startswith("error creating internal label selector for claim: default/c: ")


# --- Reserve ---


def reserve(asked: Asked, node_name: str) -> None:
    assert asked.pre_filter() == Status.SUCCESS
    asked.cluster.assume(asked.state.pod, node_name)
    assert asked.plugin.reserve(asked.state, asked.pod, node_name) == Status.SUCCESS


def test_what_was_reserved_is_taken_for_the_next_pod_until_it_is_forgotten():
    items = [
        claim("c", "local"),
        claim("d", "local"),
        volume("only", "local", on=("a",)),
        volume("b", "local", on=("b",)),
    ]
    asked = ask(items, "c")
    reserve(asked, "a")
    assert asked.plugin.pre_bind_pre_flight(asked.state, asked.pod, "a") == Status.SUCCESS
    taken = asked.cluster.objects.get("PersistentVolume", "only")
    assert (taken.spec.claim_ref.name, taken.spec.claim_ref.uid) == ("c", "uid-c")
    assert taken.annotations == {"pv.kubernetes.io/bound-by-controller": "yes"}
    nextone = Asked(VolumeBinding(), [], pod("next", volumes=uses("d")))
    nextone.plugin.handle = asked.plugin.handle
    nextone.pre_filter()
    assert nextone.filter(asked.cluster.snapshot().nodes) == {"a": Status.unresolvable(NONE_TO_BIND)}
    asked.plugin.unreserve(asked.state, asked.pod, "a")
    asked.cluster.forget(asked.pod)
    assert nextone.filter(asked.cluster.snapshot().nodes) == {}
    assert asked.cluster.objects.get("PersistentVolume", "only") == read(items[2])


def test_a_claim_to_be_provisioned_is_told_the_node():
    asked = ask([claim("c", "csi", annotations={"k": "v"})], "c")
    reserve(asked, "b")
    told = asked.cluster.objects.get("PersistentVolumeClaim", "default/c")
    assert told.annotations == {"k": "v", SELECTED_NODE: "b"}


def test_a_volume_that_the_user_reserved_keeps_its_annotations():
    items = [claim("c", "local"), volume("kept", "local", taker="c")]
    items[1]["spec"]["claimRef"].pop("uid")
    asked = ask(items, "c")
    reserve(asked, "a")
    kept = asked.cluster.objects.get("PersistentVolume", "kept")
    assert (kept.spec.claim_ref.uid, kept.annotations) == ("uid-c", {})


def test_bound_claims_leave_nothing_to_reserve():
    asked = ask([claim("c", volume="pv"), volume("pv")], "c")
    reserve(asked, "a")
    assert asked.plugin.pre_bind_pre_flight(asked.state, asked.pod, "a") == Status.SKIP
