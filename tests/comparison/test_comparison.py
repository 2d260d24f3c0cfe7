"""Whole comparisons on small clusters."""

import json
from io import BytesIO
from random import Random

import pytest

from kubesched.api import KubeObject, Pod
from kubesched.comparison import FIGURES, Candidate, Comparison, MoveCause, compare, packed
from kubesched.comparison.comparison import _is_beyond_chance
from kubesched.errors import InputError
from kubesched.framework import Plugin, Status
from kubesched.pages.comparisons import comparison_page
from kubesched.pages.comparisons.comparison_document import as_document
from kubesched.pages.formats import as_html
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.clusters import realistic
from tests.comparison.small_clusters import empty_nodes, owned, random_cluster, replicas
from tests.device_cluster import GPU, NOT_DECIDED, device_cluster
from tests.trials import one_in, seeds

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class OnlyFirst(Plugin):
    """Rejects every node but n0."""

    def filter(self, state, pod, node):
        return Status.SUCCESS if node.name == "n0" else Status.unschedulable("not the first node")


class LikesLast(Plugin):
    """Prefers n3."""

    def score(self, state, pod, node):
        return 100 if node.name == "n3" else 0


def spread_and_packed(objects, **said) -> Comparison:
    return compare(objects, Candidate("spread"), packed(Candidate("packed")), **{"seeds": 5, **said})


def figures(comparison: Comparison) -> dict[str, tuple[float, float]]:
    return {one.figure.name: (one.a, one.b) for one in comparison.differences}


def test_packing_uses_fewer_nodes_and_this_is_a_finding():
    comparison = spread_and_packed([*empty_nodes(), *replicas("web", 4)])
    assert figures(comparison)["nodesInUse"] == (4, 1)
    assert figures(comparison)["onOneNode"] == (0, 1)
    assert {"nodesInUse", "nodesFree", "skew"} <= {one.figure.name for one in comparison.findings}


@pytest.mark.parametrize("seed", seeds(3))
def test_a_configuration_against_itself_has_no_finding(seed: int):
    comparison = compare(random_cluster(seed), seeds=5, pods="all")
    assert comparison.findings == []
    assert comparison.moves == comparison.pending == ()


@pytest.mark.parametrize("shape", one_in(2, ["gke", "eks", "bare-metal"]))
def test_clusters_of_every_shape_have_their_figures(shape: str):
    snapshot = load_snapshot(BytesIO(realistic(shape, 40)))
    comparison = spread_and_packed(snapshot, seeds=5, pods="all")
    missing = {"pricePerHour", "devicesTaken", "devicesFree", "devicesMismatched"}
    missing |= {"skew"} if shape == "bare-metal" else set()
    assert {one.name for one in FIGURES} - set(figures(comparison)) == missing
    assert {"cpuMedian", "cpuP95"} & {one.figure.name for one in comparison.findings}
    assert comparison.providers == (("eks",) if shape == "eks" else ())


def test_ties_alone_make_a_range_and_no_finding():
    comparison = compare([*empty_nodes(), *replicas("web", 2, "1", node="n0"), make_pod("one")], seeds=6)
    (moved,) = (one for one in comparison.differences if one.figure.name == "moved")
    assert moved.range_a[1] == 1
    assert not moved.is_finding


@pytest.mark.parametrize(
    ("of_a", "of_b", "n", "is_finding"),
    [
        ((1, 2), (3, 4), 5, True),
        ((3, 4), (1, 2), 5, True),
        ((1, 3), (3, 4), 5, False),
        ((1, 3), (2, 44), 19, False),
        ((1, 3), (2, 44), 20, True),
        ((2, 44), (1, 3), 20, True),
        ((1, 3), (2, 3), 20, False),
    ],
)
def test_what_is_beyond_chance_depends_on_the_number_of_runs(of_a, of_b, n, is_finding):
    assert _is_beyond_chance(of_a[1], of_b[1], of_a, of_b, n) == is_finding


