"""Remedies for selectors that accept a value of an attribute that no device has, where one is known that was meant."""

import json
import re
from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import TYPE_CHECKING, Final

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.errors import CelCompileError
from kubesched.explanation.device_survey import DeviceSurvey
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Remedy
from kubesched.explanation.remedies.claim_specs import ClaimRequest, selecting
from kubesched.naming import respelt

if TYPE_CHECKING:
    from kubesched.cel import CompiledSelector, LiteralComparison

_MAX_MEANT: Final = 3
_PARTS: Final = re.compile("[a-z0-9]+")

KnownValues = Mapping[str, Set[str]]
"""Attribute, qualified -> the texts that devices have for it, taken ones among them."""


def corrected_values(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """The values that were probably meant by one that no device has, such as `NVIDIA H100 80GB HBM3` by `H100`."""
    known = survey.known_values
    for i, text in enumerate(request.ask.selectors):
        for comparison, wrong, meant in _misspelt(text, known):
            for value in meant[:_MAX_MEANT]:
                name = comparison.name.rpartition("/")[2]
                what = f"correct {name} {json.dumps(wrong)}, which no device has, to {json.dumps(value)}"
                edit = partial(selecting, texts={i: _with_value(text, comparison, wrong, value)})
                yield request.remedy(what, edit, Effort.CORRECT, keeps=True)


def with_known_values(text: str, known: KnownValues) -> str:
    """An expression with the first value that was meant, in place of each one that no device has."""
    while found := next(_misspelt(text, known), None):
        comparison, wrong, meant = found
        text = _with_value(text, comparison, wrong, meant[0])
    return text


def _misspelt(text: str, known: KnownValues) -> Iterator[tuple["LiteralComparison", str, list[str]]]:
    """The accepted values that no device has, with those that were meant; not those without."""
    selector = _compiled(text)
    for comparison in (one.comparison for one in selector.conjuncts) if selector is not None else ():
        values = known.get(comparison.name, frozenset()) if comparison is not None and comparison.start >= 0 else ()
        if comparison is None or not values or comparison.operator not in ("==", "in"):
            continue
        accepted = _accepted(comparison)
        for wrong in accepted:
            meant = [] if wrong in values else [one for one in _meant(wrong, values) if one not in accepted]
            if meant:
                yield comparison, wrong, meant


def _meant(wrong: str, values: Set[str]) -> list[str]:
    """The same value in another spelling; else those that say more than it: the words of it, and further ones."""
    if same := respelt(wrong, values):
        return [same]
    words = set(_PARTS.findall(wrong.lower()))
    return sorted(one for one in values if words and words < set(_PARTS.findall(one.lower())))


def _accepted(comparison: "LiteralComparison") -> list[str]:
    literal = comparison.literal
    return [one for one in (literal if isinstance(literal, tuple) else (literal,)) if isinstance(one, str)]


def _with_value(text: str, comparison: "LiteralComparison", wrong: str, value: str) -> str:
    literal = comparison.literal
    if isinstance(literal, tuple):
        written = "[{}]".format(", ".join(_written(value if one == wrong else one) for one in literal))
    else:
        written = _written(value)
    return f"{text[: comparison.start]}{written}{text[comparison.end :]}"


def _written(value: object) -> str:
    return json.dumps(value if isinstance(value, str | bool | int | float) else str(value), ensure_ascii=False)


def _compiled(text: str) -> "CompiledSelector | None":
    try:
        return kubesched.cel.compile_selector(text)
    except CelCompileError:
        return None
