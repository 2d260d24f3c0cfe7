"""Compares two effective configurations: field by field, plugin by plugin.

Entries of a list are compared by their name where each has one: profiles by schedulerName, extenders by urlPrefix,
plugins and resources by name. Their order counts: an entry that comes earlier or later than before has moved.
"""

import bisect
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Final

import msgspec

from kubesched.config.defaults import DEFAULT_SCHEDULER_NAME
from kubesched.config.field_errors import child
from kubesched.config.secrets import without_password, without_secrets

_NAMES: Final = ("schedulerName", "name", "urlPrefix")
_POINT: Final = re.compile(r".*\.plugins\.\w+")  # the path of the plugins at an extension point
_PLAIN: Final = re.compile(r"[A-Za-z0-9/][\w./:%*-]*")
_MAX_SHOWN: Final = 200  # characters of a value that is on one side only; a profile has thousands
_MISSING: Final = object()


class ChangeKind(Enum):
    """What has happened to a field, an entry of a list, or a plugin at an extension point."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    ENABLED = "enabled"
    DISABLED = "disabled"
    MOVED = "moved"


class FieldChange(msgspec.Struct, frozen=True):
    """One difference. `str()` is a line of text.

    Attributes:
        path: such as `profiles[default-scheduler].plugins.score.NodeResourcesFit.weight`.
        old, new: plain values, None on the side that has none; of an entry that moved, the name of the one before it,
            None where it is the first.
    """

    path: str
    kind: ChangeKind
    old: Any = None
    new: Any = None

    def __str__(self) -> str:
        return f"{self.path}: {self.in_words}"

    @property
    def in_words(self) -> str:
        """What has happened to the field: `1 -> 5`, `disabled (weight 1)`."""
        if self.kind is ChangeKind.CHANGED:
            return f"{_shown(self.old)} -> {_shown(self.new)}"
        if self.kind is ChangeKind.MOVED:
            return f"moved {'to the front' if self.new is None else f'after {self.new}'}"
        value = self.old if self.new is None else self.new
        if self.kind in (ChangeKind.ENABLED, ChangeKind.DISABLED):
            weight = value.get("weight")
            return f"{self.kind.value} (weight {weight})" if weight else f"{self.kind.value}"
        shown = _shown(_without_name(value))
        return f"{self.kind.value} {shown if len(shown) <= _MAX_SHOWN else ''}".rstrip()


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """What is different in `new`; empty if and only if both are equal.

    A single profile is compared with a single profile, whatever their names are.

    Args:
        old, new: plain values, as `effective` returns them; `plugins` of a profile may have a list of plugins at each
            extension point.
    """
    names = [_scheduler_names(document) for document in (old, new)]
    if len(names[0]) == len(names[1]) == 1 and names[0] != names[1]:
        renamed = {**old, "profiles": [{**old["profiles"][0], "schedulerName": names[1][0]}]}
        path = f"profiles[{names[1][0]}].schedulerName"
        return (FieldChange(path, ChangeKind.CHANGED, names[0][0], names[1][0]), *_shown_changes(renamed, new))
    return tuple(_shown_changes(old, new))


def differences_from_defaults(defaults: Mapping[str, Any], document: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """What is different from the default configuration; every profile is compared with the default one."""
    names = _scheduler_names(document)
    if len(names) == 1:
        return differences(defaults, document)
    profile = defaults["profiles"][0]
    alike = {**defaults, "profiles": [{**profile, "schedulerName": name} for name in names]}
    changes = [FieldChange(f"profiles[{name}]", ChangeKind.ADDED) for name in names if name != DEFAULT_SCHEDULER_NAME]
    if DEFAULT_SCHEDULER_NAME not in names:
        changes.append(FieldChange(f"profiles[{DEFAULT_SCHEDULER_NAME}]", ChangeKind.REMOVED))
    return (*changes, *_shown_changes(alike, document))


def _scheduler_names(document: Mapping[str, Any]) -> list[str]:
    return [profile["schedulerName"] for profile in document.get("profiles", ())]


def _shown_changes(old: Any, new: Any) -> Iterator[FieldChange]:
    """The differences, found with passwords and keys and told without them."""
    for change in _compare(old, new, ""):
        values = (without_secrets(value, change.path) for value in (change.old, change.new))
        yield FieldChange(without_password(change.path), change.kind, *values)


def _compare(old: Any, new: Any, path: str) -> Iterator[FieldChange]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            yield from _compare_one(old.get(key, _MISSING), new.get(key, _MISSING), child(path, key))
    elif isinstance(old, list) and isinstance(new, list) and (name := _name_of_all(old, new)):
        yield from _compare_named(old, new, name, path)
    elif old != new:
        yield FieldChange(path, ChangeKind.CHANGED, old, new)


def _compare_one(old: Any, new: Any, path: str, kinds: Sequence[ChangeKind] = ()) -> Iterator[FieldChange]:
    """Compare what may be on one side only.

    Args:
        kinds: of what is new, and of what is gone.
    """
    added, removed = kinds or (ChangeKind.ADDED, ChangeKind.REMOVED)
    if old is _MISSING:
        yield FieldChange(path, added, new=new)
    elif new is _MISSING:
        yield FieldChange(path, removed, old=old)
    else:
        yield from _compare(old, new, path)


def _compare_named(old: list[Any], new: list[Any], name: str, path: str) -> Iterator[FieldChange]:
    before, after = ({entry[name]: entry for entry in entries} for entries in (old, new))
    is_point = _POINT.fullmatch(path) is not None
    kinds = (ChangeKind.ENABLED, ChangeKind.DISABLED) if is_point else ()
    places = {key: place for place, key in enumerate(before, 1)}
    moved = _moved([places[key] for key in after if key in before])
    for key in dict.fromkeys((*before, *after)):
        where = child(path, key) if is_point else f"{path}[{key}]"
        yield from _compare_one(before.get(key, _MISSING), after.get(key, _MISSING), where, kinds)
        if places.get(key) in moved:
            yield FieldChange(where, ChangeKind.MOVED, _before(list(before), key), _before(list(after), key))


def _name_of_all(old: list[Any], new: list[Any]) -> str:
    """The field that names every entry of both lists; empty if there is none."""
    for name in _NAMES:
        if all(
            all(isinstance(entry, Mapping) and isinstance(entry.get(name), str) for entry in entries)
            and len({entry[name] for entry in entries}) == len(entries)
            for entries in (old, new)
        ):
            return name
    return ""


def _before(names: Sequence[str], name: str) -> str | None:
    place = names.index(name)
    return names[place - 1] if place else None


def _moved(places: Sequence[int]) -> set[int]:
    """The fewest places without which the others are ascending."""
    ends: list[int] = []  # the lowest end of an ascending run of each length
    ranks = []
    for place in places:
        rank = bisect.bisect_left(ends, place)
        ends[rank : rank + 1] = [place]
        ranks.append(rank)
    kept: set[int] = set()
    wanted = len(ends) - 1
    for place, rank in zip(reversed(places), reversed(ranks), strict=True):
        if rank == wanted and (not kept or place < min(kept)):
            kept.add(place)
            wanted -= 1
    return set(places) - kept


def _without_name(entry: Any) -> Any:
    """An entry of a list without the name that its path has already; None if it has nothing else."""
    if not isinstance(entry, Mapping) or not any(name in entry for name in _NAMES):
        return entry
    name = next(name for name in _NAMES if name in entry)
    return {key: value for key, value in entry.items() if key != name} or None


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return msgspec.json.encode(value).decode()
