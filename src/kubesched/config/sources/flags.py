"""What the command line of a scheduler changes: flags of kube-scheduler, past and present, as a configuration.

Rule: kube-scheduler v1.36: --leader-elect flags replace fields of the file. v1.18 to v1.36: the other flags here count
only without --config; v1.22: --policy-configmap before --policy-config-file, unless --use-legacy-policy-config.
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from kubesched.config.scalars import parse_duration
from kubesched.config.type_meta import API_VERSION, GROUP, KIND
from kubesched.config.types import LeaderElectionConfiguration, LeaderElectionFlags
from kubesched.errors import InputError

_TRUE: Final = ("1", "t", "T", "TRUE", "true", "True")
_FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")
_SWITCHES: Final = frozenset(("leader-elect", "profiling", "contention-profiling", "use-legacy-policy-config"))
_ELECTION: Final = {
    f"leader-elect-{field.replace('_', '-')}": field
    for field in LeaderElectionConfiguration.__struct_fields__
    if field != "leader_elect"
}
_DURATIONS: Final = frozenset(("lease_duration", "renew_deadline", "retry_period"))
_FIELDS: Final = {
    "kubeconfig": ("clientConnection", "kubeconfig"),
    "kube-api-qps": ("clientConnection", "qps"),
    "kube-api-burst": ("clientConnection", "burst"),
    "kube-api-content-type": ("clientConnection", "contentType"),
    "profiling": ("enableProfiling",),
    "contention-profiling": ("enableContentionProfiling",),
}
_OLD_FIELDS: Final = {
    "scheduler-name": ("schedulerName",),
    "hard-pod-affinity-symmetric-weight": ("hardPodAffinitySymmetricWeight",),
    "lock-object-namespace": ("leaderElection", "lockObjectNamespace"),
    "lock-object-name": ("leaderElection", "lockObjectName"),
    "algorithm-provider": ("algorithmSource", "provider"),
}
_POLICY_FLAGS: Final = (
    "policy-config-file",
    "policy-configmap",
    "policy-configmap-namespace",
    "use-legacy-policy-config",
)
_OLD: Final = frozenset((*_OLD_FIELDS, "policy-config-file", "policy-configmap"))
REPLACED_FLAGS: Final = frozenset((*_OLD_FIELDS, *_POLICY_FLAGS))
"""Flags that kube-scheduler no longer has, whose meaning a file for --config can have."""


class FieldFlag(msgspec.Struct, frozen=True):
    """A flag that stands for a field of a configuration, and counts only without --config.

    Attributes:
        name: without dashes in front.
        field: such as `clientConnection.kubeconfig`.
        value: as the field would have it.
    """

    name: str
    field: str
    value: Any


def split_words(words: Iterable[str]) -> tuple[str, ...]:
    """Command and arguments of a container; one with blanks may be a command line for a shell."""
    return tuple(part for word in words for part in _split(word))


def parse_flags(words: Iterable[str]) -> dict[str, str]:
    """The flags of a command line by name, without the first dashes; the last of a repeated one counts."""
    flags: dict[str, str] = {}
    waiting = ""
    for word in words:
        if word.startswith("--"):
            name, sign, value = word[2:].partition("=")
            name = name.replace("_", "-")
            flags[name] = value if sign else "true"
            waiting = "" if sign or name in _SWITCHES else name
        else:
            if waiting:
                flags[waiting] = word
            waiting = ""
    return flags


def election_flags(flags: Mapping[str, str], lease_name: str = "") -> LeaderElectionFlags:
    """What the flags say about leader election.

    Args:
        lease_name: the name of the Lease if neither a flag nor the file has one; kube-scheduler's if empty.
    Raises:
        InputError: a value is not valid; the message begins with the flag.
    """
    given: dict[str, Any] = {}
    if "leader-elect" in flags:
        given["leader_elect"] = _boolean("leader-elect", flags["leader-elect"])
    for flag, field in _ELECTION.items():
        if flag in flags:
            given[field] = _duration(flag, flags[flag]) if field in _DURATIONS else flags[flag]
    return LeaderElectionFlags(resource_name=lease_name, given=given)


def field_flags(flags: Mapping[str, str]) -> tuple[FieldFlag, ...]:
    """The flags of a command line that --config makes ineffective.

    Raises:
        InputError: a value is not valid; the message begins with the flag.
    """
    return tuple(
        FieldFlag(flag, ".".join(path), _value(flag, flags[flag])) for flag, path in _FIELDS.items() if flag in flags
    )


def configuration_of_flags(flags: Mapping[str, str]) -> dict[str, Any]:
    """The configuration that a command line without --config means: v1, or v1alpha1 where it has a removed flag.

    Raises:
        InputError: a value is not valid; the message begins with the flag.
    """
    is_old = not _OLD.isdisjoint(flags)
    document: dict[str, Any] = {"apiVersion": f"{GROUP}/v1alpha1" if is_old else API_VERSION, "kind": KIND}
    for flag, path in ({**_FIELDS, **_OLD_FIELDS} if is_old else _FIELDS).items():
        if flag in flags:
            _set(document, path, _value(flag, flags[flag]))
    name, file = flags.get("policy-configmap", ""), flags.get("policy-config-file", "")
    uses_file = _boolean("use-legacy-policy-config", flags.get("use-legacy-policy-config", "false"))
    if name and not uses_file:
        namespace = flags.get("policy-configmap-namespace", "kube-system")
        document["algorithmSource"] = {"policy": {"configMap": {"namespace": namespace, "name": name}}}
    elif file:
        document["algorithmSource"] = {"policy": {"file": {"path": file}}}
    return document


def _split(word: str) -> list[str]:
    """The words of a word that is a command line."""
    if not any(blank in word for blank in " \n\t"):
        return [str(word)]
    try:
        return shlex.split(str(word), comments=True)
    except ValueError:  # such as a quote without its end
        return word.split()


def _set(document: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    *steps, last = path
    for step in steps:
        document = document.setdefault(step, {})
    document[last] = value


def _value(flag: str, text: str) -> Any:
    if flag in _SWITCHES:
        return _boolean(flag, text)
    if flag in ("kube-api-qps", "kube-api-burst", "hard-pod-affinity-symmetric-weight"):
        return _number(flag, text)
    return text


def _boolean(flag: str, text: str) -> bool:
    if text not in (*_TRUE, *_FALSE):
        raise InputError(f"--{flag}: found {text!r}; expected true or false")
    return text in _TRUE


def _number(flag: str, text: str) -> int | float:
    try:
        number = float(text) if len(text) < 20 else None
    except ValueError:
        number = None
    if number is None or not abs(number) < 2**31:
        raise InputError(f"--{flag}: found {text!r:.40}; expected a number")
    return int(number) if number.is_integer() else number


def _duration(flag: str, text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError:
        raise InputError(f"--{flag}: {text!r} is not a duration; write it like 15s or 1m30s") from None
