from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, shop, write


@pytest.fixture
def text(tmp_path: Path) -> list[str]:
    return squeezed(run("simulate", write(tmp_path, *shop())).stdout)


def squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_placed_pods_come_with_their_nodes(text):
    assert "Placed: 2" in text
    assert "1 default/urgent n1" in text
    assert "1 default/fits n1" in text


def test_pods_left_pending_come_with_kube_scheduler_s_words_and_no_more(text):
    assert "Left pending: 1" in text
    assert text[text.index("default/huge") + 1] == "0/2 nodes are available: 2 Insufficient cpu."


def test_pods_that_were_not_tried_come_with_the_reason(text):
    assert "Not tried: 2" in text
    assert text[text.index("default/gated") + 1] == "waiting for scheduling gates: [not-yet]"


def test_victims_come_with_their_owner_and_for_whom_they_left(text):
    assert "Evicted to make room: 1" in text
    assert text[text.index("default/cheap (Job/nightly)") + 1] == "from n1, for default/urgent"


def test_pods_of_one_owner_share_a_line(tmp_path):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": True}
    pods = [make_pod(f"web-{i}", requests={"cpu": "1"}, metadata={"ownerReferences": [owner]}) for i in range(8)]
    nodes = [make_node(f"n{i}", allocatable={"cpu": "1"}) for i in range(8)]
    said = squeezed(run("simulate", write(tmp_path, *nodes, *pods)).stdout)
    assert "8 ReplicaSet default/web-1 n0, n1, n2, n3 and 4 more" in said


def test_pods_with_the_same_reasons_share_them_whatever_the_numbers(tmp_path):
    pods = [make_pod(f"p{i}", requests={"cpu": amount}) for i, amount in enumerate(("1", "9", "9"))]
    said = squeezed(run("simulate", write(tmp_path, make_node("n1", allocatable={"cpu": "1"}), *pods)).stdout)
    assert "default/p1, default/p2" in said


def test_without_effects_the_text_says_would(tmp_path):
    said = squeezed(run("simulate", write(tmp_path, *shop()), "--no-preemption-effects").stdout)
    assert "Would be evicted to make room: 1" in said
    assert "preemption would make room for default/urgent on n1 by evicting default/cheap" in said
    assert said[-1].startswith("5 pending pods: 2 placed, 2 left pending, 1 not tried, 1 would be evicted.")


def test_lines_in_a_pipe_end_without_blanks_and_without_colours(tmp_path):
    said = run("simulate", write(tmp_path, *shop())).stdout
    assert not [line for line in said.splitlines() if line != line.rstrip()]
    assert "\x1b" not in said