def test_chance_makes_few_findings():
    rng = Random(1)
    for n, at_most in ((5, 12), (7, 3), (20, 3)):
        found_by_chance = 0
        for _ in range(1000):
            sides = [sorted(rng.random() for _ in range(n)) for _ in range(2)]
            (a, range_a), (b, range_b) = ((one[(n - 1) // 2], (one[0], one[-1])) for one in sides)
            found_by_chance += _is_beyond_chance(a, b, range_a, range_b, n)
        assert found_by_chance <= at_most


def test_the_same_input_gives_the_same_document():
    first, second = (as_document(spread_and_packed(random_cluster(1), pods="all")) for _ in range(2))
    assert first == second


def test_html_shows_the_nodes_of_both_sides_beside_each_other():
    comparison = spread_and_packed([*empty_nodes(), *replicas("web", 4)])
    assert [(fill.before["cpu"], fill.after.get("cpu", 0)) for fill in comparison.fills] == [
        (500, 2000),
        *[(500, 0)] * 3,
    ]
    page = as_html(comparison_page(comparison))
    assert '<th scope="col">A</th><th scope="col">B</th>' in page
    assert "Nodes: requested of allocatable, A and B" in page
    assert page.count("<i class=h") == 3 * 2 * 4  # cpu, memory and pods, A and B, of four nodes


def test_a_pod_that_one_side_leaves_pending_is_listed():
    pods = replicas("web", 3, "2")
    comparison = compare([*empty_nodes(2), *pods], None, Candidate("first", plugins=[OnlyFirst]), seeds=5)
    assert [(one.pod, one.workload, one.n_a, one.n_b) for one in comparison.pending] == [
        ("default/web-2", "StatefulSet default/web", 0, 5)
    ]
    back = compare([*empty_nodes(2), *pods], Candidate("first", plugins=[OnlyFirst]), None, seeds=5)
    assert [(one.n_a, one.n_b) for one in back.pending] == [(5, 0)]
    for (left,) in (comparison.pending, back.pending):
        assert left.cause == "1 node: not the first node"  # which is OnlyFirst's reason


def test_a_moved_pod_names_the_plugin_with_the_largest_difference():
    comparison = compare([*empty_nodes(), make_pod("web")], None, Candidate("last", plugins=[LikesLast]), seeds=5)
    (move,) = comparison.moves
    assert (move.pod, move.a, move.b) == ("default/web", "n0", "n3")
    assert (move.cause, move.plugin, move.points) == (MoveCause.SCORE, "LikesLast", 100)


def test_a_moved_pod_names_the_plugin_that_rejects_the_node():
    busy = make_pod("busy", node="n0", requests={"cpu": "2"})
    comparison = compare(
        [*empty_nodes(2), busy, make_pod("web")], None, Candidate("first", plugins=[OnlyFirst]), seeds=5
    )
    (move,) = comparison.moves
    assert (move.a, move.b, move.cause, move.plugin) == ("n1", "n0", MoveCause.FILTER, "OnlyFirst")


class StaysPut(Plugin):
    """Prefers n0 for web-0 and n1 for web-1."""

    def score(self, state, pod, node):
        return 100 if pod.name[-1] == node.name[-1] else 0


class SwapsTwo(Plugin):
    """Prefers for each of two replicas the node that the other one gets without it."""

    def score(self, state, pod, node):
        return 100 if (pod.name, node.name) in (("web-0", "n1"), ("web-1", "n0"), ("db-0", "n3")) else 0


def swapped(*pods: KubeObject) -> Comparison:
    """Both sides place two pods on two nodes, which have room for one each."""
    nodes = [make_node(f"n{i}", allocatable={"cpu": "4"}) for i in range(2)]
    return compare([*nodes, *pods], _prefers(StaysPut), _prefers(SwapsTwo), seeds=5)


def _prefers(plugin: type[Plugin]) -> Candidate:
    return Candidate(plugin.__name__, plugins=[plugin])


def test_replicas_that_swap_their_nodes_have_not_moved():
    comparison = swapped(*replicas("web", 2, "3", kind="ReplicaSet"))
    assert comparison.moves == ()
    assert figures(comparison)["moved"] == (0, 0)


def test_pods_of_a_stateful_set_that_swap_their_nodes_have_moved():
    comparison = swapped(*replicas("web", 2, "3"))
    assert [(move.pod, move.a, move.b) for move in comparison.moves] == [
        ("default/web-0", "n0", "n1"),
        ("default/web-1", "n1", "n0"),
    ]
    assert figures(comparison)["moved"] == (0, 2)


def test_pods_of_one_workload_that_request_different_amounts_have_moved_if_they_swap_their_nodes():
    (small, _), (_, large) = (replicas("web", 2, cpu, kind="ReplicaSet") for cpu in ("2500m", "3"))
    assert figures(swapped(small, large))["moved"] == (0, 2)


def test_pods_of_two_replica_sets_of_a_deployment_have_moved_if_they_swap_their_nodes():
    sets = [make_object("ReplicaSet", f"web-{i}", metadata=owned("Deployment", "web"), spec={}) for i in "ab"]
    pods = [
        make_pod(f"web-{i}", requests={"cpu": "3"}, metadata=owned("ReplicaSet", f"web-{of}"))
        for i, of in enumerate("ab")
    ]
    assert figures(swapped(*sets, *pods))["moved"] == (0, 2)


def test_a_replica_that_moves_has_the_node_that_its_workload_leaves_and_the_plugin_behind_it():
    web = replicas("web", 2, "1", kind="ReplicaSet")
    cluster = [*empty_nodes(3), *web, make_node("n3", zone="b"), *replicas("db", 1)]
    comparison = compare(cluster, None, Candidate("swapped", plugins=[SwapsTwo]), seeds=5)
    (move,) = comparison.moves
    assert (move.pod, move.a, move.b) == ("default/db-0", "n2", "n3")
    assert (move.cause, move.plugin) == (MoveCause.SCORE, "SwapsTwo")


class ShiftsAll(Plugin):
    """Prefers for each of three replicas the next node, and for the last one n3."""

    def score(self, state, pod, node):
        return 100 if (pod.name, node.name) in (("web-0", "n1"), ("web-1", "n2"), ("web-2", "n3")) else 0


def test_one_replica_moves_if_all_take_the_node_of_the_next_one():
    comparison = compare(
        [*empty_nodes(), *replicas("web", 3, "1", kind="ReplicaSet")],
        None,
        Candidate("shifted", plugins=[ShiftsAll]),
        seeds=5,
    )
    (move,) = comparison.moves
    assert (move.pod, move.a, move.b) == ("default/web-2", "n0", "n3")
    assert (move.cause, move.plugin, move.points) == (MoveCause.SCORE, "ShiftsAll", 100)


def _without(point: str, name: str) -> Candidate:
    plugins = f"{point}: {{disabled: [{{name: {name}}}]}}"
    return Candidate("without", f"{HEADER}profiles: [{{plugins: {{{plugins}}}}}]\n".encode())


def test_a_filter_that_b_no_longer_has_is_named_and_not_the_scores_that_then_decide():
    tainted = make_node("big", allocatable={"cpu": "16"}, taints=["pool=db:NoSchedule"])
    cluster = [make_node("plain"), tainted, make_pod("web", requests={"cpu": "1"})]
    without = _without("multiPoint", "TaintToleration")
    (move,) = compare(cluster, None, without, seeds=5).moves
    assert (move.a, move.b, move.cause, move.plugin) == ("plain", "big", MoveCause.OPENED, "TaintToleration")
    (back,) = compare(cluster, without, None, seeds=5).moves
    assert (back.a, back.b, back.cause, back.plugin) == ("big", "plain", MoveCause.FILTER, "TaintToleration")


def test_a_node_that_pre_filter_leaves_out_is_named_with_the_plugin_of_its_side():
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["small"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned}}}
    cluster = [make_node("small"), make_node("big", allocatable={"cpu": "64"})]
    pod = make_pod("web", requests={"cpu": "1"}, spec={"affinity": affinity})
    (move,) = compare([*cluster, pod], None, _without("multiPoint", "NodeAffinity"), seeds=5).moves
    assert (move.a, move.b, move.cause, move.plugin) == ("small", "big", MoveCause.OPENED, "NodeAffinity")


def test_a_score_that_b_no_longer_has_is_named_and_not_those_that_are_the_same():
    there = {"images": [{"names": ["registry.example.com/web:1"], "sizeBytes": 900_000_000}]}
    image = make_node("image", status=there)
    pod = make_pod("web", requests={"cpu": "3", "memory": "6Gi"}, image="registry.example.com/web:1")
    without = _without("score", "NodeResourcesFit")
    (move,) = compare(
        [make_node("big", allocatable={"cpu": "64", "memory": "128Gi"}), image, pod], None, without, seeds=5
    ).moves
    assert (move.a, move.b, move.cause, move.plugin) == ("big", "image", MoveCause.SCORE, "NodeResourcesFit")
    assert move.points > 0


def test_pods_that_may_not_be_created_again_are_named_where_they_are_placed_again():
    owner = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "w", "uid": "w", "controller": True}
    step = make_pod("step", node="n0", metadata={"ownerReferences": [owner]})
    cluster = [*empty_nodes(), *replicas("web", 2, "1", node="n0"), step]
    comparison = compare(cluster, seeds=5, pods="all")
    assert comparison.may_be_lost == ("default/step",)
    assert "1 pod that is placed again may be lost if evicted" in as_html(comparison_page(comparison))
    assert compare(cluster, seeds=5).may_be_lost == ()


