"""read_trace: reads the files of a trace, whichever format each of them has."""

from collections.abc import Callable, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from kubesched.errors import InputError
from kubesched.snapshot import Source, SourceLike, find_sources, read_unpacked
from kubesched.traces.csv_table import CsvColumns, SeenNames, read_heading
from kubesched.traces.json_lines import HEADING, is_meant, read_json_lines
from kubesched.traces.openb import NODES, PODS, read_nodes, read_pods
from kubesched.traces.spot import SPOT_JOBS, SPOT_NODES, read_spot_jobs, read_spot_nodes
from kubesched.traces.trace import Trace


class _Read(Protocol):
    def __call__(self, text: str, where: str, *, shares: bool) -> Trace: ...


class _Format(NamedTuple):
    """A format.

    Attributes:
        words: what a message names it.
        is_meant: whether a text has it, perhaps with a mistake.
    """

    words: str
    is_meant: Callable[[str], bool]
    read: _Read


def _csv(columns: CsvColumns, read: _Read) -> _Format:
    return _Format(
        f"{columns.what} ({', '.join(columns.needed)})", lambda text: columns.are_meant(read_heading(text)), read
    )


_FORMATS: Final = (
    _Format(f"JSON lines that begin with {HEADING}", is_meant, read_json_lines),
    _csv(PODS, read_pods),
    _csv(NODES, read_nodes),
    _csv(SPOT_JOBS, read_spot_jobs),
    _csv(SPOT_NODES, read_spot_nodes),
)
_PROBE: Final = 4096
_EXPECTED: Final = "; ".join(one.words for one in _FORMATS)


def read_trace(*sources: SourceLike, gpu_shares: bool = False) -> Trace:
    """Read the files of a trace: pods that come and end, and nodes. The heading of each file says what it has.

    Args:
        sources: files or open streams, plain or packed with gzip or zstd: pod lists and node lists of openb (Alibaba,
            2023) and of its trace of spot capacity (2026), in CSV; and kubesched's JSON lines.
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


def is_trace(source: SourceLike) -> bool:
    """Whether a file looks like one of a trace; standard input and folders do not."""
    if source == "-" or (isinstance(source, str | PathLike) and Path(source).is_dir()):
        return False
    (file,) = find_sources([source])
    begin = read_unpacked(file)[:_PROBE].decode(errors="replace")
    return _format_of(begin) is not None


def _format_of(text: str) -> "_Format | None":
    return next((one for one in _FORMATS if one.is_meant(text)), None)


def _read(file: Source, *, shares: bool) -> Trace:
    text = _text(file)
    if (known := _format_of(text)) is not None:
        return known.read(text, file.label, shares=shares)
    found = f"the columns {', '.join(read_heading(text))[:200]}" if text.strip() else "an empty file"
    raise InputError(f"{file.label}: not a trace: found {found}; expected one of: {_EXPECTED}")


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
