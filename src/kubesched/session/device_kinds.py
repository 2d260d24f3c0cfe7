"""What devices are: the classes that they match, and the model that tells them apart."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Final

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.api import Device, DeviceClass, ResourceSlice
from kubesched.errors import CelCompileError, CelRuntimeError
from kubesched.state import ClusterState, DeviceId, PoolDevice, resources_of_class

if TYPE_CHECKING:
    from kubesched.cel import CompiledSelector

_MODEL_NAMES: Final = ("productName", "model", "product", "profile", "pciDevice", "type")
"""Attributes that say what a device is, the best one first."""


class DeviceKinds:
    """The classes and the model of each device of a cluster state as it is now; found when it is read."""

    def __init__(self, state: ClusterState) -> None:
        known = sorted(state.objects.list("DeviceClass"), key=lambda one: one.name)
        self._classes = {one.name: _expressions(one) for one in known if isinstance(one, DeviceClass)}
        self._resources = {one.name: resources_of_class(one) for one in known}
        self._slices = [one for one in state.objects.list("ResourceSlice") if isinstance(one, ResourceSlice)]
        self._models: Mapping[str, str] | None = None
        self._compiled: dict[str, CompiledSelector | None] = {}
        self._answers: dict[tuple[object, ...], bool] = {}
        self._known: dict[DeviceId, tuple[tuple[str, ...], str]] = {}

    def of(self, device: PoolDevice) -> tuple[tuple[str, ...], str]:
        """The classes of a device by name, and its model; empty for none."""
        known = self._known.get(device.id)
        if known is None:
            known = self._known[device.id] = (self._classes_of(device), self._model_of(device))
        return known

    def resources_of(self, classes: Iterable[str]) -> tuple[str, ...]:
        """The extended resources that some classes serve, by name."""
        return tuple(sorted({resource for name in classes for resource in self._resources[name]}))

    def _model_of(self, device: PoolDevice) -> str:
        if self._models is None:
            self._models = _models(self._slices)
        attribute = (device.spec.attributes or {}).get(self._models.get(device.driver, ""))
        return (attribute.string if attribute is not None else None) or ""

    def _classes_of(self, device: PoolDevice) -> tuple[str, ...]:
        return tuple(name for name, expressions in self._classes.items() if self.is_selected(expressions, device))

    def is_selected(self, expressions: Iterable[str], device: PoolDevice) -> bool:
        """Whether all of some CEL expressions select a device; one that does not compile selects none."""
        return all(self._selects(expression, device) for expression in expressions)

    def _selects(self, expression: str, device: PoolDevice) -> bool:
        """Devices that are equal as far as the expression reads them are asked once."""
        if expression not in self._compiled:
            self._compiled[expression] = _compiled(expression)
        selector = self._compiled[expression]
        if selector is None:
            return False
        key = (expression, device.read_by(selector.reads))
        answer = self._answers.get(key)
        if answer is None:
            try:
                answer = selector.matches(device.value)
            except CelRuntimeError:
                answer = False
            self._answers[key] = answer
        return answer


def _expressions(known: DeviceClass) -> list[str]:
    return [one.cel.expression for one in known.spec.selectors or () if one.cel]


def _compiled(expression: str) -> "CompiledSelector | None":
    try:
        return kubesched.cel.compile_in_any_version(expression)
    except CelCompileError:
        return None


def _models(slices: Iterable[ResourceSlice]) -> dict[str, str]:
    """By driver, the name of the string attribute that says what its devices are; empty for none.

    That is one of the usual names, or one that devices of a pool have in common: one in which they all differ, such as
    a uuid, is a name. Of several the one that tells devices apart counts.
    """
    values: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    seen: set[tuple[str, ...]] = set()
    common: set[tuple[str, str]] = set()
    for one in slices:
        driver, pool = one.spec.driver, one.spec.pool.name
        for name, text in _texts(one.spec.devices or ()):
            values[driver][name].add(text)
            place = (driver, pool, name, text)
            if place in seen:
                common.add((driver, name))
            seen.add(place)
    return {
        driver: min((name for name in names if _is_telling(driver, name, common)), key=_rank(names), default="")
        for driver, names in values.items()
    }


def _texts(devices: Iterable[Device]) -> Iterator[tuple[str, str]]:
    """The attributes of devices that are strings."""
    for device in devices:
        for name, attribute in (device.attributes or {}).items():
            if attribute.string is not None:
                yield name, attribute.string


def _is_telling(driver: str, name: str, common: Set[tuple[str, str]]) -> bool:
    return _usual(name) < len(_MODEL_NAMES) or (driver, name) in common


def _rank(values: Mapping[str, Set[str]]) -> Callable[[str], tuple[object, ...]]:
    """The best name first: a usual one, which has several values."""

    def rank(name: str) -> tuple[object, ...]:
        usual = _usual(name)
        return usual == len(_MODEL_NAMES), len(values[name]) == 1, usual, -len(values[name]), name

    return rank


def _usual(name: str) -> int:
    """The place of the name, without its domain, among the usual ones; behind them for any other."""
    bare = name.rpartition("/")[2]
    return _MODEL_NAMES.index(bare) if bare in _MODEL_NAMES else len(_MODEL_NAMES)
