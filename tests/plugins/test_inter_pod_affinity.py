"""InterPodAffinity: near some pods, away from others, as existing pods ask for, too."""

from random import Random

import numpy as np
import pytest

from kubesched.framework import Code, CycleState
from kubesched.plugins import InterPodAffinity, inter_pod_affinity
from kubesched.plugins.args import InterPodAffinityArgs
from kubesched.state import PodBatch
from kubesched.testing import FakeCluster, filter_all, make_node, make_object, make_pod, score_all

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NODES = [make_node("a1", zone="a"), make_node("a2", zone="a"), make_node("b1", zone="b"), make_node("none")]
RULES, ANTI, EXISTING = (
    "node(s) didn't match pod affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't satisfy existing pods anti-affinity rules",
)


def term(app: str | None, key: str = ZONE, **said) -> dict:
    selector = {"matchLabels": {"app": app}} if app else {}
    return {"topologyKey": key, "labelSelector": selector, **said}


def wanting(name: str = "p", *, near: list | None = None, far: list | None = None, node: str = "", **said):
    affinity = {}
    for kind, terms in (("podAffinity", near), ("podAntiAffinity", far)):
        if terms:
            affinity[kind] = {REQUIRED: terms}
    return make_pod(name, node=node, spec={"affinity": affinity}, **said)


def preferring(name: str = "p", *, near: list | None = None, far: list | None = None, node: str = "", **said):
    affinity = {}
    for kind, terms in (("podAffinity", near), ("podAntiAffinity", far)):
        if terms:
            affinity[kind] = {PREFERRED: [{"weight": w, "podAffinityTerm": t} for w, t in terms]}
    return make_pod(name, node=node, spec={"affinity": affinity}, **said)


def app(name: str, node: str, label: str = "", **said):
    return make_pod(name, node=node, labels={"app": label or name}, **said)


def said(pod, *pods, nodes=NODES, objects=()) -> dict[str, str]:
    found = filter_all(InterPodAffinity(), pod, nodes, pods, objects)
    return {name: status.message for name, status in found.items() if not status.is_success}


def test_affinity_wants_a_matching_pod_in_the_domain() -> None:
    found = filter_all(InterPodAffinity(), wanting(near=[term("db")]), NODES, [app("db", "a1")])
    assert {name for name, status in found.items() if status.is_success} == {"a1", "a2"}
    assert {(found[n].code, found[n].message) for n in ("b1", "none")} == {(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, RULES)}


def test_all_affinity_terms_must_be_met_by_the_same_pod() -> None:
    both = make_pod("x", node="a1", labels={"app": "db", "tier": "back"})
    tier = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"tier": "back"}}}
    pod = wanting(near=[term("db"), tier])
    assert "a1" not in said(pod, both)
    assert "a1" in said(pod, app("db", "a1"), make_pod("y", node="a1", labels={"tier": "back"}))


def test_the_first_pod_of_its_kind_may_go_anywhere_that_has_the_key() -> None:
    first = wanting(near=[term("web")], labels={"app": "web"})
    assert said(first) == {"none": RULES}
    assert said(first, app("web", "b1")) == dict.fromkeys(("a1", "a2", "none"), RULES)
    assert set(said(wanting(near=[term("web")]))) == {"a1", "a2", "b1", "none"}


def test_anti_affinity_keeps_away_from_the_domain() -> None:
    found = filter_all(InterPodAffinity(), wanting(far=[term("db")]), NODES, [app("db", "a1")])
    assert {name for name, status in found.items() if not status.is_success} == {"a1", "a2"}
    assert (found["a1"].code, found["a1"].message) == (Code.UNSCHEDULABLE, ANTI)


def test_anti_affinity_keeps_away_from_what_any_of_its_terms_means() -> None:
    pod = wanting(far=[term("db"), term("cache")])
    assert said(pod, app("db", "a1"), app("cache", "b1")) == dict.fromkeys(("a1", "a2", "b1"), ANTI)
    assert said(pod, app("db", "a1"), app("cache", "a2")) == dict.fromkeys(("a1", "a2"), ANTI)


def test_existing_pods_keep_others_away() -> None:
    loner = wanting("loner", far=[term("web", HOST)], node="a1", labels={"app": "db"})
    assert said(make_pod("p", labels={"app": "web"}), loner) == {"a1": EXISTING}
    assert said(make_pod("p", labels={"app": "db"}), loner) == {}


def test_affinity_is_named_before_anti_affinity_and_existing_pods_come_last() -> None:
    loner = wanting("loner", far=[term("web", HOST)], node="a1", labels={"app": "db"})
    pod = wanting(near=[term("cache")], far=[term("db", HOST)], labels={"app": "web"})
    assert said(pod, loner)["a1"] == RULES
    assert said(pod, loner, app("cache", "a2"))["a1"] == ANTI


