"""In fit a gang is a row of its own: all of its pods run at once, or none."""

import pytest

from kubesched.pages.formats import as_csv, as_json, as_junit, as_markdown, as_text
from kubesched.pages.plans import fit_page
from kubesched.planning import Fit, fit
from kubesched.testing import make_node, make_object, make_pod
from tests.planning.drain_clusters import owned_by

NODES = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}) for i in (1, 2)]
SCHEDULING = "scheduling.x-k8s.io/pod-group"
WAYS = {
    SCHEDULING: ("CoschedulingPodGroup", {"minMember": 3}),
    "scheduling.k8s.io/group-name": ("VolcanoPodGroup", {"minMember": 3}),
}


def worker(i: int, cpu: str = "1", node: str = "", **fields):
    return make_pod(f"w-{i}", namespace="ml", requests={"cpu": cpu}, node=node, **fields)


def group(minimum: int, kind: str = "CoschedulingPodGroup"):
    return make_object(kind, "ring", namespace="ml", spec={"minMember": minimum})


def ring(n: int, minimum: int, cpu: str = "1", key: str = SCHEDULING) -> list:
    return [group(minimum, WAYS[key][0]), *(worker(i, cpu, labels={key: "ring"}) for i in range(n))]


def verdict(answer: Fit) -> str:
    return fit_page(answer).verdict.text


@pytest.mark.parametrize("key", WAYS)
@pytest.mark.parametrize(
    ("n", "minimum", "outcome"),
    [
        (4, 4, "all 4 fit"),
        (4, 3, "enough fit"),
        (6, 3, "enough fit"),
        (6, 6, "only 4 of the 6 that it needs fit: none would run"),
        (2, 3, "it has only 2 pods, and needs 3: none would run"),
    ],
)
def test_a_gang_runs_if_enough_of_its_pods_fit(key: str, n: int, minimum: int, outcome: str):
    (found,) = fit(NODES, ring(n, minimum, key=key)).gangs
    assert (found.gang, found.needs, found.n_pods, found.outcome) == ("ml/ring", minimum, n, outcome)


def test_the_first_line_and_every_format_name_a_gang_that_would_not_run():
    page = fit_page(fit(NODES, ring(6, 6)))
    assert page.verdict.text.startswith("4 of 6 would fit; none of gang ml/ring would run, which needs 6; ")
    for text in (as_text(page, width=200), as_markdown(page)):
        assert "only 4 of the 6 that it needs fit: none would run" in text
        assert "kube-scheduler alone starts the pods that fit" in text
    assert page.document["gangs"] == [
        {
            "gang": "ml/ring",
            "kind": "group",
            "needs": 6,
            "pods": 6,
            "fit": 4,
            "runs": False,
            "outcome": "only 4 of the 6 that it needs fit: none would run",
        }
    ]
    assert "gang ring" in as_junit(page)
    assert as_csv(page)
    assert as_json(page)


def test_a_gang_that_lacks_pods_is_no_good_answer_although_all_fit():
    answer = fit(NODES, ring(2, 3))
    assert answer.all_fit
    assert not answer.all_gangs_run
    assert verdict(answer) == "2 of 2 would fit; none of gang ml/ring would run, which needs 3."


def test_running_pods_of_the_gang_count():
    old = [worker(9, node="n1", labels={SCHEDULING: "ring"})]
    (found,) = fit([*NODES, *old], ring(2, 3)).gangs
    assert (found.n_pods, found.n_placed, found.runs) == (3, 3, True)


def test_a_job_with_several_pods_is_a_row_and_may_do_with_fewer():
    pods = [worker(i, metadata=owned_by("Job", "train")) for i in range(6)]
    answer = fit(NODES, pods)
    (found,) = answer.gangs
    assert (found.gang, found.is_job, found.needs) == ("ml/train", True, 6)
    assert found.outcome == "only 4 of 6 fit: they would wait if they need the others"
    assert verdict(answer).startswith("4 of 6 would fit; the 5th: ")
    assert fit(NODES, pods[:1]).gangs == ()


def test_a_job_whose_pods_name_a_group_is_one_row():
    about = {"labels": {SCHEDULING: "ring"}, "metadata": owned_by("Job", "train")}
    (found,) = fit(NODES, [group(2), *(worker(i, **about) for i in range(3))]).gangs
    assert (found.gang, found.is_job) == ("ml/ring", False)


def test_the_largest_number_has_no_gangs():
    assert fit(NODES, ring(1, 3)[1:], maximum=True).gangs == ()
