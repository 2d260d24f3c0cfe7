"""A fault has the line of the plugin's file that raised; its text, which events have, does not contain it."""

from pathlib import Path

import pytest

from kubesched.framework import Code, Status, fault_text
from kubesched.framework.status import FaultText
from kubesched.session import Simulator
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod

PLUGIN = """
import json
from kubesched import Plugin, Status


class Odd(Plugin):
    def {hook}:
        return helper(pod)


def helper(pod):
    {body}
"""


def failed(folder: Path, body: str, hook: str = "filter(self, state, pod, node)"):
    file = folder / "odd.py"
    file.write_text(PLUGIN.format(hook=hook, body=body))
    simulator = Simulator([make_node("n1"), make_node("n2"), make_pod("p")], set_up(None, [f"{file}:Odd"]))
    (placement,) = simulator.run().placements
    return placement


@pytest.mark.parametrize(
    "hook",
    [
        "pre_filter(self, state, pod, nodes)",
        "filter(self, state, pod, node)",
        "filter_nodes(self, state, pod, nodes)",
        "pre_score(self, state, pod, nodes)",
        "score(self, state, pod, node)",
        "score_nodes(self, state, pod, nodes)",
        "reserve(self, state, pod, node_name)",
        "permit(self, state, pod, node_name)",
        "pre_bind(self, state, pod, node_name)",
    ],
)
def test_every_hook_that_raises_has_its_line(tmp_path: Path, hook: str) -> None:
    placement = failed(tmp_path, "return pod.nothing", hook)
    assert "AttributeError" in placement.message
    assert "odd.py" not in placement.message
    assert placement.diagnosis == f"{placement.message} (odd.py:12 in helper)"


def test_the_line_is_in_the_plugin_where_a_library_raises(tmp_path: Path) -> None:
    assert failed(tmp_path, 'return json.loads("{")').diagnosis.endswith(" (odd.py:12 in helper)")


def test_an_error_that_a_plugin_returns_has_no_line(tmp_path: Path) -> None:
    placement = failed(tmp_path, 'return Status.error("no quota server")')
    assert placement.message.endswith("no quota server")
    assert placement.diagnosis == ""


def test_an_invalid_answer_has_the_first_line_of_the_hook(tmp_path: Path) -> None:
    placement = failed(tmp_path, "return None")
    assert "must return Status.SUCCESS" in placement.message
    assert placement.diagnosis == f"{placement.message} (odd.py:7 in filter)"


def test_text_without_a_traceback_has_no_place() -> None:
    assert (fault_text(ValueError("no disk")), fault_text(ValueError("no disk")).place) == ("ValueError: no disk", "")


def test_statuses_are_equal_whatever_the_place() -> None:
    placed, plain = Status(Code.ERROR, (FaultText("x", "a.py:1 in f"),)), Status(Code.ERROR, ("x",))
    assert placed == plain
    assert hash(placed) == hash(plain)
    assert (placed.message, placed.located, plain.located) == ("x", "x (a.py:1 in f)", "x")


def test_a_text_that_is_not_utf8_keeps_its_place() -> None:
    assert Status(Code.ERROR, (FaultText("\udcff", "a.py:1 in f"),)).located == "\\udcff (a.py:1 in f)"