def test_a_term_means_its_own_namespace_unless_it_names_others() -> None:
    elsewhere = app("db", "a1", namespace="prod")
    assert said(wanting(far=[term("db")]), elsewhere) == {}
    assert set(said(wanting(far=[term("db", namespaces=["prod"])]), elsewhere)) == {"a1", "a2"}
    assert set(said(wanting(far=[term("db", namespaceSelector={})]), elsewhere)) == {"a1", "a2"}


@pytest.mark.parametrize(("team", "away"), [("red", {"a1", "a2"}), ("blue", set())])
def test_a_namespace_selector_looks_at_the_labels_of_namespaces(team: str, away: set[str]) -> None:
    namespace = make_object("Namespace", "prod", labels={"team": "red"})
    pod = wanting(far=[term("db", namespaceSelector={"matchLabels": {"team": team}})])
    assert set(said(pod, app("db", "a1", namespace="prod"), objects=[namespace])) == away


def test_a_selector_that_does_not_parse_turns_the_pod_down() -> None:
    bad = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
    (message,) = set(said(wanting(near=[bad])).values())
    assert message.startswith("parsing pod: ")


def scores(pod, *pods, args: InterPodAffinityArgs | None = None) -> dict[str, int]:
    return score_all(InterPodAffinity(args), pod, NODES, pods)


def test_preferred_terms_earn_their_weight_per_matching_pod() -> None:
    pod = preferring(near=[(10, term("db"))], far=[(5, term("web", HOST))])
    placed = [app("db", "a1"), app("db2", "b1", "db"), app("db3", "b1", "db"), app("web", "b1")]
    assert scores(pod, *placed) == {"a1": 66, "a2": 66, "b1": 100, "none": 0}  # 10, 10, 15, 0


def test_existing_pods_preferences_count_for_the_incoming_one() -> None:
    likes = preferring("likes", near=[(10, term("web"))], node="a1")
    dislikes = preferring("dislikes", far=[(10, term("web", HOST))], node="a2")
    assert scores(make_pod("p", labels={"app": "web"}), likes, dislikes) == {"a1": 100, "a2": 0, "b1": 0, "none": 0}


def test_existing_pods_requirements_count_with_the_configured_weight() -> None:
    wants = wanting("wants", near=[term("web")], node="a1")
    other = preferring("likes", near=[(20, term("web"))], node="b1")
    pod = make_pod("p", labels={"app": "web"})
    assert scores(pod, wants, other)["a1"] == 5  # 1 of 20
    assert scores(pod, wants, other, args=InterPodAffinityArgs(hard_pod_affinity_weight=40))["b1"] == 50


def test_without_terms_that_matter_the_score_is_skipped() -> None:
    assert scores(make_pod("p"), app("db", "a1")) == {}
    likes = preferring("likes", near=[(10, term("web"))], node="a1")
    ignoring = InterPodAffinityArgs(ignore_preferred_terms_of_existing_pods=True)
    assert scores(make_pod("p", labels={"app": "web"}), likes, args=ignoring) == {}


@pytest.mark.parametrize("seed", range(10))
def test_many_terms_count_as_few_ones_do(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From some number of terms on they are counted together; the answer is that of one after another."""
    rng = Random(seed)
    placed = [app(f"p{i}", rng.choice(["a1", "a2", "b1", "none"]), rng.choice("uvwxyz")) for i in range(6)]
    terms = [term(rng.choice("uvwxyz"), rng.choice([HOST, ZONE, "absent"])) for _ in range(4)]
    weighted = [(rng.randint(1, 3), term(rng.choice("uvwxyz"), rng.choice([HOST, ZONE]))) for _ in range(6)]
    pods = [wanting(far=terms), preferring(near=weighted[:3], far=weighted[3:]), preferring(far=weighted)]
    answers = []
    for many in (1, 1000):
        monkeypatch.setattr(inter_pod_affinity, "MANY_TERMS", many)
        answers.append([(filter_all(InterPodAffinity(), pod, NODES, placed), scores(pod, *placed)) for pod in pods])
    assert answers[0] == answers[1]


def test_what_if_moves_count_every_term() -> None:
    """Two terms mean the pod on a1, and one of them the other pod there: only without both is there room."""
    with FakeCluster(InterPodAffinity(), nodes=NODES, pods=[app("x", "a1"), app("y", "a1")]) as cluster:
        both = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x", "y"]}]}
        info = cluster.cluster_state.pod_info(
            wanting(far=[term("x", HOST), {"topologyKey": HOST, "labelSelector": both}])
        )
        state = CycleState(info)
        framework = cluster.framework
        framework.run_pre_filter(state, info.pod, cluster.nodes)
        what_if = cluster.handle.what_if(state, info.pod, cluster.nodes)
        pods = {one.pod.name: one for one in cluster.nodes.pods(0)}
        fits = []
        for name in ("x", "y"):
            what_if.remove(np.array([0]), PodBatch([pods[name]]))
            fits.append(bool(what_if.fits()[0]))
        what_if.add(np.array([0]), PodBatch([pods["x"]]))
        assert [*fits, bool(what_if.fits()[0])] == [False, True, False]
