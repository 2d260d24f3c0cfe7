"""The judge of the campaign `library`: what counts as a difference, and that a seed gives the same cluster."""

import json
import sys
from pathlib import Path

from campaigns.library.campaign import ask, differences, made, mine

PROGRAM = """#!{python}
import json, sys
for path in sys.argv[1:]:
    print(json.dumps({{"snapshot": path, "pod": "default/a", "feasible": None}}))
    print(json.dumps({{"snapshot": path, "pod": "default/b", "feasible": ["n"], "error": "no"}}))
"""


def test_nodes_that_differ_are_reported() -> None:
    ours = {"default/a": ["n1"], "default/b": ["n2"]}
    assert list(differences({"default/a": ["n1"], "default/b": []}, ours)) == [
        "default/b: library [], kubesched ['n2']"
    ]
    assert list(differences({"default/a": ["n1"]}, ours)) == []


def test_pods_whose_attempt_ends_with_an_error_are_left_out(tmp_path: Path) -> None:
    program = tmp_path / "library"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    assert ask(str(program), [{}, {}]) == [{"default/a": []}] * 2


def test_a_seed_gives_the_same_small_cluster_and_every_pod_that_waits_is_answered() -> None:
    document = made(3)
    assert json.dumps(document) == json.dumps(made(3))
    pods = [one for one in document["items"] if one["kind"] == "Pod" and not one["spec"].get("nodeName")]
    assert len(mine(document)) == len(pods) >= 5
