"""A conversion changes how a configuration is written, not what it decides."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.oracle.compare import read_case
from kubesched.config import differences, effective
from kubesched.explanation import Explainer
from kubesched.legacy.dialects.kube_scheduler import LEGACY
from kubesched.pages.explanations import as_line
from kubesched.pages.simulations import placed_line
from kubesched.release import DEFAULT_RELEASE
from kubesched.scheduler import TieBreak
from kubesched.session import Simulator, place
from kubesched.setup import comparable, convert_text, set_up
from kubesched.snapshot import load_snapshot
from tests.properties.configurations import VERSIONS, texts
from tests.trials import TIMES, examples, one_in

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples" / "configurations").iterdir() if path.name != "README.md")
CASES = ("all-0001", "all-0011", "affinity-0004")

N_PENDING = 10 * TIMES

every_version = pytest.mark.parametrize("version", VERSIONS)


@every_version
@examples(10)
@given(st.data(), st.booleans())
def test_converting_twice_is_converting_once(version, data, kube_scheduler):
    text = data.draw(texts(version))
    once, _ = convert_text(text, kube_scheduler=kube_scheduler)
    assert convert_text(once.encode(), kube_scheduler=kube_scheduler) == (once, False)
    setup = set_up(once.encode())
    built = {plugin.name for profile in setup.profiles for plugin in profile.plugins}
    assert not (kube_scheduler and built & set(LEGACY))


@every_version
@examples(10)
@given(st.data())
def test_the_converted_text_is_the_configuration_that_was_loaded(version, data):
    text = data.draw(texts(version))
    before = set_up(text)
    after = set_up(convert_text(text, kube_scheduler=False)[0].encode())
    assert effective(after.configuration, DEFAULT_RELEASE) == effective(before.configuration, DEFAULT_RELEASE)
    assert differences(comparable(before), comparable(after)) == ()


def decisions(source: bytes | Path, items: list[dict]) -> list[dict]:
    """What every plugin says about each pending pod, and where all of them go in turn; each profile gets some pods."""
    names = [profile.scheduler_name for profile in set_up(source).profiles]
    for node in (item for item in items if item["kind"] == "Node"):
        node["metadata"]["labels"] |= {"region": "eu", "zone": "a", "rack": "1"}
    pending = [item for item in items if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    items = [item for item in items if item not in pending[N_PENDING:]]
    for i, pod in enumerate(pending):
        pod["spec"]["schedulerName"] = names[i % len(names)]
    data = json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode()
    explainer = Explainer(load_snapshot(io.BytesIO(data)), set_up(source), nominations=False)
    lines = [as_line(explainer.explain(pod, preempt=False)) for pod in explainer.pending]
    simulator = Simulator(load_snapshot(io.BytesIO(data)), set_up(source))
    return [*lines, *(placed_line(placed) for placed in place(simulator, TieBreak.FIRST))]


@pytest.mark.parametrize("number", one_in(3, range(len(EXAMPLES))), ids=lambda number: EXAMPLES[number].name)
def test_the_converted_text_decides_the_same_on_a_recorded_snapshot(number):
    file, case = EXAMPLES[number], CASES[number % len(CASES)]
    items = read_case(ROOT / "tests" / "golden" / "cases" / f"{case}.json.gz")["snapshot"]["items"]
    text, _ = convert_text(file, kube_scheduler=False)
    before = decisions(file, items)
    assert before == decisions(text.encode(), items)
    assert any(line.get("node") for line in before)