def test_all_places_what_a_controller_would_re_create_and_nothing_else():
    stays = [
        make_pod("bare", node="n0"),
        make_pod("agent", node="n0", metadata=owned("DaemonSet", "agent")),
        make_pod("static", node="n0", metadata=owned("Node", "n0")),
        make_pod("done", node="n0", metadata=owned("Job", "done"), status={"phase": "Succeeded"}),
        make_pod("foreign", node="n0", metadata=owned("Job", "foreign"), spec={"schedulerName": "volcano"}),
        make_pod("lost", node="gone", metadata=owned("Job", "lost")),
    ]
    going = {**owned("Job", "x"), "deletionTimestamp": "2026-01-01T00:00:00Z"}
    stays.append(make_pod("leaving", node="n0", metadata=going))
    objects = [*empty_nodes(), *replicas("web", 3, node="n0"), make_pod("new"), *stays]
    assert compare(objects, pods="all", seeds=5).n_pods == 4
    assert compare(objects, seeds=5).n_pods == 1


def test_a_rollout_places_the_selected_pods_and_those_that_wait():
    objects = [*empty_nodes(), *replicas("web", 3, node="n0"), *replicas("db", 2, node="n1"), make_pod("new")]
    comparison = compare(objects, pods="rollout=app in (web)", seeds=5)
    assert (comparison.n_pods, str(comparison.choice)) == (4, "rollout=app in (web)")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"pods": "al"}, 'pods: found "al"; did you mean "all"?'),
        ({"pods": "rollout"}, "expected pending, all, or rollout=SELECTOR"),
        ({"pods": "rollout="}, "rollout has no selector"),
        ({"pods": "rollout=app=nothing"}, "selects no running pod that a controller would re-create"),
        ({"pods": "rollout=app=((("}, "is not a label requirement"),
        ({"seeds": 4}, "seeds: found 4; expected at least 5"),
    ],
)
def test_a_wrong_argument_is_one_sentence(said: dict, words: str):
    with pytest.raises(InputError) as raised:
        compare([make_node("n")], **said)
    assert words in str(raised.value)


