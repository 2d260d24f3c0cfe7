import pytest

from kubesched.queue import Nominator
from tests.queue.waiting import make_info, make_pod


def info_of(pod):
    info = make_info(pod.name)
    info.replace_pod(pod)
    return info


def nominated(nominator):
    nominator.check_invariants()
    return {node: [info.pod.name for info in infos] for node, infos in nominator}


def test_a_pod_is_nominated_to_the_given_node():
    nominator, info = Nominator(), make_info("a")
    nominator.add(info, "n1")
    assert nominator.pods_on("n1") == (info,)
    assert len(nominator) == 1


def test_without_a_node_the_status_of_the_pod_decides():
    nominator = Nominator()
    nominator.add(info_of(make_pod("a", nominated="n2")))
    nominator.add(make_info("b"))
    assert nominated(nominator) == {"n2": ["a"]}


def test_the_given_node_wins_over_the_status():
    nominator = Nominator()
    nominator.add(info_of(make_pod("a", nominated="n2")), "n1")
    assert nominated(nominator) == {"n1": ["a"]}


@pytest.mark.parametrize("node", ["", None])
def test_adding_first_ends_the_earlier_nomination(node):
    nominator, info = Nominator(), make_info("a")
    nominator.add(info, "n1")
    nominator.add(info, "n2")
    assert nominated(nominator) == {"n2": ["a"]}
    nominator.add(info, node)
    assert nominated(nominator) == {}


def test_pods_of_a_node_are_in_the_order_they_were_nominated():
    nominator = Nominator()
    for name in "cab":
        nominator.add(make_info(name), "n1")
    assert nominated(nominator) == {"n1": ["c", "a", "b"]}
    assert nominator.pods_on("n2") == ()


@pytest.mark.parametrize("current", [None, make_pod("a", node="n9")], ids=["gone", "assigned"])
def test_a_pod_that_is_gone_or_assigned_is_refused(current):
    nominator = Nominator(lambda pod: current)
    nominator.add(make_info("a"), "n1")
    assert nominated(nominator) == {}


def test_refusing_ends_the_earlier_nomination_all_the_same():
    known = {"uid-a": make_pod("a")}
    nominator = Nominator(lambda pod: known.get(pod.uid))
    nominator.add(make_info("a"), "n1")
    known.clear()
    nominator.add(make_info("a"), "n2")
    assert nominated(nominator) == {}


def test_an_update_that_knows_no_nomination_keeps_the_one_in_memory():
    nominator, info = Nominator(), make_info("a")
    nominator.add(info, "n1")
    old, new = make_pod("a", version="1"), make_pod("a", version="2")
    info.replace_pod(new)
    nominator.update(old, info)
    assert nominated(nominator) == {"n1": ["a"]}


@pytest.mark.parametrize(("before", "after", "expected"), [("", "n2", ["n2"]), ("n1", "n2", ["n2"]), ("n1", "", [])])
def test_an_update_that_knows_of_a_nomination_is_followed(before, after, expected):
    nominator = Nominator()
    nominator.add(make_info("a"), "n1")
    nominator.update(make_pod("a", nominated=before), info_of(make_pod("a", nominated=after)))
    assert list(nominated(nominator)) == expected


def test_delete_ends_the_nomination_and_may_be_repeated():
    nominator = Nominator()
    nominator.add(make_info("a"), "n1")
    nominator.add(make_info("b"), "n1")
    nominator.delete(make_pod("a"))
    nominator.delete(make_pod("a"))
    assert nominated(nominator) == {"n1": ["b"]}
