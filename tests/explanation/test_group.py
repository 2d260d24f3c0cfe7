"""Pods that are to run together: how many of them fit now."""

import pytest

from kubesched.api import KubeObject, kind_of
from kubesched.errors import InputError
from kubesched.explanation import Explainer, GroupFit, answer_of, find_group, gang_fits, gangs_of, place_group
from kubesched.pages.explanations import group_page, overview_page
from kubesched.pages.formats import Paragraph
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL

KEY = "scheduling.x-k8s.io/pod-group"


def member(name: str, group: str = "train", key: str = KEY, **more):
    labels = {key: group, **more.pop("labels", {})}
    return make_pod(name, requests={"cpu": "1"}, labels=labels, **more)


def answer(objects, name: str = "train") -> GroupFit:
    with Explainer(objects, set_up()) as explainer:
        return place_group(explainer, find_group(objects, name))


NODES = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
"""Four CPUs in all."""


def test_the_pods_of_a_group_take_room_from_each_other():
    fit = answer([*NODES, *(member(f"w{i}") for i in range(5))])
    assert list(fit.placed) == [f"default/w{i}" for i in range(4)]
    assert fit.lacking == {"default/w4": "all nodes: cpu is short by 1: requests 1, 0 of 2 free"}
    page = group_page(fit)
    assert page.verdict.text == "Group default/train needs 5 pods: 4 of 5 pending pods would fit now."
    assert page.next_command == "kubesched explain default/w4"
    assert "one by one" in " ".join(getattr(part, "text", "") for part in page.parts)


def test_running_pods_count_and_the_minimum_is_that_of_the_pods():
    labels = {f"{KEY}-min": "3"}
    pods = [member("w0", node="n1", labels=labels), *(member(f"w{i}", labels=labels) for i in range(1, 5))]
    fit = answer([*NODES, *pods])
    assert (fit.group.minimum, fit.running, len(fit.placed)) == (3, ("default/w0",), 3)
    assert group_page(fit).verdict.text == (
        "Group default/train needs 3 pods: 1 runs, 3 of 4 pending pods would fit now."
    )


