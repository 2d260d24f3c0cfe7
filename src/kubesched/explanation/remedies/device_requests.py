"""Remedies for claims that no node can serve: fewer devices, smaller ones, others, tainted ones, fewer constraints."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import msgspec

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.api import (
    NANO,
    CapacityRequirements,
    DeviceClaim,
    DeviceSubRequest,
    Taint,
    parse_quantity,
    whole_quantity,
)
from kubesched.documents import count, joined
from kubesched.engine import BoolVector
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.explanation.change import Change
from kubesched.explanation.device_survey import DeviceSurvey
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy
from kubesched.explanation.remedies.claim_specs import (
    ClaimRequest,
    alike_classes,
    of_class,
    selecting,
    template_of,
    way_to_change,
    with_devices,
)
from kubesched.explanation.remedies.device_conditions import (
    corrected_names,
    corrected_quantities,
    dropped_conditions,
    guarded,
)
from kubesched.explanation.remedies.device_values import corrected_values, with_known_values
from kubesched.explanation.remedies.requests import cut_down
from kubesched.explanation.remedies.taints import marks_fault, toleration
from kubesched.explanation.remedies.together import together
from kubesched.plugins import ALL, SPECIAL_CLAIM, ConstraintAsk, DeviceAsk, claim_ask, taint_words, untolerated_taints
from kubesched.state import PoolDevice

if TYPE_CHECKING:
    from kubesched.cel import Loosened, OtherLiteral

_MAX_COUNTS: Final = 6
_MAX_OTHERS: Final = 4  # devices that a request may ask for instead
_MAX_CONSTRAINTS: Final = 4


def device_requests(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Ask for fewer devices, or for what devices have; tolerate their taints; drop constraints."""
    survey = DeviceSurvey(case.evaluation, where)
    if old := list(_made_before(case, survey)):  # what else helps is known once its claims are those of the template
        yield from old
        return
    each = [[one for request in some for one in _of_request(request, survey)] for some in _requests(case, survey)]
    yield from chain.from_iterable(each)
    if len(each) > 1 and all(each):
        yield from together(each)
    yield from _fewer_served(case, survey)
    yield from _unconstrained(case, survey)


def _made_before(case: Case, survey: DeviceSurvey) -> Iterator[Remedy]:
    """A claim that was made before its template changed is re-created with the pod."""
    for claim, asked in zip(survey.waiting, survey.demand.asks if survey.demand is not None else (), strict=True):
        template = template_of(case, claim)
        devices = template.spec.spec.devices if template is not None else claim.spec.devices
        if template is not None and claim_ask(devices, case.evaluation.snapshot.objects) != asked.ask:
            text = f"recreate the pod: its claim {claim.name} was made before template {template.name} changed"
            change = with_devices(case, claim, partial(_as_in_template, template=devices))
            yield Remedy(text, "deviceRequest", True, change, effort=Effort.CORRECT)


def _as_in_template(_: DeviceClaim, template: DeviceClaim) -> DeviceClaim:
    return template


def _requests(case: Case, survey: DeviceSurvey) -> Iterator[list[ClaimRequest]]:
    """The requests that some nodes cannot serve, each with its alternatives."""
    for number, i, j, claim in survey.asks():
        requests = []
        for k, ask in enumerate(claim.ask.requests[j]):
            have = [kind.requests[number][k] for kind in survey.kinds]
            has_class, most = any(one.of_class or one.broken_pools for one in have), max(one.usable for one in have)
            requests.append(ClaimRequest(case, survey.waiting[i], j, k, ask, most, has_class))
        yield requests


