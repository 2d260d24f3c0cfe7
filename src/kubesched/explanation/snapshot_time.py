"""The newest time that the objects of a cluster name: how long ago something was, without a clock."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import msgspec

from kubesched.api import KubeObject, Node
from kubesched.documents import count

_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR
_MAX_NODES: Final = 100  # whose conditions are read: every kubelet reports them within minutes


class _Beat(msgspec.Struct, frozen=True, rename="camel"):
    """The time at which the kubelet reported a condition."""

    last_heartbeat_time: str | None = None


class _Status(msgspec.Struct, frozen=True):
    conditions: list[_Beat] | None = None


class _Reported(msgspec.Struct, frozen=True):
    """What is read of a node."""

    status: _Status = _Status()


_DECODER: Final = msgspec.json.Decoder(_Reported)


def newest_time(objects: Iterable[KubeObject]) -> float:
    """Seconds since 1970: when a kubelet reported last, or an object was created; 0 where nothing says it."""
    return seconds_of(max(_times(objects), default=""))


def seconds_of(text: str) -> float:
    """A time of Kubernetes in seconds since 1970; 0 for none, and for one that is not valid."""
    try:
        return datetime.fromisoformat(text).timestamp() if text else 0.0
    except ValueError:
        return 0.0


def _times(objects: Iterable[KubeObject]) -> Iterator[str]:
    nodes: list[Node] = []
    for one in objects:
        yield one.metadata.creation_timestamp or ""
        if isinstance(one, Node) and len(nodes) < _MAX_NODES:
            nodes.append(one)
    yield from (beat.last_heartbeat_time or "" for node in nodes for beat in _beats(node))


def _beats(node: Node) -> list[_Beat]:
    try:
        return _DECODER.decode(node.raw).status.conditions or []
    except msgspec.ValidationError:
        return []


def age_words(seconds: float) -> str:
    """`26 hours` or `3 days`."""
    return count(int(seconds // _DAY), "day") if seconds >= 2 * _DAY else count(int(seconds // _HOUR), "hour")
