"""The loops of macros, as closures.

Rule: cel-spec "Macros". `all` and `exists` stop where the answer is clear, and an error counts only if it never is.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from kubesched.cel.cel_values import (
    LISTS,
    MAPS,
    NO_SUCH_OVERLOAD,
    Moment,
    OptionalValue,
    TimeSpan,
    TypeValue,
    Uint,
    key_of,
    keys_of,
)
from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.library import sorted_by
from kubesched.cel.semantic_versions import Semver
from kubesched.cel.syntax_tree import MacroKind
from kubesched.errors import CelRuntimeError

_Frame = list[Any]
_Evaluate = Callable[[_Frame], Any]
_Steps = Callable[[_Frame], Iterable[Any]]
"""Goes through a list or map, puts each element into the frame, and yields its key or position."""

_GO_TYPES: Final[dict[type, str]] = {
    bool: "types.Bool",
    bytes: "types.Bytes",
    float: "types.Double",
    int: "types.Int",
    str: "types.String",
    type(None): "types.Null",
    Moment: "types.Timestamp",
    OptionalValue: "*types.Optional",
    Quantity: "cel.Quantity",
    Semver: "cel.Semver",
    TimeSpan: "types.Duration",
    TypeValue: "*types.Type",
    Uint: "types.Uint",
}
"""What upstream calls values that a macro cannot visit."""


def loop(
    kind: MacroKind, operand: _Evaluate, places: Sequence[int], body: _Evaluate, condition: _Evaluate | None
) -> _Evaluate:
    """The closure of a macro that goes over a list or map.

    Args:
        places: of its variables in the frame.
    """
    steps = _steps(operand, places)
    match kind:
        case MacroKind.ALL:
            return _quantified(steps, body, decisive=False)
        case MacroKind.EXISTS:
            return _quantified(steps, body, decisive=True)
        case MacroKind.EXISTS_ONE:
            return lambda frame: len(list(_kept(steps, body)(frame))) == 1
        case MacroKind.FILTER:
            place = places[0]
            kept = _kept(steps, body)
            return lambda frame: [frame[place] for _ in kept(frame)]
        case MacroKind.SORT_BY:
            return _sorted(steps, places[0], body)
        case MacroKind.TRANSFORM_MAP:
            kept = _kept(steps, condition)
            return lambda frame: {key_of(key): body(frame) for key in kept(frame)}
        case MacroKind.TRANSFORM_MAP_ENTRY:
            return _entries(_kept(steps, condition), body)
        case _:
            kept = _kept(steps, condition)
            return lambda frame: [body(frame) for _ in kept(frame)]


def _steps(operand: _Evaluate, places: Sequence[int]) -> _Steps:
    if len(places) == 1:
        (place,) = places

        def steps(frame: _Frame) -> Iterable[Any]:
            for value in _elements(operand(frame)):
                frame[place] = value
                yield None

        return steps
    key_place, value_place = places

    def pairs(frame: _Frame) -> Iterable[Any]:
        for key, value in _pairs(operand(frame)):
            frame[key_place], frame[value_place] = key, value
            yield key

    return pairs


def _elements(value: Any) -> Iterable[Any]:
    if type(value) in LISTS:
        return value  # type: ignore[no-any-return]
    if type(value) in MAPS:
        return keys_of(value)
    found = _GO_TYPES.get(type(value))
    raise CelRuntimeError(NO_SUCH_OVERLOAD if found is None else f"got '{found}', expected iterable type")


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    if type(value) in LISTS:
        return enumerate(value)
    if type(value) in MAPS:
        return zip(keys_of(value), value.values(), strict=True)
    found = _GO_TYPES.get(type(value))
    raise CelRuntimeError(NO_SUCH_OVERLOAD if found is None else f"unsupported comprehension range type: {found}")


def _holds(condition: _Evaluate, frame: _Frame) -> bool:
    value = condition(frame)
    if type(value) is bool:
        return value
    raise CelRuntimeError(NO_SUCH_OVERLOAD)


def _quantified(steps: _Steps, body: _Evaluate, *, decisive: bool) -> _Evaluate:
    """`all`, which a false element decides, or `exists`, which a true one does."""

    def evaluate(frame: _Frame) -> bool:
        error: CelRuntimeError | None = None
        for _ in steps(frame):
            try:
                if _holds(body, frame) is decisive:
                    return decisive
            except CelRuntimeError as raised:
                if raised.is_final:
                    raise
                error = error or raised
        if error is not None:
            raise error
        return not decisive

    return evaluate


def _kept(steps: _Steps, condition: _Evaluate | None) -> _Steps:
    """The steps for which a condition holds. As upstream never stops early, the last error of a condition counts."""
    if condition is None:
        return steps

    def kept(frame: _Frame) -> Iterable[Any]:
        error: CelRuntimeError | None = None
        for key in steps(frame):
            try:
                if not _holds(condition, frame):
                    continue
            except CelRuntimeError as raised:
                if raised.is_final:
                    raise
                error = raised
                continue
            if error is None:
                yield key
        if error is not None:
            raise error

    return kept


def _sorted(steps: _Steps, place: int, key: _Evaluate) -> _Evaluate:
    def evaluate(frame: _Frame) -> list[Any]:
        pairs = [(frame[place], key(frame)) for _ in steps(frame)]
        return sorted_by([element for element, _ in pairs], [rank for _, rank in pairs])

    return evaluate


def _entries(steps: _Steps, body: _Evaluate) -> _Evaluate:
    """`transformMapEntry`: the entries of many small maps in one."""

    def evaluate(frame: _Frame) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for _ in steps(frame):
            entries = body(frame)
            if type(entries) is not dict:
                raise CelRuntimeError(NO_SUCH_OVERLOAD)
            for key, value in entries.items():
                if key in result:
                    raise CelRuntimeError(f"insert failed: key '{key}' already exists")
                result[key] = value
        return result

    return evaluate