def test_progress_counts_the_runs():
    seen: list[tuple[int, int]] = []
    compare(empty_nodes(), seeds=5, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(i, 14) for i in range(1, 15)]


def test_the_snapshot_is_not_changed():
    objects = [*empty_nodes(), *replicas("web", 2, node="n0")]
    compare(objects, pods="all", seeds=5)
    assert [one.node_name for one in objects if isinstance(one, Pod)] == ["n0", "n0"]


class HoldsBack(Plugin):
    """Keeps every pod out of the queue."""

    def pre_enqueue(self, pod):
        return Status.unresolvable("not yet")


def test_pods_that_one_side_holds_back_are_pending_on_that_side():
    comparison = compare([*empty_nodes(), make_pod("web")], None, Candidate("held", None, [HoldsBack]), seeds=5)
    (pending,) = comparison.pending
    assert (pending.pod, pending.n_a, pending.n_b) == ("default/web", 0, 5)
    assert pending.cause.startswith("gated by plugin HoldsBack: not yet")


class Fails(Plugin):
    """Raises in its filter."""

    def filter(self, state, pod, node):
        raise ValueError("boom")


def test_a_plugin_that_fails_is_the_verdict_and_no_finding():
    comparison = compare([*empty_nodes(), *replicas("web", 2)], None, Candidate("fails", plugins=[Fails]), seeds=5)
    of_a, of_b = comparison.faults
    assert of_a == ""
    assert of_b.startswith("2 pods end in SchedulerError; default/web-0: ")
    assert "boom" in of_b
    assert "A plugin fails" in comparison_page(comparison).verdict.text
    assert as_document(comparison)["faults"]["b"] == of_b


