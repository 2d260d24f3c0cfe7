"""The list of pending pods: each row is true at the turn of its pod, and says who goes for whom."""

from collections.abc import Sequence

from kubesched.api import KubeObject
from kubesched.explanation import State
from kubesched.pages.explanations import overview_page
from kubesched.pages.formats import as_text
from kubesched.planning import PendingPods
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.tasks.clusters import cloud, home, replica


def told(cluster: Sequence[KubeObject]) -> dict[str, tuple[State, str, str]]:
    """Pod -> its state, why, and the best fix."""
    with PendingPods(cluster, set_up(), str) as pending:
        return {one.pod: (one.state, said.outcome.why, said.fix) for one in pending.answers() for said in [one.tell()]}


def test_a_pod_that_preempts_has_its_victims_their_places_and_what_avoids_it():
    state, why, fix = told(cloud())["default/fraud-0"]
    assert state is State.PREEMPTS
    victim = "default/api-0 (priority 0, then on prod-base-north1-b-0)"
    assert why == f"Preemption would make room on prod-base-north1-a-0 by evicting {victim}"
    assert fix == "uncordon prod-base-north1-a-1 -> 1 node"


def test_a_victim_that_nobody_creates_again_is_lost_and_one_without_a_node_stays_pending():
    node = make_node("n1", allocatable={"cpu": "2", "pods": "9"})
    urgent = make_pod("urgent", requests={"cpu": "2"}, priority=9)
    victims = [make_pod("bare", requests={"cpu": "1"}, node="n1"), replica("web", requests={"cpu": "1"}, node="n1")]
    _, why, fix = told([node, urgent, *victims])["default/urgent"]
    assert "default/bare (priority 0, then lost)" in why
    assert "default/web-0 (priority 0, then pending)" in why
    assert fix == "add a node like n1 -> 1 node"


def test_a_pod_that_preempts_gets_no_fix_that_changes_what_it_is_for():
    reserved = make_node("n2", allocatable={"cpu": "8", "pods": "9"}, taints=["dedicated=data:NoSchedule"])
    small = make_node("n1", allocatable={"cpu": "2", "pods": "9"})
    urgent = make_pod("urgent", requests={"cpu": "2"}, priority=9)
    _, _, fix = told([small, reserved, urgent, replica("web", requests={"cpu": "1"}, node="n1")])["default/urgent"]
    assert "tolerate" not in fix


def test_a_row_is_true_at_the_turn_of_its_pod():
    """Pods behind it in the queue take the rest of the room; with the fix, the pod comes before them."""
    behind = replica("plex", requests={"cpu": "1"}, node_selector={"kubernetes.io/hostname": "nuc"})
    answers = told([*home(), behind])
    assert answers["default/plex-0"][0] is State.FITS
    assert answers["default/nextcloud-0"][1:] == (
        "1 node: cpu is short by 1.3: requests 2.5, 1.2 of 4 free",
        "lower the request to 1.2 cpu -> 1 node",
    )


def test_pods_before_it_in_the_queue_keep_their_room():
    before = replica("plex", requests={"cpu": "1"}, node_selector={"kubernetes.io/hostname": "nuc"}, priority=5)
    assert told([*home(), before])["default/nextcloud-0"][2] == "lower the request to 200m cpu -> 1 node"


def test_pods_of_other_schedulers_are_named():
    other = make_pod("apart", spec={"schedulerName": "my-scheduler"})
    with PendingPods([*home(), other], set_up(), str) as pending:
        page = overview_page(pending.answers(), foreign=pending.foreign, counts=pending.counts())
    assert "1 pod of other schedulers" in page.verdict.text
    assert "default/apart (my-scheduler)" in as_text(page, 120)


def test_pods_without_a_mistake_fit_one_after_another_and_the_list_says_where():
    behind = replica("plex", requests={"cpu": "1"}, node_selector={"kubernetes.io/hostname": "nuc"})
    heavy = replica("immich", requests={"cpu": "3"}, node_selector={"kubernetes.io/hostname": "pi-c"})
    with PendingPods([*home(), behind, heavy], set_up(), str) as pending:
        places = {one.pod: one.node for one in pending.answers() if one.state is State.FITS}
    assert places == {"default/plex-0": "nuc", "default/immich-0": "pi-c"}


def test_the_list_of_twelve_mistakes_takes_few_lines_and_names_each_workload_once():
    with PendingPods(cloud(), set_up(), lambda pod: pod.name) as pending:
        text = as_text(overview_page(pending.answers(), foreign=pending.foreign, counts=pending.counts()), 120)
        names = [one.pod.partition("/")[2] for one in pending.answers()]
    assert len(text.splitlines()) <= 3.5 * len(names)
    assert all(text.count(f" {name}: ") == 1 for name in names)
