"""What `report.plot()` draws; matplotlib is optional, so these tests are left out without it, which pytest reports."""

import io
import sys
from importlib.util import find_spec

import pytest

from kubesched import InputError, Simulator
from kubesched.testing import make_node, make_pod

WHY = "matplotlib is not installed: install the extra [dev]"
pytestmark = pytest.mark.skipif(not find_spec("matplotlib"), reason=WHY)

NODES = [make_node(f"n{i}", allocatable={"cpu": "4", "memory": "8Gi", "pods": 10}) for i in (1, 2)]
PODS = [
    make_pod("old", node="n1", requests={"cpu": "2"}),
    make_pod("web", requests={"cpu": "3", "memory": "4Gi"}),
    make_pod("huge", requests={"cpu": "64"}),
    make_pod("gpu", requests={"example.com/gpu": 1}),
]


@pytest.fixture(autouse=True)
def _without_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")


def heights(picture, label: str) -> list[float]:
    (bars,) = (bars for bars in picture.containers if bars.get_label() == label)
    return [bar.get_height() for bar in bars]


def test_each_node_has_a_bar_for_before_and_after_the_fullest_first():
    cpu, memory, _ = Simulator([*NODES, *PODS]).run().plot().axes
    assert [text.get_text() for text in cpu.get_xticklabels()] == ["n2", "n1"]
    assert (heights(cpu, "before"), heights(cpu, "after")) == ([0, 50], [75, 50])
    assert heights(memory, "after") == [50, 0]


def test_pending_pods_are_counted_by_cause():
    *_, pending = Simulator([*NODES, *PODS, make_pod("huge-2", requests={"cpu": "64"})]).run().plot().axes
    assert pending.get_title() == "3 of 4 pending pods stay pending"
    assert [bar.get_width() for bar in pending.patches] == [2, 1]
    assert "cpu" in pending.get_yticklabels()[0].get_text()


def test_of_many_nodes_the_names_are_left_out_and_many_causes_are_put_together():
    nodes = [make_node(f"n{i}") for i in range(41)]
    pods = [make_pod(f"p{i}", requests={f"example.com/{i}": 1}) for i in range(12)]
    cpu, _, pending = Simulator([*nodes, *pods]).run().plot().axes
    assert cpu.get_xlabel() == "41 nodes, the fullest first"
    assert "n1" not in [text.get_text() for text in cpu.get_xticklabels()]
    assert pending.get_yticklabels()[-1].get_text() == "4 other causes"


def test_a_figure_is_drawn_once_and_can_be_saved():
    from matplotlib import pyplot

    open_before = pyplot.get_fignums()
    file = io.BytesIO()
    Simulator(NODES[:1]).run().plot().savefig(file)
    assert file.getvalue().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == open_before


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"need matplotlib, which is not installed: pip install 'kubesched\[plot\]'"):
        Simulator(NODES).run().plot()
