"""Verdicts, messages, scores and allocations of pods with resource claims are those of the slow reference."""

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from campaigns.devices.generate import snapshot
from campaigns.oracle.compare import without_empty
from kubesched.explanation import Explainer
from kubesched.pages.explanations import as_line
from kubesched.setup import set_up
from kubesched.snapshot import load_snapshot
from tests.reference.cluster import Cluster
from tests.reference.evaluate import evaluate, with_exact_amounts
from tests.trials import examples


@examples(30)
@given(seed=st.integers(0, 2**16), nodes=st.integers(1, 4), bound=st.integers(0, 5))
def test_claims_get_what_the_reference_gives_them(seed: int, nodes: int, bound: int) -> None:
    items = snapshot(seed, nodes, bound, 5)
    theirs = {line["pod"]: line for line in evaluate(Cluster(items["items"]), None)}
    explainer = Explainer(load_snapshot(io.BytesIO(json.dumps(items).encode())), set_up(None), nominations=False)
    mine = [as_line(explainer.evaluate(pod, preempt=False)) for pod in explainer.pending]
    assert [line["pod"] for line in mine] == list(theirs)
    for line in map(with_exact_amounts, mine):
        wanted = theirs[line["pod"]]
        if "undecided" not in {*line, *wanted}:
            assert without_empty(line) == without_empty(wanted)
