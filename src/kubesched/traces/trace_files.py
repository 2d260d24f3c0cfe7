"""read_trace: reads the files of a trace, whichever format each of them has."""

from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple, Protocol

from kubesched.documents import joined
from kubesched.errors import InputError
from kubesched.snapshot import Source, SourceLike, find_sources, read_unpacked
from kubesched.traces.csv_table import CsvColumns, SeenNames, read_heading
from kubesched.traces.openb import NODES, PODS, read_nodes, read_pods
from kubesched.traces.trace import Trace


class _Read(Protocol):
    def __call__(self, text: str, where: str, *, shares: bool) -> Trace: ...


class _Format(NamedTuple):
    columns: CsvColumns
    read: _Read


_FORMATS: Final = (_Format(PODS, read_pods), _Format(NODES, read_nodes))
_EXPECTED: Final = joined([f"{one.columns.what} ({', '.join(one.columns.needed)})" for one in _FORMATS])


def read_trace(*sources: SourceLike, gpu_shares: bool = False) -> Trace:
    """Read the files of a trace: pods that come and end, and nodes. The heading of each file says what it has.

    Args:
        sources: files or open streams, plain or packed with gzip or zstd: pod lists and node lists of openb (Alibaba,
            2023), in CSV.
        gpu_shares: pods that ask for a part of a GPU request no whole one, for plugins that share GPUs; the module
            `traces/gpu_shares.py` says which resources, labels and annotations there are.
    Raises:
        InputError: a file cannot be read, is not a trace, or has something that is not valid; with the line.

    Example:
        trace = read_trace("pods.csv", "nodes.csv")
        print(len(trace.nodes), "nodes;", trace.arrivals[0].pod.key, "comes at", trace.arrivals[0].at)
    """
    files = find_sources(sources)
    if not files:
        raise InputError("a trace has at least one file; found none")
    parts = [_read(one, shares=gpu_shares) for one in files]
    return _joined(parts, [one.label for one in files])


def _read(file: Source, *, shares: bool) -> Trace:
    text = _text(file)
    heading = read_heading(text)
    for one in _FORMATS:
        if one.columns.are_meant(heading):
            return one.read(text, file.label, shares=shares)
    found = "an empty file" if not text.strip() else f"the columns {', '.join(heading)[:200]}"
    raise InputError(f"{file.label}: not a trace: found {found}; expected {_EXPECTED}")


def _text(file: Source) -> str:
    try:
        return read_unpacked(file).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{file.label}: not UTF-8 text: byte {error.start} is not part of a character") from error


def _joined(parts: Sequence[Trace], labels: Sequence[str]) -> Trace:
    """One trace of several, in the order of time.

    Raises:
        InputError: two have a node or a pod of one name.
    """
    nodes, pods = SeenNames("node"), SeenNames("pod")
    for part, label in zip(parts, labels, strict=True):
        for node in part.nodes:
            nodes.add(node.name, label)
        for arrival in part.arrivals:
            pods.add(arrival.pod.key, label)
    return Trace(
        nodes=tuple(chain.from_iterable(part.nodes for part in parts)),
        arrivals=tuple(sorted(chain.from_iterable(part.arrivals for part in parts), key=lambda one: one.at)),
        changes=tuple(sorted(chain.from_iterable(part.changes for part in parts), key=lambda one: one.at)),
        notes=tuple(chain.from_iterable(part.notes for part in parts)),
        name=" and ".join(label.rpartition("/")[2] for label in labels),
    )
