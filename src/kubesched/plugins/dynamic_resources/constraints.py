"""Constraints between the devices of one claim, checked one device after another.

Rule: kube-scheduler v1.36. matchAttribute: all devices have the value of the first one. distinctAttribute: upstream
remembers one value for each request, that of its latest device, and forgets it when a device is taken back; so the
first and the third device of one request may be equal.
"""

from collections.abc import Sequence

from kubesched.api import DeviceAttribute
from kubesched.plugins.dynamic_resources.asks import ConstraintAsk
from kubesched.state import PoolDevice


class Bonds:
    """The constraints of one claim, with what the devices that were chosen so far have.

    Example:
        bonds = Bonds([ConstraintAsk("gpu.example.com/numa")])
        assert bonds.add("r0", device) and bonds.add("r1", device)
    """

    __slots__ = ("_constraints", "_distinct", "_matched")

    def __init__(self, constraints: Sequence[ConstraintAsk]) -> None:
        self._constraints = constraints
        self._matched: list[list[DeviceAttribute]] = [[] for _ in constraints]  # of each device that is concerned
        self._distinct: list[dict[str, DeviceAttribute]] = [{} for _ in constraints]  # by request

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
            if self._constraints[i].is_distinct:
                self._distinct[i][name] = value
            else:
                self._matched[i].append(value)
        return True

    def remove(self, name: str) -> None:
        """Take the latest device of a request back."""
        for i, constraint in enumerate(self._constraints):
            if constraint.concerns(name):
                if constraint.is_distinct:
                    self._distinct[i].pop(name, None)
                else:
                    self._matched[i].pop()

    def _allows(self, i: int, value: DeviceAttribute) -> bool:
        if self._constraints[i].is_distinct:
            return value not in self._distinct[i].values()
        matched = self._matched[i]
        return not matched or matched[0] == value
