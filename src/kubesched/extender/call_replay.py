"""Sends recorded calls to the current plugins and finds the answers that changed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from kubesched.api import WatchEvent, kind_named
from kubesched.documents import listed
from kubesched.errors import InputError, StateError
from kubesched.extender.answer import Answer
from kubesched.extender.plugin_extender import ClusterWrites, Extender
from kubesched.extender.recording import RecordedCall, RecordedWatch, read_recording
from kubesched.framework import VirtualClock
from kubesched.scheduler import start_plugins, stop_plugins
from kubesched.setup import EventLoop, Setup

_MAX_SHOWN: Final = 300  # characters of an answer that is not a document
_VERBS: Final = {
    "filter": "filter",
    "predicates": "filter",
    "prioritize": "prioritize",
    "priorities": "prioritize",
    "preempt": "preempt",
    "preemption": "preempt",
}


class Replayed(msgspec.Struct, frozen=True):
    """One recorded call.

    Attributes:
        number: counted from 1 over all calls.
        verb: of the call; bind is not played again.
        pod: namespace/name.
        differences: in sentences; empty where the answers are equal.
        is_skipped: whether it was not played: binds, calls of plugins that are gone, and those that were answered late.
    """

    number: int
    verb: str
    pod: str = ""
    differences: tuple[str, ...] = ()
    is_skipped: bool = False


def replay(setup: Setup, folder: Path, *, preemption_helps: bool = False) -> Iterator[Replayed]:
    """Play a recording against the plugins of a setup.

    Plugins are started before the first call, when the watch had shown everything, and stopped after the last; tasks
    that they make do not run in between. Pods that were bound through the extender come in as the watch showed them.

    Args:
        setup: made without default plugins.
    Raises:
        InputError: the recording does not exist, or does not fit the plugins.
        PluginError: a plugin did not start.
    """
    records = read_recording(folder)
    watch = next(records, None)
    if not isinstance(watch, RecordedWatch):
        raise InputError(f"{folder}: the recording is empty")
    extender = Extender(
        setup,
        clock=VirtualClock(),
        is_watched=bool(watch.kinds),
        writes=ClusterWrites(),
        preemption_helps=preemption_helps,
        rng=Random(0),
    )
    known = {kind_named(kind).key for kind in watch.kinds}
    if known and (missing := [kind for kind in extender.kinds if kind_named(kind).key not in known]):
        raise InputError(
            f"{folder}: the plugins read {' and '.join(missing)}, and what was watched while this was recorded is only "
            f"{' and '.join(watch.kinds)}; record again with these plugins"
        )
    number, loop = 0, EventLoop()
    for record in records:
        if isinstance(record, WatchEvent):
            _apply(extender, record)
        elif isinstance(record, RecordedCall):
            if not number:
                loop.run(start_plugins(extender.frameworks.values()))
            number += 1
            yield _play(extender, record, number)
    if number:
        loop.run(stop_plugins(extender.frameworks.values()))
    loop.close()


def _apply(extender: Extender, event: WatchEvent) -> None:
    """Take in an event; one that makes no sense was passed over when it was recorded, too."""
    with suppress(StateError):
        extender.apply((event,))


def _play(extender: Extender, call: RecordedCall, number: int) -> Replayed:
    first, _, name = call.path.strip("/").partition("/")
    verb = _VERBS.get(first, first)
    verbs = extender.singles.get(name) if name else extender.verbs
    if first not in _VERBS or verbs is None or call.is_late:
        return Replayed(number, verb, is_skipped=True)
    answer: Answer = getattr(verbs, verb)(call.request, _no_limit)
    now = b"".join(answer.pieces)
    if (call.status, call.answer) == (answer.status, now):
        return Replayed(number, verb, answer.pod)
    return Replayed(number, verb, answer.pod, tuple(_differences(verb, call, answer.status, now)))


def _no_limit(_plugin: str) -> None:
    """There is no deadline."""


def _differences(verb: str, call: RecordedCall, status: int, now: bytes) -> Iterator[str]:
    if call.status != status:
        yield f"status was {call.status}, is {status}"
    elif status != 200:
        yield f"was {_text(call.answer)}, is {_text(now)}"
    else:
        try:
            yield from list(_COMPARE[verb](msgspec.json.decode(call.answer), msgspec.json.decode(now)))
        except (AttributeError, KeyError, TypeError, ValueError):  # somebody has changed the recording
            yield f"the recorded answer is not an answer to {verb}: {_text(call.answer)}"


def _text(body: bytes) -> str:
    text = body.decode(errors="replace").strip()
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")


def _compare_filter(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if before.get("Error") != after.get("Error"):
        yield f"error was {before.get('Error', '')!r}, is {after.get('Error', '')!r}"
    was, now = _survivors(before), _survivors(after)
    yield from _nodes_listed("rejected now", [name for name in was if name not in now])
    yield from _nodes_listed("pass now", [name for name in now if name not in was])
    for key in ("FailedNodes", "FailedAndUnresolvableNodes"):
        old, new = before.get(key) or {}, after.get(key) or {}
        changed = [name for name in new if name in old and old[name] != new[name]]
        yield from _nodes_listed(f"{key} with another message", changed)
        yield from _nodes_listed(f"no longer in {key}", [name for name in old if name not in new and name not in now])
        yield from _nodes_listed(f"now in {key}", [name for name in new if name not in old and name not in was])


def _survivors(answer: Mapping[str, Any]) -> dict[str, None]:
    if answer.get("NodeNames") is not None:
        return dict.fromkeys(answer["NodeNames"])
    items = (answer.get("Nodes") or {}).get("items") or ()
    return dict.fromkeys(item["metadata"]["name"] for item in items)


def _compare_scores(before: list[Mapping[str, Any]], after: list[Mapping[str, Any]]) -> Iterator[str]:
    was = {entry["Host"]: entry["Score"] for entry in before}
    changed = [
        f"{entry['Host']} {was.get(entry['Host'])} -> {entry['Score']}"
        for entry in after
        if was.get(entry["Host"]) != entry["Score"]
    ]
    yield from _nodes_listed("other scores", changed)
    yield from _nodes_listed("without a score now", [name for name in was if all(e["Host"] != name for e in after)])


def _compare_preemption(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    was, now = before.get("NodeNameToMetaVictims") or {}, after.get("NodeNameToMetaVictims") or {}
    yield from _nodes_listed("removed from preemption now", [name for name in was if name not in now])
    yield from _nodes_listed("kept in preemption now", [name for name in now if name not in was])
    yield from _nodes_listed("other victims", [name for name in now if name in was and now[name] != was[name]])


_COMPARE: Final[dict[str, Callable[[Any, Any], Iterator[str]]]] = {
    "filter": _compare_filter,
    "prioritize": _compare_scores,
    "preempt": _compare_preemption,
}


def _nodes_listed(what: str, entries: list[str]) -> Iterator[str]:
    if entries:
        yield f"{what}: {listed(entries, first=5)}"
