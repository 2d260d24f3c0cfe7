"""Pods of other schedulers: every command says that it is not known where they go, and none that they stay pending."""

from pathlib import Path

import pytest

from kubesched import check, compare, drain, fit
from kubesched.api import KubeObject, Pod
from kubesched.comparison import Candidate
from kubesched.pages.comparisons import comparison_page
from kubesched.pages.formats import as_text
from kubesched.pages.plans import check_page
from kubesched.pages.simulations import report_page
from kubesched.planning import Fate, simulate
from kubesched.session import Session
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import owned_by

WHY = 'no profile has the scheduler name "bin-packing"; found: '
PROFILES = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"


def profiles(*names: str) -> bytes:
    return (PROFILES + "".join(f"- schedulerName: {name}\n" for name in names)).encode()


def packed_pod(name: str, node: str = "") -> Pod:
    spec = {"schedulerName": "bin-packing"}
    return make_pod(name, node=node, requests={"cpu": "100m"}, metadata=owned_by("ReplicaSet", "thumbs"), spec=spec)


CLUSTER: list[KubeObject] = [
    make_node("n1"),
    make_node("n2"),
    packed_pod("thumbs-1", "n1"),
    make_pod("web-1", node="n1", requests={"cpu": "100m"}, metadata=owned_by("ReplicaSet", "web")),
]


def test_a_drain_does_not_break_them():
    result = drain(CLUSTER, ["n1"])
    assert [pod.fate for pod in result.pods] == [Fate.FOREIGN, Fate.MOVES]
    assert result.could_go is None
    assert [pod.message for pod in result.of(Fate.FOREIGN)] == [f"{WHY}default-scheduler"]


@pytest.mark.parametrize("maximum", [False, True])
def test_whether_they_fit_is_not_known(maximum: bool):
    answer = fit(CLUSTER, [packed_pod("new")], maximum=maximum, add=True)
    assert not answer.is_known
    assert answer.undecided == (f"{WHY}default-scheduler",)


def test_those_that_wait_are_counted_alike():
    cluster = [*CLUSTER, packed_pod("thumbs-2")]
    with Session(cluster) as session:
        (placement,) = session.schedule().placements
    assert placement.is_foreign
    assert placement.is_undecided
    before = drain(cluster, ["n2"])
    assert (before.n_pending_before, before.n_undecided_before, before.n_foreign_before) == (0, 0, 1)
    assert check(cluster).n_foreign == 1


def test_the_name_of_another_scheduler_is_no_misspelt_profile():
    pod = make_pod("p", spec={"schedulerName": "batch-scheduler"})
    with Session([make_node("n1"), pod]) as session:
        (placement,) = session.schedule().placements
    assert placement.message == 'no profile has the scheduler name "batch-scheduler"; found: default-scheduler'


def test_a_renamed_profile_is_why_pods_are_pending_with_b():
    old, new = (Candidate(name, profiles("default-scheduler", name)) for name in ("bin-packing", "binpacking"))
    result = compare(CLUSTER, old, new, pods="all", seeds=5)
    (pending,) = result.pending
    assert pending.cause == f'{WHY}default-scheduler, binpacking; did you mean "binpacking"?'
    assert 'did you mean "binpacking"?' in " ".join(as_text(comparison_page(result)).split())


def test_pods_without_a_profile_are_named_in_the_first_line_where_none_is_placed_again():
    old, new = (Candidate(name, profiles("default-scheduler", name)) for name in ("bin-packing", "binpacking"))
    result = compare(CLUSTER, old, new, seeds=5)
    why = f'{WHY}default-scheduler, binpacking; did you mean "binpacking"?'
    same = "binpacking differs from bin-packing in no figure beyond chance."
    page = comparison_page(result)
    assert page.verdict.text == f"With binpacking, 1 pod has no profile: {why} {same}"
    assert [one["nPods"] for one in page.document["unserved"]["b"]] == [1]
    assert page.document["unserved"]["a"] == []


def test_other_schedulers_of_both_sides_are_not_worth_a_word():
    old, new = (Candidate(name, profiles("default-scheduler")) for name in ("old", "new"))
    assert "no profile" not in as_text(comparison_page(compare(CLUSTER, old, new, seeds=5)))


def test_a_simulation_and_a_check_name_the_profile_that_running_pods_lack():
    why = f'{WHY}default-scheduler, binpacking; did you mean "binpacking"?'
    config = profiles("default-scheduler", "binpacking")
    simulated = " ".join(as_text(report_page(simulate(CLUSTER, config))).split())
    assert f"1 running pod is of another scheduler: {why}" in simulated
    checked = " ".join(as_text(check_page(check(CLUSTER, config))).split())
    assert f"1 pod not tried again: {why}" in checked


def test_every_command_calls_them_alike(tmp_path: Path):
    path = write(tmp_path, *CLUSTER, packed_pod("thumbs-2"))
    said = {
        "simulate": "1 pod of other schedulers.",
        "drain n1": "1 would be placed by other schedulers.",
        "drain --each": "because some of their pods are of other schedulers.",
        "fit --resource cpu=1": "1 of them is of another scheduler, so they take no room here",
        "simulate --without-nodes n1": "2 pods of other schedulers, 1 more than without this change.",
    }
    for command, words in said.items():
        name, *options = command.split()
        text = " ".join(run(name, path, *options).stdout.split())
        assert words in text, command
        assert "cannot be decided" not in text, command
