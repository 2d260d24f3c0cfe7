"""Reads and writes kubesched's format of a trace: JSON lines, each of which is something that happens.

The first line names the format. Each other line has `at`, in seconds, and one of `pod`, a pod that comes; `node`, a
node that comes or changes; and `nodeGone`, the name of a node that goes. The lines are in the order of time. A node
that comes before anything else happens is there at the beginning.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import msgspec

from kubesched.api import Node, Pod, decode_object
from kubesched.documents import count, describe_json_fault
from kubesched.errors import InputError, ObjectError
from kubesched.traces.csv_table import SeenNames
from kubesched.traces.trace import Arrival, NodeChange, Trace

FORMAT: Final = "kubesched/trace/v1"
HEADING: Final = f'{{"format": "{FORMAT}"}}'
_EXAMPLE: Final = 'expected {"at": 0, "pod": {...}}, "node" or "nodeGone"'


class _Line(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    at: float
    pod: msgspec.Raw = msgspec.Raw()
    duration: float | None = None
    comes_again: bool | None = None
    node: msgspec.Raw = msgspec.Raw()
    node_gone: str = ""


class _Heading(msgspec.Struct):
    format: str = ""


_read_line: Final = msgspec.json.Decoder(_Line).decode
_read_heading: Final = msgspec.json.Decoder(_Heading).decode


def is_meant(text: str) -> bool:
    """Whether a text looks like JSON lines of a trace: it begins with the name of the format, or with a line of it."""
    first = text.lstrip().partition("\n")[0]
    return first.startswith("{") and (FORMAT.partition("/v")[0] in first or '"at"' in first)


def read_json_lines(text: str, where: str, *, shares: bool) -> Trace:
    """The trace in a file.

    Args:
        shares: not used: the pods are written as they are to be.
    Raises:
        InputError: a line is not valid, or contradicts the lines before it.
    """
    reader = _Reader(where)
    lines = enumerate(text.splitlines(), 1)
    for number, line in lines:
        if line.strip():
            _check_heading(line, f"{where}: line {number}")
            break
    for number, line in lines:
        if line.strip():
            reader.add(line, f"{where}: line {number}")
    return reader.trace()


def _check_heading(line: str, where: str) -> None:
    try:
        found = _read_heading(line).format
    except msgspec.DecodeError as error:
        raise InputError(f"{where}: {describe_json_fault(error, line.encode())}; expected {HEADING}") from error
    if found != FORMAT:
        raise InputError(f"{where}: found {found or 'no format'}; expected {HEADING} in the first line")


class _Reader:
    """Reads line after line."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._pods = SeenNames("pod")
        self._present: dict[str, Node] = {}
        self._begin: list[Node] = []
        self._arrivals: list[Arrival] = []
        self._changes: list[NodeChange] = []
        self._last = 0.0

    def add(self, line: str, where: str) -> None:
        """Read a line.

        Raises:
            InputError: it is not valid, or contradicts those before it.
        """
        try:
            read = _read_line(line)
        except msgspec.DecodeError as error:
            raise InputError(f"{where}: {describe_json_fault(error, line.encode())}; {_EXAMPLE}") from error
        if sum(map(bool, (read.pod, read.node, read.node_gone))) != 1:
            raise InputError(f"{where}: found {line[:60]}; {_EXAMPLE}")
        if not self._last <= read.at < float("inf"):
            why = f"{self._last:g}, the time of the line before it, or later" if self._last else "0 or more"
            raise InputError(f"{where}: at: found {read.at:g}; expected {why}; sort the lines by their times")
        self._last = read.at
        if read.pod:
            self._arrivals.append(self._arrival(read, where))
        else:
            self._change(read, where)

    def _arrival(self, read: _Line, where: str) -> Arrival:
        if read.duration is not None and not 0 <= read.duration < float("inf"):
            raise InputError(f"{where}: duration: found {read.duration:g}; expected a number of seconds, 0 or more")
        pod = _object("Pod", read.pod, where)
        assert isinstance(pod, Pod)
        self._pods.add(pod.key, where)
        return Arrival(read.at, pod, read.duration, read.comes_again)

    def _change(self, read: _Line, where: str) -> None:
        if read.node_gone:
            known = self._present.pop(read.node_gone, None)
            if known is None:
                raise InputError(f"{where}: node {read.node_gone} goes and is not there; expected one that came before")
            self._changes.append(NodeChange(read.at, known, is_gone=True))
            return
        node = _object("Node", read.node, where)
        assert isinstance(node, Node)
        is_first = not self._arrivals and not self._changes and node.name not in self._present
        self._present[node.name] = node
        if is_first:
            self._begin.append(node)
        else:
            self._changes.append(NodeChange(read.at, node))

    def trace(self) -> Trace:
        """What was read."""
        never = sum(one.duration is None for one in self._arrivals)
        notes = (f"without duration: {count(never, 'pod')}, which never end",) if never else ()
        return Trace(tuple(self._begin), tuple(self._arrivals), tuple(self._changes), notes)


def _object(kind: str, raw: msgspec.Raw, where: str) -> Any:
    try:
        return decode_object(kind, bytes(raw))
    except ObjectError as error:
        raise InputError(f"{where}: {kind.lower()}: {error}") from error


def json_lines(trace: Trace) -> Iterator[bytes]:
    """A trace as lines of a file, each with its end."""
    yield f"{HEADING}\n".encode()
    happening: Iterable[Arrival | NodeChange] = sorted(chain(trace.changes, trace.arrivals), key=lambda one: one.at)
    begin = NodeChange
    for one in chain((begin(trace.begin, node) for node in trace.nodes), happening):
        yield msgspec.json.encode(_line(one)) + b"\n"


def _line(one: Arrival | NodeChange) -> dict[str, Any]:
    if isinstance(one, NodeChange):
        return {"at": one.at, "nodeGone": one.node.name} if one.is_gone else {"at": one.at, "node": one.node.document}
    line = {"at": one.at, "pod": one.pod.document, "duration": one.duration, "comesAgain": one.comes_again}
    return {name: value for name, value in line.items() if value is not None}
