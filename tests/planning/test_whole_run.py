"""One call in Python answers what the command `simulate` does."""

import json

from kubesched import simulate
from kubesched.planning import WhatIf
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, shop, write


def test_python_and_the_command_give_the_same_causes_and_fixes(tmp_path):
    objects = shop()
    printed = json.loads(run("simulate", write(tmp_path, *objects), "-o", "json").stdout)
    told = [(one.pod, one.node, one.diagnosis, one.fix) for one in simulate(objects).placements]
    assert told == [tuple(one.get(name, "") for name in ("pod", "node", "diagnosis", "fix")) for one in printed["pods"]]
    assert any(fix for *_, fix in told)


def test_a_change_comes_before_the_run():
    (pod,) = simulate([make_node("n1"), make_pod("p")], what_if=WhatIf(cordon=("n1",))).placements
    assert (pod.node, pod.fix) == ("", "uncordon n1 -> 1 node")
