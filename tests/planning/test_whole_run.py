"""One call in Python answers what the command `simulate` does."""

import json

from kubesched import simulate
from kubesched.api import Pod
from kubesched.planning import WhatIf
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, shop, write
from tests.explanation.applied_patches import patched


def test_python_and_the_command_give_the_same_causes_and_fixes(tmp_path):
    objects = shop()
    printed = json.loads(run("simulate", write(tmp_path, *objects), "-o", "json").stdout)
    told = [(one.pod, one.node, one.diagnosis, one.fix) for one in simulate(objects).placements]
    assert told == [tuple(one.get(name, "") for name in ("pod", "node", "diagnosis", "fix")) for one in printed["pods"]]
    assert any(fix for *_, fix in told)


def test_a_change_comes_before_the_run():
    (pod,) = simulate([make_node("n1"), make_pod("p")], what_if=WhatIf(cordon=("n1",))).placements
    assert pod.node == ""


def test_no_fix_takes_back_the_change():
    nodes = [make_node("n1"), make_node("n2")]
    (pod,) = simulate([*nodes, make_pod("p")], what_if=WhatIf(cordon=("n1", "n2"))).placements
    assert "uncordon" not in pod.fix


def test_the_steps_of_the_report_place_the_pod_in_the_next_run():
    tainted = make_node("n3", allocatable={"cpu": "80", "pods": "9"}, taints=["db:NoSchedule"])
    objects = [*shop(), tainted]
    pods = {one.key: one for one in objects if isinstance(one, Pod)}
    placements = [one for one in simulate(objects).placements if one.patches]
    assert [one.pod for one in placements] == ["default/huge", "default/gated"]
    for one in placements:
        again = simulate(patched(objects, pods[one.pod], one.patches)).placements
        assert [bool(other.node) for other in again if other.pod == one.pod] == [True]