def _of_request(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """Other wishes, those that lose least first."""
    yield from corrected_names(request, survey)
    yield from corrected_values(request, survey)
    yield from corrected_quantities(request)
    yield from guarded(request, survey)
    yield from _tolerating(request, survey)
    others = list(_others(request, survey))
    yield from others
    yield from _fewer(request)
    yield from _of_other_class(request)
    if not others:
        yield from dropped_conditions(request, survey)


# --- fewer devices ---


def _fewer(request: ClaimRequest) -> Iterator[Remedy]:
    """The most devices that some node has."""
    ask = request.ask
    if ask.mode == ALL:
        return
    most = min(ask.count - 1, request.usable)
    for n in range(most, max(most - _MAX_COUNTS, 0), -1):
        what = f"ask for {count(n, 'device')} instead of {ask.count}"
        yield request.remedy(what, partial(_counting, n=n), Effort.DROP, "count")


def _fewer_served(case: Case, survey: DeviceSurvey) -> Iterator[Remedy]:
    """A smaller request for an extended resource that a device class serves; device plugins may offer it, too."""
    wanted, (names, missing) = case.info.requests.value.wanted, case.missing
    for name, class_name in survey.demand.served.items() if survey.demand is not None else ():
        have = [
            one.usable
            for kind in survey.kinds
            for alternatives in kind.requests
            for one in alternatives
            if one.device_class == class_name and one.claim.endswith(SPECIAL_CLAIM)
        ]
        if name in names:
            short = missing[names.index(name)]
            have += (wanted[name] - short[short > 0]).tolist()
        most = min(wanted[name] - 1, max(have, default=0))
        for n in range(most, max(most - _MAX_COUNTS, 0), -1):
            text, fewer = f"lower the request to {n} {name}", Change((partial(cut_down, targets={name: n}),))
            yield Remedy(text, "requests", False, fewer, ladder=text.partition(" to ")[0], effort=Effort.DROP)


def _counting(one: DeviceSubRequest, n: int) -> DeviceSubRequest:
    return msgspec.structs.replace(one, count=n)


# --- other devices ---


class _Other(msgspec.Struct, frozen=True):
    """What a request asks for so that it may have one more kind of device.

    Attributes:
        selectors: by their places, those that change.
        capacity: the amounts that change: name -> before and after.
    """

    selectors: tuple[tuple[int, "Loosened"], ...] = ()
    capacity: tuple[tuple[str, str, str], ...] = ()

    @property
    def literals(self) -> list["OtherLiteral"]:
        return [literal for _, one in self.selectors for literal in one.changes]

    @property
    def words(self) -> str:
        amounts = [f"{name.rpartition('/')[2]} >= {after} instead of {before}" for name, before, after in self.capacity]
        return joined(dict.fromkeys([*map(_in_words, self.literals), *amounts]))

    @property
    def is_less(self) -> bool:
        """Whether only limits change."""
        return all(isinstance(one.literal, str) for one in self.literals)

    @property
    def distance(self) -> tuple[int, float]:
        """How much of the request changes."""
        pairs = [(one.comparison.literal, one.value) for one in self.literals if isinstance(one.literal, str)]
        far = [_distance(before, after) for before, after in pairs]
        far += [
            _distance(kubesched.cel.Quantity.parse(before), kubesched.cel.Quantity.parse(after))
            for _, before, after in self.capacity
        ]
        return len(self.literals) + len(self.capacity), sum(far)


def _others(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """What free devices of the class have, in place of what the request asks for; the nearest first."""
    ask, found = _with_known_values(request.ask, survey), Counter[_Other]()
    texts = {i: text for i, text in enumerate(ask.selectors) if text != request.ask.selectors[i]}
    for kind, device in survey.free_devices(ask):
        if untolerated_taints(device.spec.taints or (), ask.tolerations):
            continue
        if (other := _other(ask, device, survey.in_use.consumed(device.id))) is not None and (
            other.selectors or other.capacity
        ):
            found[other] += len(kind.positions)
    choices = [other for other in found if not other.is_less]
    for other in choices if len(choices) > _MAX_OTHERS else ():  # names of single devices, such as a uuid
        del found[other]
    for other in sorted(found, key=lambda one: (*one.distance, -found[one]))[:_MAX_OTHERS]:
        effort, verb = (Effort.LESS, "ask for") if other.is_less else (Effort.SWITCH, "accept")
        names = joined(one.comparison.name for one in other.literals)
        ladder = f"{names} {other.capacity and 'amounts'}" if other.is_less else ""
        yield request.remedy(f"{verb} {other.words}", partial(_asking, other=other, texts=texts), effort, ladder)


def _other(ask: DeviceAsk, device: PoolDevice, used: Mapping[str, int]) -> _Other | None:
    """What a request asks for so that it may have a device; None where no other value does it.

    Args:
        used: of the capacities of a device that several requests may have.
    """
    selectors, capacity = [], []
    try:
        for i, text in enumerate(ask.selectors):
            one = kubesched.cel.loosened(kubesched.cel.compile_in_any_version(text), device.value)
            if one is None:
                return None
            if one.changes:
                selectors.append((i, one))
    except (CelCompileError, CelRuntimeError):
        return None
    for name, amount in ask.capacity:
        has = (device.spec.capacity or {}).get(name)
        left = device.capacity[name] - used.get(name, 0) if has is not None else 0
        if has is None or left <= 0:
            return None
        if left < parse_quantity(amount):
            text = str(has.amount)
            capacity.append((name, amount, _amount(left, like=text) if name in used else text))
    return _Other(tuple(selectors), tuple(capacity))


def _amount(nano: int, like: str) -> str:
    """An amount in billionths, with the suffixes of another one; what is less than one is left out."""
    return whole_quantity(nano // NANO, like)


def _in_words(one: "OtherLiteral") -> str:
    name = one.comparison.name.rpartition("/")[2] or "driver"
    if isinstance(one.literal, tuple):
        return f"{name} {' or '.join(one.literal)}"
    return f"{name} {one.comparison.operator} {one.literal} instead of {one.comparison.literal}"


def _distance(before: object, after: object) -> float:
    """By what part of itself an amount changes."""
    first, second = (one.nano if isinstance(one, kubesched.cel.Quantity) else one for one in (before, after))
    if not isinstance(first, int) or not isinstance(second, int):
        return 1.0
    return abs(first - second) / max(abs(first), abs(second), 1)


def _with_known_values(ask: DeviceAsk, survey: DeviceSurvey) -> DeviceAsk:
    """What a request asks for with the values that were meant: what no device has is not worth to be accepted."""
    known = survey.known_values
    return msgspec.structs.replace(ask, selectors=tuple([with_known_values(one, known) for one in ask.selectors]))


def _asking(one: DeviceSubRequest, other: _Other, texts: Mapping[int, str]) -> DeviceSubRequest:
    one = selecting(one, {**texts, **{i: changed.text for i, changed in other.selectors}})
    amounts = {**((one.capacity.requests if one.capacity else None) or {})}
    amounts |= {name: after for name, _, after in other.capacity}
    capacity = CapacityRequirements(amounts) if amounts else one.capacity
    return msgspec.structs.replace(one, capacity=capacity)


def _of_other_class(request: ClaimRequest) -> Iterator[Remedy]:
    """A device of another class, where no node has one of the class."""
    if request.has_class:
        return
    name = request.ask.class_name
    for other in islice(alike_classes(request.case, name), _MAX_OTHERS):
        what = f"ask for class {other} instead of {name}, of which no node has a device,"
        yield request.remedy(what, partial(of_class, name=other), Effort.SWITCH)


# --- taints and constraints ---


def _tolerating(request: ClaimRequest, survey: DeviceSurvey) -> Iterator[Remedy]:
    """Tolerate the taints of devices that would do; not those of broken ones, nor those that evict pods."""
    found = dict.fromkeys(taints for _, _, taints in survey.tainted_devices(request.ask))
    for taints in found:
        if marks_fault(taints):
            continue
        what = f"tolerate the device taint {joined(map(taint_words, taints))}"
        yield request.remedy(what, partial(_with_tolerations, taints=taints), Effort.RESERVED)


def _with_tolerations(one: DeviceSubRequest, taints: tuple[Taint, ...]) -> DeviceSubRequest:
    return msgspec.structs.replace(one, tolerations=(*(one.tolerations or ()), *map(toleration, taints)))


def _unconstrained(case: Case, survey: DeviceSurvey) -> Iterator[Remedy]:
    """Drop a constraint, where the requests could be served without it."""
    if survey.demand is None or not any(kind.fits_apart for kind in survey.kinds):
        return
    for claim, asked in zip(survey.waiting, survey.demand.asks, strict=True):
        for i, one in enumerate(asked.ask.constraints[:_MAX_CONSTRAINTS]):
            change = with_devices(case, claim, partial(_without_constraint, place=i))
            text = f"drop the constraint {_constraint_words(one)}: {way_to_change(case, claim)}"
            yield Remedy(text, "deviceRequest", False, change)


def _constraint_words(one: ConstraintAsk) -> str:
    return f"{'distinctAttribute' if one.is_distinct else 'matchAttribute'} {one.attribute}"


def _without_constraint(devices: DeviceClaim, place: int) -> DeviceClaim:
    kept = tuple(one for i, one in enumerate(devices.constraints or ()) if i != place)
    return msgspec.structs.replace(devices, constraints=kept or None)
