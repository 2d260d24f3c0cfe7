"""kube-scheduler v1.36 NodeResourcesBalancedAllocation."""

import math

from tests.reference import objects
from tests.reference.framework import Plugin

BASIC = ("cpu", "memory", "ephemeral-storage")


class NodeResourcesBalancedAllocation(Plugin):
    """Does the pod bring the used fractions of the node's resources closer together? 75 means that it changes
    nothing.
    """

    name = "NodeResourcesBalancedAllocation"

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        self.scoring = self.wanted(pod)
        return not any(self.scoring.values())

    def wanted(self, pod: dict) -> dict[str, int]:
        request = objects.pod_requests(pod, status=True)
        names = [r["name"] for r in self.args["resources"]]
        return {name: objects.units(name, request.get(name, 0)) for name in names}

    def score(self, pod: dict, node) -> int:
        wanted = self.wanted(pod) if self.scoring is None else self.scoring  # None: preScore is switched off
        if not any(wanted.values()):
            return 0
        counted = [name for name in wanted if node.allocatable.get(name, 0) > 0 and (name in BASIC or wanted[name] > 0)]
        before = [(node.requested.get(n, 0), node.allocatable[n]) for n in counted]
        after = [(node.requested.get(n, 0) + wanted[n], node.allocatable[n]) for n in counted]
        return 50 + (50 + balance(after) - balance(before)) // 2


def balance(used: list[tuple[int, int]]) -> int:
    """100 less the standard deviation (in percent) of the used fractions, rounded down."""
    fractions = [min(1.0, requested / room) for requested, room in used]
    if len(fractions) < 2:
        deviation = 0.0
    elif len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    else:
        mean = sum_in_order(fractions) / len(fractions)
        deviation = math.sqrt(sum_in_order([(f - mean) * (f - mean) for f in fractions]) / len(fractions))
    return int((1 - deviation) * 100.0)


def sum_in_order(values: list[float]) -> float:
    """Plain left-to-right float64 addition (newer Pythons' sum() compensates for rounding)."""
    total = 0.0
    for value in values:
        total += value
    return total