def test_pods_that_are_held_back_do_not_count():
    gated = member("w0", spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]})
    leaving = member("w1", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    fit = answer([*NODES, gated, leaving, member("w2")])
    assert list(fit.placed) == ["default/w2"]
    assert fit.lacking == {
        "default/w0": "gated by plugin SchedulingGates: waiting for scheduling gates: [kueue.x-k8s.io/admission]",
        "default/w1": "the pod is being deleted",
    }
    assert group_page(fit).verdict.text == "Group default/train needs 3 pods: 1 of 3 pending pods would fit now."


@pytest.mark.parametrize(
    ("key", "minimum"),
    [
        ("pod-group.scheduling.sigs.k8s.io/name", "pod-group.scheduling.sigs.k8s.io/min-available"),
        ("kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"),
    ],
)
def test_the_minimum_is_read_from_the_key_that_goes_with_the_group(key: str, minimum: str):
    pods = [member(f"w{i}", key=key, labels={minimum: "2"}) for i in range(3)]
    assert find_group(pods, "train").minimum == 2


IN_SPEC = {"schedulingGroup": {"podGroupName": "train"}}
GROUPS = [
    (make_object("PodGroup", "train", spec={"schedulingPolicy": {"gang": {"minCount": 3}}}), {"spec": IN_SPEC}),
    (make_object("CoschedulingPodGroup", "train", spec={"minMember": 3}), {"labels": {KEY: "train"}}),
    (
        make_object("VolcanoPodGroup", "train", spec={"minMember": 3}),
        {"annotations": {"scheduling.k8s.io/group-name": "train"}},
    ),
]


@pytest.mark.parametrize(("group", "fields"), GROUPS)
def test_the_minimum_is_that_of_the_pod_group(group: KubeObject, fields: dict[str, dict]):
    pods = [make_pod(f"w{i}", **fields) for i in range(5)]
    other = make_object(kind_of(group), "train", namespace="other", spec={"minMember": 2})
    elsewhere = make_object("CoschedulingPodGroup", "eval", spec={"minMember": 4})
    found = find_group([*pods, other, elsewhere, group], "train")
    assert (found.minimum, found.is_minimum_known, len(found.pods)) == (3, True, 5)


def test_a_group_whose_policy_is_no_gang_has_no_minimum():
    group = make_object("PodGroup", "train", spec={"schedulingPolicy": {"basic": {}}})
    found = find_group([group, *(make_pod(f"w{i}", spec=IN_SPEC) for i in range(2))], "train")
    assert (found.minimum, found.is_minimum_known) == (2, False)
    assert gangs_of([group, *found.pods], found.pods) == [found]


def test_the_overview_says_which_pods_are_to_run_together():
    group, fields = GROUPS[0]
    objects = [*NODES, group, *(make_pod(f"w{i}", **fields) for i in range(4)), make_pod("alone")]
    with Explainer(objects, set_up()) as explainer:
        gangs = gang_fits(objects, explainer.pending, placed=["default/w0"])
        answers = (answer_of(one, one.pod.key) for one in explainer.evaluations(explainer.pending))
        page = overview_page(answers, gangs=gangs)
    told = "1 of 4 pods of gang default/train would have a node; the gang needs 3 at once"
    more = "--group train reports how many of them fit together"
    assert [part.text for part in page.parts if isinstance(part, Paragraph)] == [f"{told}; {more}."]
    assert [one["fit"] for one in page.document["gangs"]] == [1]
    assert gangs_of(objects, [make_pod("alone")]) == []


def test_a_minimum_that_is_not_known_is_told():
    told = "has the minimum of the group"
    page = group_page(answer([*NODES, member("w0")]))
    assert [told in getattr(part, "text", "") for part in page.parts].count(True) == 1
    page = group_page(answer([*NODES, member("w0", labels={f"{KEY}-min": "1"})]))
    assert not any(told in getattr(part, "text", "") for part in page.parts)


def test_the_cluster_is_afterwards_as_before():
    objects = [*NODES, *(member(f"w{i}") for i in range(4))]
    with Explainer(objects, set_up()) as explainer:
        group = find_group(objects, "train")
        assert place_group(explainer, group) == place_group(explainer, group)
        assert len(explainer.explain(make_pod("p", requests={"cpu": "2"})).feasible) == 2


@pytest.mark.parametrize(
    "key", ["pod-group.scheduling.sigs.k8s.io", "kueue.x-k8s.io/pod-group-name", "scheduling.k8s.io/group-name"]
)
def test_the_labels_of_known_gang_schedulers_name_a_group(key: str):
    assert len(answer([*NODES, member("w0", key=key)]).placed) == 1


def test_an_annotation_names_a_group_too():
    pod = make_pod("w0", annotations={"scheduling.k8s.io/group-name": "train"})
    assert list(answer([*NODES, pod]).placed) == ["default/w0"]


def test_any_label_can_be_the_key():
    assert list(answer([*NODES, member("w0", key="job-name")], "job-name=train").placed) == ["default/w0"]


def test_pods_of_another_scheduler_are_judged_by_the_first_profile_and_that_is_told():
    fit = answer([*NODES, member("w0", spec={"schedulerName": "volcano"})])
    texts = [getattr(part, "text", "") for part in group_page(fit).parts]
    assert "The pods are for scheduler volcano; the answer is that of default-scheduler." in texts


def test_a_misspelt_group_gets_the_near_ones():
    objects = [*NODES, member("w0")]
    with pytest.raises(InputError, match='no pod is of such a group; did you mean "train"'):
        find_group(objects, "trian")
    with pytest.raises(InputError, match="others with --group KEY=NAME"):
        find_group(objects, "zzzzzz")


def test_a_group_of_two_namespaces_needs_one():
    objects = [member("w0"), member("w0", namespace="dev")]
    with pytest.raises(InputError, match="namespaces default, dev have such a group; name one with -n"):
        find_group(objects, "train")
    assert find_group(objects, "train", "dev").namespace == "dev"


@pytest.mark.parametrize("name", ["dev/train", f"{KEY}=dev/train"])
def test_a_group_is_found_by_the_name_that_its_report_has(name: str):
    objects = [member("w0"), make_pod("w1", namespace="dev", labels={KEY: "train"})]
    group = find_group(objects, name)
    assert (group.namespace, [pod.name for pod in group.pods]) == ("dev", ["w1"])
    with pytest.raises(InputError, match="no pod is of such a group"):
        find_group(objects, "other/train")


def test_the_document_has_every_pod():
    document = group_page(answer([*NODES, *(member(f"w{i}") for i in range(5))])).document
    assert (document["group"], document["minimum"], document["key"]) == ("default/train", 5, KEY)
    assert document["placed"][0] == {"pod": "default/w0", "node": "n1"}
    assert [one["pod"] for one in document["lacking"]] == ["default/w4"]


def test_a_check_fails_for_each_pod_without_a_node():
    checks = group_page(answer([*NODES, *(member(f"w{i}") for i in range(5))])).checks
    assert [(check.name, bool(check.failure)) for check in checks] == [(f"w{i}", i == 4) for i in range(5)]


def test_a_group_that_pods_name_in_two_ways_is_one_group():
    both = {"pod-group.scheduling.sigs.k8s.io/name": "red", "kueue.x-k8s.io/pod-group-name": "red"}
    sizes = {"pod-group.scheduling.sigs.k8s.io/min-available": "2", "kueue.x-k8s.io/pod-group-total-count": "2"}
    pods = [make_pod(f"w{i}", labels=both | sizes) for i in range(2)]
    assert [(gang.name, gang.minimum) for gang in gangs_of(pods, pods)] == [("red", 2)]


def test_a_minimum_that_is_no_number_of_pods_is_none():
    sizes = {"kueue.x-k8s.io/pod-group-name": "red", "kueue.x-k8s.io/pod-group-total-count": "9" * 5000}
    pods = [make_pod("w0", annotations=sizes), make_pod("w1", annotations=sizes)]
    assert [gang.is_minimum_known for gang in gangs_of(pods, pods)] == [False]
