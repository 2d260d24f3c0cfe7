"""The one line that says why a pod stays pending."""

import pytest

from kubesched import Status
from kubesched.session.pending_diagnosis import diagnosis_of


@pytest.mark.parametrize(
    ("reason", "of_one", "of_two"),
    [
        ("node(s) were unschedulable", "the only node was unschedulable", "all 2 nodes were unschedulable"),
        ("node(s) had volume conflict", "the only node had volume conflict", "all 2 nodes had volume conflict"),
        ("node(s) didn't match", "the only node didn't match", "all 2 nodes didn't match"),
        ("node(s) exceed max volume count", "the only node exceeds max volume count", None),
        ("node(s) lack an arm", "the only node: node(s) lack an arm", "all 2 nodes lack an arm"),
        ("node(s)", "the only node: node(s)", "all 2 nodes: node(s)"),
        ("Insufficient cpu", "the only node: Insufficient cpu", "all 2 nodes: Insufficient cpu"),
    ],
)
def test_a_reason_is_a_sentence_about_one_node_or_several(reason: str, of_one: str, of_two: str | None):
    status = Status.unschedulable(reason).by("NoArm")
    assert diagnosis_of([(status, 1)], ["NoArm"], "") == f"NoArm: {of_one}"
    if of_two is not None:
        assert diagnosis_of([(status, 2)], ["NoArm"], "") == f"NoArm: {of_two}"


def test_the_last_node_of_several_is_one_node():
    rejections = [
        (Status.unschedulable("Insufficient cpu").by("Fit"), 2),
        (Status.unschedulable("node(s) were closed").by("NoArm"), 1),
    ]
    assert diagnosis_of(rejections, ["Fit", "NoArm"], "") == "NoArm: the last node of 3 was closed"
