"""kubesched's own format: what is written is read again, and each fault is one sentence with its line."""

import io
import json
from typing import Any

import pytest

from kubesched.errors import InputError
from kubesched.testing import make_node, make_pod
from kubesched.traces import Arrival, NodeChange, Trace, json_lines, read_trace

HEADING = '{"format": "kubesched/trace/v1"}'
POD = {"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
NODE = {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}


def read(*lines: Any, heading: str = HEADING) -> Trace:
    text = "\n".join([heading, *(line if isinstance(line, str) else json.dumps(line) for line in lines)])
    file = io.BytesIO(text.encode())
    file.name = "day.jsonl"
    return read_trace(file)


def test_what_is_written_is_read_again() -> None:
    n1, n2 = make_node("n1"), make_node("n2")
    trace = Trace(
        (n1,),
        (Arrival(5.0, make_pod("a"), 2.5), Arrival(7.0, make_pod("b", node="n1"), None, comes_again=False)),
        (NodeChange(6.0, n2), NodeChange(8.0, n1, is_gone=True), NodeChange(9.0, n1)),
    )
    again = read_trace(io.BytesIO(b"".join(json_lines(trace))))
    assert (again.nodes, again.arrivals, again.changes) == (trace.nodes, trace.arrivals, trace.changes)
    assert again.notes == ("without duration: 1 pod, which never end",)


def test_nodes_before_the_first_pod_are_there_at_the_beginning() -> None:
    trace = read({"at": 0, "node": NODE}, {"at": 3, "pod": POD, "duration": 1}, {"at": 4, "nodeGone": "n1"})
    assert [node.name for node in trace.nodes] == ["n1"]
    assert [(one.at, one.node.name, one.is_gone) for one in trace.changes] == [(4, "n1", True)]


def test_blank_lines_and_several_files_are_one_trace() -> None:
    assert read({"at": 0, "node": NODE}, "", {"at": 3, "pod": POD}, "").arrivals[0].pod.key == "default/a"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"at": 0, "pod": {}'], "line 2: Input data was truncated; expected"),
        ([{"at": 0}], 'line 2: found {"at": 0}; expected {"at": 0, "pod": {...}}, "node" or "nodeGone"'),
        ([{"at": "soon", "pod": POD}], "line 2: at: "),
        ([{"at": 0, "pod": POD, "lasts": 5}], "line 2: "),
        (
            [{"at": 0, "pod": POD, "duration": -5}],
            "line 2: duration: found -5; expected a number of seconds",
        ),
        ([{"at": -1, "pod": POD}], "line 2: at: found -1; expected 0 or more; sort the lines by their times"),
        (
            [{"at": 9, "node": NODE}, {"at": 5, "pod": POD}],
            "line 3: at: found 5; expected 9, the time of the line before it, or later; sort the lines by their times",
        ),
        ([{"at": 0, "pod": POD}, {"at": 5, "pod": POD}], "line 3: pod default/a is there twice, first in day.jsonl: "),
        ([{"at": 0, "pod": {"metadata": {}}}], "line 2: pod: metadata.name is missing"),
        ([{"at": 0, "nodeGone": "n9"}], "line 2: node n9 goes and is not there; expected one that came before"),
    ],
)
def test_a_fault_is_one_sentence_with_its_line(lines: list[Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(*lines)
    assert str(caught.value).startswith(f"day.jsonl: {message}")
    assert "\n" not in str(caught.value)


def test_another_version_of_the_format_is_refused() -> None:
    with pytest.raises(InputError, match=r'line 1: found kubesched/trace/v9; expected \{"format": "kubesched/trace/v1'):
        read({"at": 0, "pod": POD}, heading='{"format": "kubesched/trace/v9"}')
    with pytest.raises(InputError, match=r"line 1: found no format; expected .* in the first line"):
        read(heading='{"at": 0}')
