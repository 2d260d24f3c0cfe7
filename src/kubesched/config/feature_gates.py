"""Feature gates as people set them: `A=true,B=false`, each perhaps with `kube:` in front.

Rule: kube-scheduler's texts, recorded from v1.36.3. A gate that decides nothing here is accepted with any value; one
that changes what kube-scheduler decides is accepted where kubesched has both rules, and else refused by name.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kubesched.config.field_errors import bracketed, did_you_mean
from kubesched.documents import joined, plural
from kubesched.errors import ConfigError, UndecidedGateError
from kubesched.release import (
    DEFAULT_RELEASE,
    FeatureGate,
    Release,
    feature_gate,
    gates_needing_others,
    gates_of,
    minors_with,
)

_WHERE: Final = "--feature-gates"
_COMPONENT: Final = "kube"
_MOST_SHOWN: Final = 60  # characters
_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}  # as Go reads them
_OF_STAGE: Final = {"AllAlpha": "a", "AllBeta": "b"}
_WITHOUT_EFFECT: Final = frozenset(("OpportunisticBatching",))  # another way to the same decisions, which is not ours
_ONE_RULE: Final = frozenset(
    (
        "ClearingNominatedNodeNameAfterBinding",
        "CompositePodGroup",
        "DRAAdminAccess",
        "DRADerivedAttributes",
        "DRADeviceCompatibilityGroups",
        "DRADeviceTaintRules",
        "DRAFractionalCapacityRange",
        "DRAListTypeAttributes",
        "DRANodeAllocatableResources",
        "DRAPartitionableDevicesType",
        "DRAPrioritizedList",
        "DRAResourceClaimDeviceStatus",
        "DRASchedulerFilterTimeout",
        "DRAWorkloadResourceClaims",
        "GangScheduling",
        "GenericWorkload",
        "InPlacePodVerticalScaling",
        "InPlacePodVerticalScalingSchedulerPreemption",
        "MatchLabelKeysInPodTopologySpread",
        "SchedulerAsyncAPICalls",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
        "SchedulerQueueingHints",
        "TopologyAwareWorkloadScheduling",
        "WorkloadAwarePreemption",
    )
)
"""Gates that change what a scheduler does, and of which kubesched has the rule of the default alone."""

_OF_GROUPS: Final = frozenset(
    (
        "CompositePodGroup",
        "GangScheduling",
        "GenericWorkload",
        "TopologyAwareWorkloadScheduling",
        "WorkloadAwarePreemption",
    )
)
_ABOUT_GROUPS: Final = (
    "\n  `kubesched explain --group GROUP` says whether the pods of a group fit together, and the plugin of "
    "examples/plugins/pod_group.py starts them together"
)


def read_feature_gates(values: Iterable[str], release: Release = DEFAULT_RELEASE) -> dict[str, bool]:
    """Read the values of --feature-gates for a version; of a gate that is there twice, the last value counts.

    AllAlpha and AllBeta are given back as the gates that they stand for.


    Raises:
        ConfigError: the version does not know a gate, or has it locked to another value.
        UndecidedGateError: kubesched has only the rule of its default.
    """
    entries = (entry.strip() for value in values for entry in value.split(","))
    given = dict(_read(entry, release.minor) for entry in entries if entry)
    expanded = _expanded(given, release.minor)
    bare = Release(release.minor)
    if undecided := [name for name, is_on in expanded.items() if name in _ONE_RULE and is_on != bare.has(name)]:
        raise UndecidedGateError(_unsupported(undecided, given, expanded, release.minor))
    _check_needs(expanded, bare)
    return {name: is_on for name, is_on in expanded.items() if name not in _OF_STAGE}


def without_effect(gates: Mapping[str, bool]) -> list[str]:
    """The gates among them that are on, and that kubesched does not implement, sorted."""
    return sorted(name for name in _WITHOUT_EFFECT.intersection(gates) if gates[name])


def _read(entry: str, minor: int) -> tuple[str, bool]:
    """A gate and its value."""
    text, equals, value = (part.strip() for part in entry.partition("="))
    name = text.removeprefix(f"{_COMPONENT}:")
    shown, shown_value = name[:_MOST_SHOWN], value[:_MOST_SHOWN]
    if not name:
        nothing = f"there is no name before {entry[:_MOST_SHOWN]!r}"
        raise ConfigError(f"{_WHERE}: unrecognized feature gate: \n  {nothing}; write NAME=true or NAME=false")
    if not equals:
        raise ConfigError(f"{_WHERE}: missing bool value for {shown}\n  write {shown}=true or {shown}=false")
    if value not in _BOOLEANS:
        parsed = f'strconv.ParseBool: parsing "{shown_value}": invalid syntax'
        raise ConfigError(f"{_WHERE}: invalid value of {shown}={shown_value}, err: {parsed}\n  write true or false")
    known = feature_gate(name, minor)
    if known is None:
        raise ConfigError(f"{_WHERE}: unrecognized feature gate: {shown}\n  {_where_known(name, minor)}")
    if known.is_locked and known.is_on != _BOOLEANS[value]:
        wanted, locked = str(_BOOLEANS[value]).lower(), str(known.is_on).lower()
        raise ConfigError(f"{_WHERE}: cannot set feature gate {name} to {wanted}, feature is locked to {locked}")
    return name, _BOOLEANS[value]


def _where_known(name: str, minor: int) -> str:
    """Which version has a gate, or which gate may be meant."""
    minors = minors_with(name)
    if not minors:
        return did_you_mean(name, gates_of(minor)) or f"v1.{minor} has no such gate"
    if minors[0] > minor:
        return f"v1.{minor} does not have it; it exists since v1.{minors[0]}"
    return f"v1.{minor} does not have it any more; the last version with it is v1.{minors[-1]}"


def _expanded(given: Mapping[str, bool], minor: int) -> dict[str, bool]:
    """The gates with those that AllAlpha and AllBeta stand for, as far as they are not set by name."""
    stages = {_OF_STAGE[name]: is_on for name, is_on in given.items() if name in _OF_STAGE}

    def is_meant(known: FeatureGate) -> bool:
        return known.stage in stages and not known.is_locked

    of_stages = (
        {name: stages[known.stage] for name, known in gates_of(minor).items() if is_meant(known)} if stages else {}
    )
    return of_stages | dict(given)


def _check_needs(given: Mapping[str, bool], bare: Release) -> None:
    """Refuse gates that are on without the others that they need.

    Rule: kube-scheduler v1.35 and later; it prints them in any order.
    """

    def is_on(name: str) -> bool:
        return given.get(name, bare.has(name))

    faults = {
        name: off
        for name, others in gates_needing_others(bare.minor).items()
        if is_on(name) and (off := [one for one in others if feature_gate(one, bare.minor) and not is_on(one)])
    }
    if faults:
        texts = [
            f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
            for name, off in faults.items()
        ]
        advice = ",".join(f"{name}=false" for name in faults)
        raise ConfigError(f"{_WHERE}: {bracketed(texts)}\n  add {advice}, or leave the others on")


def _unsupported(names: Sequence[str], given: Mapping[str, bool], expanded: Mapping[str, bool], minor: int) -> str:
    """What is refused of the gates that have another rule than their default, with what asks for those not given."""
    wanted = joined(f"{name}={str(expanded[name]).lower()}" for name in names)
    default = ",".join(f"{name}={str(not expanded[name]).lower()}" for name in names)
    stages = {stage: name for name, stage in _OF_STAGE.items() if name in given}
    asking = dict.fromkeys(name for one in names if one not in given and (name := stages[_stage(one, minor)]))
    of = joined(f"{name}={str(given[name]).lower()}" for name in asking)
    groups = not asking and not _OF_GROUPS.isdisjoint(names)
    return (
        f"{_WHERE}: kubesched has no rules for {wanted}{f', part of {of}' if of else ''}\n  "
        f"{'add' if of else 'leave'} the {plural(len(names), 'default')} of v1.{minor}, {default}: "
        f"kube-scheduler decides otherwise without {plural(len(names), 'it', 'them')}{_ABOUT_GROUPS if groups else ''}"
    )


def _stage(name: str, minor: int) -> str:
    gate = feature_gate(name, minor)
    return "" if gate is None else gate.stage
