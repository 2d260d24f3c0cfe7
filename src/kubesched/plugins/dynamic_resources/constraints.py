"""Constraints between the devices of one claim, checked one device after another.

Rule: kube-scheduler v1.36. matchAttribute: all devices have the value of the first one. distinctAttribute: upstream
remembers one value for each request, that of its latest device, and forgets it when a device is taken back; so the
first and the third device of one request may be equal. Since v1.37 all values differ; v1.34 compares none.
"""

from collections.abc import Sequence

from kubesched.api import DeviceAttribute
from kubesched.plugins.dynamic_resources.asks import ConstraintAsk
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state import PoolDevice


class Bonds:
    """The constraints of one claim, with what the devices that were chosen so far have.

    Example:
        bonds = Bonds([ConstraintAsk("gpu.example.com/numa")])
        assert bonds.add("r0", device) and bonds.add("r1", device)
    """

    __slots__ = ("_compares_distinct", "_constraints", "_distinct", "_latest_only", "_values")

    def __init__(self, constraints: Sequence[ConstraintAsk], release: Release = DEFAULT_RELEASE) -> None:
        self._constraints = constraints
        self._latest_only = release.before(37)
        self._compares_distinct = not release.before(35)
        self._values: list[list[DeviceAttribute]] = [[] for _ in constraints]  # of each device that is concerned
        self._distinct: list[dict[str, DeviceAttribute]] = [{} for _ in constraints]  # the latest one by request

    def add(self, name: str, device: PoolDevice) -> bool:
        """Choose a device for a request, if all constraints allow it. Returns: whether they do."""
        values = []
        for i, constraint in enumerate(self._constraints):
            if constraint.concerns(name):
                value = device.attribute(constraint.attribute)
                if value is None or not self._allows(i, value):
                    return False
                values.append((i, value))
        for i, value in values:
            self._values[i].append(value)
            self._distinct[i][name] = value
        return True

    def remove(self, name: str) -> None:
        """Take the latest device of a request back."""
        for i, constraint in enumerate(self._constraints):
            if constraint.concerns(name):
                self._values[i].pop()
                self._distinct[i].pop(name, None)

    def _allows(self, i: int, value: DeviceAttribute) -> bool:
        values = self._values[i]
        if not self._constraints[i].is_distinct:
            return not values or values[0] == value
        others = self._distinct[i].values() if self._latest_only else values
        return not self._compares_distinct or value not in others
