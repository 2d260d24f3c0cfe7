"""kube-scheduler's feature gates: what kubesched implements of them is fixed, so each gate has one value, but for one.

Rule: kube-scheduler v1.36, the defaults of the gates that change what a scheduler does.
"""

from collections.abc import Iterable
from typing import Final

from kubesched.config.field_errors import did_you_mean
from kubesched.errors import ConfigError

_GATES: Final = {
    "CompositePodGroup": False,
    "DRADeviceTaints": True,
    "DRAExtendedResource": True,
    "DRAPartitionableDevices": True,
    "DRAPrioritizedList": True,
    "DRASchedulerFilterTimeout": True,
    "DynamicResourceAllocation": True,
    "GangScheduling": False,
    "GenericWorkload": False,
    "InPlacePodVerticalScaling": True,
    "NodeDeclaredFeatures": True,
    "NominatedNodeNameForExpectation": True,
    "OpportunisticBatching": True,
    "PodLevelResources": True,
    "SchedulerAsyncAPICalls": False,
    "SchedulerAsyncPreemption": True,
    "SchedulerPopFromBackoffQ": True,
    "SchedulerQueueingHints": True,
    "StorageCapacityScoring": False,
    "TaintTolerationComparisonOperators": False,
    "TopologyAwareWorkloadScheduling": False,
    "WorkloadAwarePreemption": False,
}
_WITHOUT_EFFECT: Final = {  # on in kube-scheduler, and not implemented
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRASchedulerFilterTimeout",
    "DynamicResourceAllocation",
    "OpportunisticBatching",
}
_EITHER: Final = "OpportunisticBatching"  # off is what kubesched does
_COMPONENT: Final = "kube"
_BOOLEANS: Final = {"1": True, "t": True, "true": True, "0": False, "f": False, "false": False}  # as Go reads them


def check_feature_gates(values: Iterable[str]) -> list[str]:
    """Check the values of --feature-gates: `A=true,B=false`, each perhaps with `kube:` in front.

    Returns: the gates among them that are on and that kubesched does not implement, sorted.
    Raises:
        ConfigError: a gate is unknown, or is set to another value than its default. OpportunisticBatching may be off.
    """
    entries = (entry.strip() for value in values for entry in value.split(","))
    gates = dict(_checked(entry) for entry in entries if entry)
    return sorted(name for name in _WITHOUT_EFFECT.intersection(gates) if gates[name])


def _checked(entry: str) -> tuple[str, bool]:
    """A gate and its value."""
    text, _, value = entry.partition("=")
    name = text.strip().removeprefix(f"{_COMPONENT}:")
    where = "--feature-gates"
    if name not in _GATES:
        advice = (
            did_you_mean(name, _GATES) or "kubesched knows only gates that change what kube-scheduler v1.36 decides"
        )
        raise ConfigError(f"{where}: unrecognized feature gate: {name}\n  {advice}")
    wanted = _BOOLEANS.get(value.strip().lower())
    if wanted is None:
        raise ConfigError(f"{where}: invalid value of {name}: {value.strip()!r}; expected true or false")
    if wanted != _GATES[name] and name != _EITHER:
        default = str(_GATES[name]).lower()
        raise ConfigError(f"{where}: kubesched does not support {entry}; expected v1.36's default, {name}={default}")
    return name, wanted
