"""Measurements of nodes: read from NodeMetrics of metrics.k8s.io, in objects or in a file."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from kubesched.api import KubeObject, parse_quantity, whole_units
from kubesched.config import parse_duration
from kubesched.documents import decode_nested, describe_fault, read_file, shorten
from kubesched.errors import InputError

MOST: Final = 2**60
"""The largest usage that is believed, in milli-CPU and bytes: sums with what pods request stay far within int64."""


class Sample(NamedTuple):
    """What is in use on a node.

    Attributes:
        cpu, memory: milli-CPU and bytes; negative where it was not measured.
        time: when it was measured, in seconds since 1970.
        window: seconds before that over which CPU is averaged.
    """

    cpu: int
    memory: int
    time: float
    window: float = 0.0

    @property
    def since(self) -> float:
        """Pods that started later are not in it, or only in part."""
        return self.time - self.window


class _Metadata(msgspec.Struct):
    name: str = ""


class _Usage(msgspec.Struct):
    cpu: str | int | float = ""
    memory: str | int | float = ""


class _NodeMetrics(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    usage: _Usage = msgspec.field(default_factory=_Usage)
    timestamp: str = ""
    window: str = ""


class _NodeMetricsList(msgspec.Struct):
    items: list[_NodeMetrics]


def sample_of(known: KubeObject, now: float) -> Sample:
    """The sample in a NodeMetrics object; one without a time is of now.

    Raises:
        InputError: a quantity or the time is not valid.
    """
    try:
        found = decode_nested(lambda raw: msgspec.json.decode(raw, type=_NodeMetrics), known.raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(str(describe_fault(error))) from None
    return _sample(found, now)


def read_usage_file(path: str, now: float) -> dict[str, Sample]:
    """The samples in a file with a NodeMetricsList, as `kubectl get nodes.metrics.k8s.io -o json` writes it, by node.

    Raises:
        InputError: it cannot be read, or is not such a list.
    """
    try:
        items = msgspec.json.decode(read_file(Path(path)), type=_NodeMetricsList).items
        return {item.metadata.name: _sample(item, now) for item in items}
    except (OSError, ValueError, RecursionError, InputError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
        if isinstance(error, RecursionError):
            reason = str(describe_fault(error))
        raise InputError(f"{path}: {reason}; expected a NodeMetricsList in JSON") from error


def _sample(found: _NodeMetrics, now: float) -> Sample:
    name = found.metadata.name
    amounts = (_amount(name, "cpu", found.usage.cpu), _amount(name, "memory", found.usage.memory))
    try:
        time = datetime.fromisoformat(found.timestamp).timestamp() if found.timestamp else now
        window = float(parse_duration(found.window)) if found.window else 0.0
    except (ValueError, OverflowError) as error:
        raise InputError(f"NodeMetrics {found.metadata.name}: {error}") from None
    return Sample(*amounts, time, window)


def _amount(node: str, resource: str, text: str | int | float) -> int:
    """What is used in whole units, which count to `MOST`; -1 where it was not measured."""
    if text == "":
        return -1
    whole = whole_units(resource, exact := parse_quantity(text))
    unit = parse_quantity("1m" if resource == "cpu" else "1")
    if not 0 <= exact <= MOST * unit:
        raise InputError(
            f"NodeMetrics {node}: usage.{resource}: found {shorten(text)}; expected an amount that a node can use"
        )
    return whole


def time_text(time: float) -> str:
    """A time as Kubernetes writes it."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def time_of(samples: Iterable[Sample], within: float) -> float:
    """When a set of samples was taken, if that is not known: the time of its newest ones; 0 without samples.

    A few nodes may have a wrong clock. So a tenth of the samples, and at least two of several, have to be of that time
    or up to `within` seconds older; where no sample has such company, the newest counts.
    """
    times = sorted(sample.time for sample in samples)
    needed = max(2, -(-len(times) // 10))
    for last in range(len(times) - 1, needed - 2, -1):
        if times[last] - times[last - needed + 1] <= within:
            return times[last]
    return times[-1] if times else 0.0


def fresh_samples(samples: Mapping[str, Sample], now: float, stale_after: float) -> dict[str, Sample]:
    """The samples whose time is known to be right and recent: at most `stale_after` seconds from now, either way."""
    return {name: sample for name, sample in samples.items() if abs(now - sample.time) <= stale_after}
