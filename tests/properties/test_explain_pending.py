"""`explain` without a pod gives each pending pod the answer of `simulate`: its state, its node and every number."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from campaigns.oracle import more
from kubesched.explanation import Explainer, State
from kubesched.pages.explanations import Rows, overview_page
from kubesched.planning import PendingPods
from kubesched.session import Placement, PodState, Simulator, without_post_filter
from kubesched.setup import set_up
from tests.cli.clusters import run
from tests.properties.cluster_walk import generated, read
from tests.trials import examples

FEATURES = sorted(set(more.USUAL) - {"profiles"})
PLACED = (State.FITS, State.PREEMPTS)

clusters = given(
    seed=st.integers(0, 2**16),
    nodes=st.integers(0, 6),
    bound=st.integers(0, 25),
    pending=st.integers(0, 12),
    features=st.lists(st.sampled_from(FEATURES), max_size=3, unique=True),
)


def made(seed: int, nodes: int, bound: int, pending: int, features: list[str]) -> list[dict]:
    return generated(
        seed,
        nodes=nodes,
        bound=bound if nodes else 0,
        pending=pending,
        features=tuple(features) if nodes else (),
    )


@examples(12)
@clusters
def test_every_number_of_the_overview_is_that_of_the_simulation(seed, nodes, bound, pending, features) -> None:
    objects = [read(item) for item in made(seed, nodes, bound, pending, features)]
    simulator, n_feasible = Simulator(objects, set_up(None)), {}
    simulator.decisions = lambda decision: n_feasible.__setitem__(decision.pod.key, decision.n_feasible)
    report = simulator.run()
    served = {one.pod: one for one in report.placements if one.profile}
    rows = Rows()
    with PendingPods(objects, set_up(None), lambda pod: pod.key) as found:
        answers = list(found.answers())
        for answer in answers:
            rows.take(answer)
        page = overview_page(rows, foreign=found.foreign)
    assert [answer.pod for answer in answers] == list(served)
    has_victims = any(one.victims for one in report.placements)  # whose room a pod without victims of its own may take
    for answer in answers:
        one = served[answer.pod]
        assert answer.node == one.node
        assert answer.state is wanted(one) or (
            has_victims and (answer.state, wanted(one)) == (State.PREEMPTS, State.FITS)
        )
        if answer.state is State.NOWHERE:
            assert answer.cause == without_post_filter(one.message)
        if answer.pod in n_feasible:
            assert answer.n_fit == n_feasible[answer.pod]
    n_placed = sum(one.state is PodState.SCHEDULED and not one.evicted_by for one in report.placements)
    said = [int(part.split()[0]) for part in page.verdict.text.partition(": ")[2].split(", ") if is_placed(part)]
    assert sum(said) == n_placed
    n_foreign = len(report.placements) - len(served)
    assert len(found.foreign) == n_foreign


@examples(4)
@clusters
@example(seed=46507, nodes=3, bound=11, pending=7, features=["ephemeral"])  # a plugin fails for a pod that is stuck
def test_the_first_lines_of_explain_and_simulate_begin_with_the_same_counts(
    seed, nodes, bound, pending, features
) -> None:
    items = [among_others(item, i) for i, item in enumerate(made(seed, nodes or 1, bound, pending, features))]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        first = {command: first_line(run(command, path).stdout) for command in ("explain", "simulate")}
        documents = {command: json.loads(run(command, path, "-o", "json").stdout) for command in first}
    assert counts_in(first["explain"]) == counts_in(first["simulate"])
    n_stuck = len(documents["simulate"]["stuck"])
    assert n_stuck == sum(one.get("state") == "stuck" for one in documents["explain"]["pods"])
    assert n_stuck == counts_in(first["simulate"]).get("run", 0)
    unbound = [one for one in items if one["kind"] == "Pod" and not one["spec"].get("nodeName")]
    served = [one for one in unbound if one["spec"].get("schedulerName", "") != "other"]
    assert counts_in(first["simulate"]).get("pending", 0) == len(served)
    assert counts_in(first["simulate"]).get("schedulers", 0) == len(unbound) - len(served)


def among_others(item: dict, i: int) -> dict:
    """Some pods are for another scheduler, and some have a node on which no kubelet has started them."""
    if item["kind"] == "Pod" and i % 3 == 0 and not item["spec"].get("nodeName"):
        return {**item, "spec": {**item["spec"], "schedulerName": "other"}}
    if item["kind"] == "Pod" and i % 2 == 0 and item["spec"].get("nodeName"):
        return {**item, "status": {"phase": "Pending"}}
    return item


def first_line(text: str) -> str:
    return text.partition("\n\n")[0].replace("\n", " ")


def counts_in(line: str) -> dict[str, int]:
    """The numbers of pods in a first line, by the last word of what they are, without what becomes of them."""
    sentences = [one.partition(":")[0].rstrip(".").split() for one in line.split(". ")]
    words = (one for one in sentences if one and one[0].isdigit() and one[-1] != "evicted")
    return {("pending" if one[-1].startswith("pod") else one[-1]): int(one[0]) for one in words}


def wanted(one: Placement) -> State:
    if one.state is PodState.SCHEDULED:
        return State.EVICTED if one.evicted_by else State.PREEMPTS if one.victims else State.FITS
    states = {PodState.ERROR: State.FAILED, PodState.UNSCHEDULABLE: State.NOWHERE, PodState.NOT_TRIED: State.HELD_BACK}
    return states[one.state]


def is_placed(part: str) -> bool:
    return part.rstrip(".").endswith((" fit", " fits", "would preempt others"))


@examples(4)
@clusters
def test_the_lines_explain_each_pod_as_its_decision_finds_the_cluster(seed, nodes, bound, pending, features) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        items = made(seed, nodes, bound, pending, features)
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        explained = {line["pod"]: line for line in lines("explain", path)}
        simulated = {line["pod"]: line for line in lines("simulate", path) if line["profile"]}
        assert set(explained) == set(simulated)
    for key, one in simulated.items():
        said = explained[key]
        assert said.get("node", "") == one.get("node", "")
        if one["state"] == "scheduled":
            assert one["node"] in said["feasible"]
            if "scores" in one:
                assert {name: scores[one["node"]] for name, scores in said["scores"].items()} == one["scores"]
                assert one["node"] in said["best"]
        if one["state"] == "unschedulable" or one.get("plugin"):
            assert (said["why"], said.get("fix")) == (one["diagnosis"], one.get("fix"))
        if one["state"] == "unschedulable":
            assert said["message"] == without_post_filter(one["message"])


def lines(command: str, path: Path) -> list[dict]:
    return [json.loads(line) for line in run(command, path, "-o", "jsonl").stdout.splitlines()]


@examples(4)
@clusters
def test_a_pod_that_fits_alone_fits_in_the_cluster_as_it_is(seed, nodes, bound, pending, features) -> None:
    objects = [read(item) for item in made(seed, nodes, bound, pending, features)]
    with PendingPods(objects, set_up(None), lambda pod: pod.key) as found:
        left = [answer.pod for answer in found.answers() if answer.state is State.NOWHERE]
    with Explainer(objects, nominations=False) as explainer:
        fits = {pod for pod in left if explainer.explain(pod, preempt=False).fits}
    assert found.fit_alone == fits


@pytest.mark.parametrize("name", ["bare-metal", "eks", "gke"])
def test_explain_and_simulate_agree_on_each_pod_of_the_example_clusters(name: str) -> None:
    path = Path(__file__).parents[2] / "examples" / "clusters" / f"{name}.json.gz"
    documents = [json.loads(run(command, path, "-o", "json").stdout) for command in ("explain", "simulate")]
    explained, simulated = ({one["pod"]: one for one in document["pods"]} for document in documents)
    served = {key: one for key, one in simulated.items() if one["profile"]}
    assert explained.keys() >= served.keys()
    for key, one in served.items():
        assert explained[key].get("node", "") == one.get("node", "")
        if one["state"] == "unschedulable" or one.get("plugin"):
            assert (explained[key]["why"], explained[key].get("fix")) == (one["diagnosis"], one.get("fix"))
    assert sum(one["state"] == "no node" for one in explained.values()) == documents[1]["summary"]["unschedulable"]
