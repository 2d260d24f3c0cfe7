"""Remedies for selectors that no device meets: names that are written wrongly, and a condition less."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from kubesched.cel import (
    CompiledSelector,
    DeviceValue,
    compile_selector,
    refused_conjuncts,
    without_conjunct,
)
from kubesched.documents import on_one_line
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.explanation.device_survey import DeviceSurvey
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Remedy
from kubesched.explanation.remedies.claim_specs import ClaimRequest, selecting
from kubesched.naming import near_letters
from kubesched.plugins import DeviceAsk

_MAX_DROPPED: Final = 2


def corrected_names(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """The name of an attribute or of a capacity that was probably meant by one that no device has."""
    facts = [one for value in _values(survey, request.ask) for one in (value.attributes, value.capacity)]
    known = {f"{domain}/{name}" for one in facts for domain in one for name in one[domain]}
    for i, selector in _selectors(request.ask):
        names = {*(selector.reads.attributes or ()), *(selector.reads.capacity or ())}
        for name in sorted(names - known) if known else ():
            if near := _near(name, known):
                text = _respelt(selector.text, name, near)
                what = f"correct {name}, which no device has, to {near}"
                edit = partial(selecting, texts={i: text})
                yield request.remedy(what, edit, Effort.CORRECT, keeps=True)


def _near(name: str, known: set[str]) -> str:
    """The qualified name that was meant; empty for none."""
    domain, _, identifier = name.rpartition("/")
    near = near_letters(identifier, [one.rpartition("/")[2] for one in known if one.rpartition("/")[0] == domain])
    if near:
        return f"{domain}/{near}"
    near = near_letters(domain, [one.rpartition("/")[0] for one in known if one.rpartition("/")[2] == identifier])
    return f"{near}/{identifier}" if near else ""


def _respelt(text: str, old: str, new: str) -> str:
    """An expression with another name: the part of it that differs."""
    for was, now in zip(old.rsplit("/", 1), new.rsplit("/", 1), strict=True):
        if was != now:
            text = re.sub(rf"(?<![\w.-]){re.escape(was)}(?![\w-])|(?<=\.){re.escape(was)}(?![\w-])", now, text)
    return text


def dropped_conditions(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """A request without the only condition that free devices do not meet."""
    selectors = list(_selectors(request.ask))
    found: Counter[tuple[int, str, str]] = Counter()
    for value in _values(survey, request.ask):
        refused = [(i, one, conjunct) for i, one in selectors for conjunct in refused_conjuncts(one, value)]
        if len(refused) == 1:
            i, selector, conjunct = refused[0]
            found[i, conjunct.text, without_conjunct(selector, conjunct)] += 1
    for (i, condition, text), _ in found.most_common(_MAX_DROPPED):
        what = f"drop the condition {on_one_line(condition)}"
        yield request.remedy(what, partial(selecting, texts={i: text}), Effort.DROP)


def _selectors(ask: DeviceAsk) -> Iterator[tuple[int, CompiledSelector]]:
    for i, text in enumerate(ask.selectors):
        try:
            yield i, compile_selector(text)
        except CelCompileError:
            continue


def _values(survey: DeviceSurvey, ask: DeviceAsk) -> Iterator[DeviceValue]:
    """The free devices of the class, as selectors see them."""
    for _, device in survey.free_devices(ask):
        try:
            yield device.value
        except CelRuntimeError:
            continue
