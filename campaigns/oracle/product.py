"""kubesched in this process as an answer for compare.py: what `explain --all` and `simulate` would print.

`answer` has the recorded objects, `answer_of_snapshot` what `kubesched snapshot` makes of them.
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
    return explained, [placed_line(placed) for placed in place(simulator, TieBreak.FIRST)]


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
