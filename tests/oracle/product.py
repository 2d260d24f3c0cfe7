"""kubesched in this process as an answer for compare.py: what `explain --all` and `simulate` would print."""

import io
import json

from kubesched.explanation import Explainer, as_line
from kubesched.scheduler import TieBreak
from kubesched.setup import set_up
from kubesched.simulator import Simulator, place, placed_line
from kubesched.snapshot import load_snapshot

Lines = list[dict]


def answer(case: dict) -> tuple[Lines, Lines]:
    """The `eval` and `place` lines for a recorded case."""
    cluster = load_snapshot(io.BytesIO(json.dumps(case["snapshot"]).encode()))
    config = case["config"].encode() if case["config"] else None
    explainer = Explainer(cluster, set_up(config), nominations=False)
    explained = [as_line(explainer.explain(pod, preempt=False)) for pod in explainer.pending]
    simulator = Simulator(cluster, config)
    return explained, [placed_line(placed) for placed in place(simulator, TieBreak.FIRST)]