def test_workloads_that_are_spread_in_another_way_are_named():
    comparison = spread_and_packed([*empty_nodes(), *replicas("web", 4), *replicas("db", 1)])
    (one,) = comparison.spreads
    assert (one.workload, one.a.skew, one.b.skew) == ("StatefulSet default/web", 0, 4)
    assert (one.a.is_on_one_node, one.b.is_on_one_node) == (False, True)
    (table,) = (part for part in comparison_page(comparison).parts if getattr(part, "name", "") == "spreads")
    assert [str(getattr(cell, "text", cell)) for cell in table.rows[0]] == ["StatefulSet default/web", "0", "4", "B"]


@pytest.mark.usefixtures("no_search")
def test_pods_that_cannot_be_decided_are_told_and_are_no_finding():
    waiting = [make_pod(f"gpu-{i}", requests={GPU: 1}) for i in range(2)]
    comparison = compare([*device_cluster(), *waiting], None, None, seeds=5)
    assert comparison.undecided == (f"2 pods cannot be decided: {NOT_DECIDED}",) * 2
    assert comparison.findings == []
    page = str(comparison_page(comparison).parts)
    assert f"Counted as pending on both sides, {comparison.undecided[0]}." in page
    assert "Part of the difference" not in page


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("side", ["a", "b"])
def test_pods_that_one_side_alone_cannot_decide_are_told_of_that_side(side: str):
    off = {"name": "DynamicResources"}
    points = {point: {"disabled": [off]} for point in ("multiPoint", "preEnqueue", "preFilter", "filter", "score")}
    without = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": points}],
    }
    waiting = [make_pod(f"gpu-{i}", requests={GPU: 1}) for i in range(2)]
    text = json.dumps(without).encode()
    sides = (None, text) if side == "a" else (text, None)
    comparison = compare([*device_cluster(), *waiting], *sides, seeds=5)
    why = f"2 pods cannot be decided: {NOT_DECIDED}"
    assert as_document(comparison)["undecided"] == {"a": "", "b": ""} | {side: why}
    page = str(comparison_page(comparison).parts)
    assert f"Counted as pending with {side.upper()}, {why}." in page
    assert f"some pods count as pending with {side.upper()} only because" in page
    assert "on both sides" not in page
