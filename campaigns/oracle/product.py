"""kubesched in this process as an answer for compare.py: what `explain --all` and `simulate` would print.

`answer` has the recorded objects, `answer_of_snapshot` what `kubesched snapshot` makes of them. Where each recorded pod
gets a node in its only attempt, a run of the queue has to give it the same one: there, equal pods share a decision.
"""

import io
import json

from kubesched.explanation import Explainer
from kubesched.pages.explanations import as_line
from kubesched.pages.simulations import placed_line
from kubesched.release import release_of
from kubesched.scheduler import TieBreak
from kubesched.session import Simulator, place
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot, only_read_fields, write_snapshot

Lines = list[dict]


def answer(case: dict) -> tuple[Lines, Lines]:
    """The `eval` and `place` lines for a recorded case."""
    cluster = load_snapshot(io.BytesIO(json.dumps(case["snapshot"]).encode()))
    config = case["config"].encode() if case["config"] else None
    release, _ = release_of(case.get("version", "v1.36"))
    explainer = Explainer(cluster, set_up(config, release=release), nominations=False)
    explained = [as_line(explainer.evaluate(pod, preempt=False)) for pod in explainer.pending]
    simulator = Simulator(cluster, set_up(config, release=release))
    simulator.cluster.checks_claims = False  # nor does the API server of the oracle
    lines = [placed_line(placed) for placed in place(simulator, TieBreak.FIRST)]
    if is_placed_at_once(case):
        queue = Simulator(cluster, set_up(config, release=release))
        node_of = {placement.pod: placement.node for placement in queue.run().placements}
        lines = [{**line, "node": node_of[line["pod"]]} for line in lines]
    return explained, lines


def is_placed_at_once(case: dict) -> bool:
    """Whether a queue tries the pods of a case as they were recorded: each gets a node, and none waits for anything.

    Writing claims may fail in the API server of a run, which checks more than that of the oracle.
    """
    pending = [one for one in case["snapshot"]["items"] if one["kind"] == "Pod" and not one["spec"].get("nodeName")]
    held_up = [one["metadata"].get("deletionTimestamp") or one["spec"].get("schedulingGates") for one in pending]
    claims = [one["spec"].get("resourceClaims") for one in pending]
    return not any(held_up) and not any(claims) and all(line.get("node") for line in case["place"])


def answer_of_snapshot(case: dict) -> tuple[Lines, Lines]:
    """The same for the snapshot that `kubesched snapshot` writes of the case."""
    return answer({**case, "snapshot": reduced(case["snapshot"])})


def reduced(document: dict) -> dict:
    """What `kubesched snapshot` makes of a List."""
    stream = io.BytesIO()
    cluster = load_snapshot(io.BytesIO(json.dumps(document).encode()))
    write_snapshot(only_read_fields(cluster), stream, strip=True)
    smaller: dict = json.loads(stream.getvalue())
    return smaller
