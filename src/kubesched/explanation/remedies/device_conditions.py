"""Remedies for selectors that no device meets: what is written wrongly, a guard for what fails, a condition less."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.api import CELSelector, DeviceClass, DeviceSelector, KubeObject, edited
from kubesched.documents import on_one_line
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.device_survey import DeviceSurvey
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Remedy
from kubesched.explanation.remedies.claim_specs import ClaimRequest, selecting
from kubesched.naming import near_letters
from kubesched.plugins import DeviceAsk
from kubesched.state import PoolDevice

if TYPE_CHECKING:
    from kubesched.cel import CompiledSelector, Conjunct, DeviceValue, Refusal

_MAX_DROPPED: Final = 2
_WITH_UNIT: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgtpe])(i?)b?(?:ytes?)?", re.ASCII | re.IGNORECASE)
_KILO: Final = "k"
_CLASS: Final = "DeviceClass"


def corrected_names(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """The name of an attribute or of a capacity that was probably meant by one that no device has."""
    facts = [one for value in _values(survey, request.ask) for one in (value.attributes, value.capacity)]
    known = {f"{domain}/{name}" for one in facts for domain in one for name in one[domain]}
    for i, selector in _selectors(request.ask.selectors):
        names = {*(selector.reads.attributes or ()), *(selector.reads.capacity or ())}
        for name in sorted(names - survey.known_names) if known else ():
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
    domains = [one.rpartition("/")[0] for one in known if one.rpartition("/")[2] == identifier]
    near = near_letters(domain, domains) or (domains[0] if len(domains) == 1 else "")
    return f"{near}/{identifier}" if near else ""


def _respelt(text: str, old: str, new: str) -> str:
    """An expression with another name: the part of it that differs."""
    for was, now in zip(old.rsplit("/", 1), new.rsplit("/", 1), strict=True):
        if was != now:
            text = re.sub(rf"(?<![\w.-]){re.escape(was)}(?![\w-])|(?<=\.){re.escape(was)}(?![\w-])", now, text)
    return text


def corrected_quantities(request: ClaimRequest) -> Iterator[Remedy]:
    """A quantity that was probably meant by a text that is not one, such as 80G and 80Gi by 80GB."""
    for i, selector in _selectors(request.ask.selectors):
        for one in (one for conjunct in selector.conjuncts for one in conjunct.unread):
            for meant in _meant(one.text):
                text = f"{selector.text[: one.start]}{json.dumps(meant)}{selector.text[one.end :]}"
                what = f"correct {json.dumps(one.text)}, which is not a quantity, to {json.dumps(meant)}"
                yield request.remedy(what, partial(selecting, texts={i: text}), Effort.CORRECT, keeps=True)


def _meant(text: str) -> Iterator[str]:
    """The quantities that may be meant by an amount with a unit."""
    if found := _WITH_UNIT.fullmatch(text.strip()):
        number, letter, is_binary = found.groups()
        letter = letter.upper()
        if not is_binary:
            yield f"{number}{_KILO if letter == _KILO.upper() else letter}"
        yield f"{number}{letter}i"


def guarded(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """A guard before a condition that fails for a device without the attribute: in the class, or in the request."""
    ask = request.ask
    for i, guard, text in _guards(ask.class_selectors, survey.every_device()):
        edit = Edit(_CLASS, ask.class_name, partial(_with_expression, place=i, text=text))
        what = f"put {guard} && before the condition of {_CLASS} {ask.class_name}"
        yield Remedy(what, "deviceClass", True, Change(edits=(edit,)), effort=Effort.CORRECT)
    of_class = (device for _, device in survey.free_devices(ask))
    for i, guard, text in _guards(ask.selectors, of_class):
        what = f"put {guard} && before the condition that fails"
        yield request.remedy(what, partial(selecting, texts={i: text}), Effort.CORRECT, keeps=True)


def _guards(texts: Sequence[str], devices: Iterable[PoolDevice]) -> list[tuple[int, str, str]]:
    """The place of each expression that fails for a device which lacks something, with the guard and the guarded text.

    An expression that lacks it for every device is written wrongly.
    """
    found: dict[tuple[int, str, str], None] = {}
    selectors = list(_selectors(texts))
    for device in devices:
        for i, selector in selectors:
            refusal = _refusal(selector, device)
            if refusal is not None and refusal.lacking and (guard := _guard(selector, refusal.lacking)):
                found[i, guard, _before(selector.text, refusal.conjunct, guard)] = None
                break
            if refusal is not None:
                break
    return list(found)


def _refusal(selector: "CompiledSelector", device: PoolDevice) -> "Refusal | None":
    try:
        return selector.refusal(device.value)
    except CelRuntimeError:  # a capacity of the device is not a quantity
        return None


def _guard(selector: "CompiledSelector", key: str) -> str:
    """What holds for devices that have an attribute or a capacity; empty where it is not known which one is meant."""
    places = ("attributes", selector.reads.attributes), ("capacity", selector.reads.capacity)
    for place, names in places:
        for domain in sorted(name.rpartition("/")[0] for name in names or () if name.rpartition("/")[2] == key):
            return f'"{key}" in device.{place}["{domain}"]'
    return ""


def _before(text: str, conjunct: "Conjunct", guard: str) -> str:
    """An expression with a guard before one of its parts."""
    part = conjunct.text if conjunct.comparison is not None else f"({conjunct.text})"
    return f"{text[: conjunct.start]}{guard} && {part}{text[conjunct.end :]}"


def _with_expression(known: KubeObject | None, place: int, text: str) -> KubeObject | None:
    """A class with another expression."""
    if not isinstance(known, DeviceClass):
        return known
    selectors = list(known.spec.selectors or ())
    selectors[place] = DeviceSelector(CELSelector(text))
    return edited(known, spec=msgspec.structs.replace(known.spec, selectors=tuple(selectors)))


def dropped_conditions(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """A request without the only condition that free devices do not meet."""
    selectors = list(_selectors(request.ask.selectors))
    found: Counter[tuple[int, str, str]] = Counter()
    for value in _values(survey, request.ask):
        refused = [
            (i, one, conjunct) for i, one in selectors for conjunct in kubesched.cel.refused_conjuncts(one, value)
        ]
        if len(refused) == 1:
            i, selector, conjunct = refused[0]
            found[i, conjunct.text, kubesched.cel.without_conjunct(selector, conjunct)] += 1
    for (i, condition, text), _ in found.most_common(_MAX_DROPPED):
        what = f"drop the condition {on_one_line(condition)}"
        yield request.remedy(what, partial(selecting, texts={i: text}), Effort.DROP)


def _selectors(texts: Sequence[str]) -> Iterator[tuple[int, "CompiledSelector"]]:
    for i, text in enumerate(texts):
        try:
            yield i, kubesched.cel.compile_in_any_version(text)
        except CelCompileError:
            continue


def _values(survey: DeviceSurvey, ask: DeviceAsk) -> Iterator["DeviceValue"]:
    """The free devices of the class, as selectors see them."""
    for _, device in survey.free_devices(ask):
        try:
            yield device.value
        except CelRuntimeError:
            continue
