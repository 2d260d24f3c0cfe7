"""Finds workloads by the names that people type, such as `deploy/web`."""

from collections.abc import Iterable, Sequence
from typing import Final

from kubesched.api import Workload
from kubesched.documents import did_you_mean, listed, meant
from kubesched.errors import InputError

_SHORT_NAMES: Final = {
    "deploy": "Deployment",
    "ds": "DaemonSet",
    "rc": "ReplicationController",
    "rs": "ReplicaSet",
    "sts": "StatefulSet",
}
_IN_CLUSTER: Final = "its manifest can be added with --manifest"
_EXAMPLES: Final = "expected for example deploy/web or shop/statefulset/db"
_KINDS: Final = (*_SHORT_NAMES.values(), "Job")
_MAX_NAMED: Final = 5
_LIKENESS: Final = 0.75  # of a word that is misspelt; namespaces such as deploy-prod are not


def find_workload(
    workloads: Iterable[Workload], text: str, place: str = "the cluster has", otherwise: str = _IN_CLUSTER
) -> Workload:
    """The workload that a text names: `deploy/web`, `statefulset/db`, or with its namespace `shop/deploy/web` or
    `Deployment shop/web`, as tables show it.

    Args:
        place: where the workloads are, as the beginning of a sentence.
        otherwise: what to do where there is none of this kind.
    Raises:
        InputError: the text is not such a name, there is no such workload, or several namespaces have it.
    """
    everything = list(workloads)
    text = as_typed(text)
    *space, kind, name = text.split("/") if text.count("/") in (1, 2) else ("", "")
    if not kind or not name:
        raise InputError(f'"{text}" is not a workload; {_named_so(text, everything) or _EXAMPLES}')
    if not is_workload_kind(kind, everything):
        hint = near_kind(kind, everything) or _EXAMPLES
        raise InputError(f'{text}: "{kind}" is not a kind of workload; {hint}')
    kind = _full_kind(kind, everything)
    named = [workload for workload in everything if (workload.kind, workload.name) == (kind, name)]
    here = [workload for workload in named if workload.namespace in (space or [workload.namespace])]
    if len(here) == 1:
        return here[0]
    if here:
        spaces = ", ".join(workload.namespace for workload in here)
        raise InputError(f"{text}: namespaces {spaces} have a {kind} {name}; write NAMESPACE/{text}")
    hint = _offered(named) or _near(kind, name, everything, otherwise)
    raise InputError(f"{text}: {place} no {kind} {'/'.join([*space, name])}; {hint}")


def as_typed(text: str) -> str:
    """A name as people type it: for `Deployment shop/web`, as tables show a workload, `shop/deployment/web`."""
    kind, _, key = text.partition(" ")
    namespace, slash, name = key.partition("/")
    return typed_name(Workload(kind, namespace, name)) if slash else text


def typed_name(workload: Workload) -> str:
    """The name of a workload as options take it, such as `shop/deployment/web`."""
    return f"{workload.namespace}/{workload.kind.lower()}/{workload.name}"


def near_kind(word: str, workloads: Iterable[Workload]) -> str:
    """The kind of workload that a misspelt word probably means, as a sentence; empty where none is near.

    Example:
        assert near_kind("depoy", []) == 'did you mean "deploy"?'
    """
    kinds = {workload.kind.lower() for workload in workloads} | {kind.lower() for kind in _KINDS}
    return did_you_mean(word, [*_SHORT_NAMES, *sorted(kinds)], _LIKENESS)


def _offered(named: Sequence[Workload]) -> str:
    """The full names of some workloads; empty for none."""
    return meant(typed_name(workload) for workload in named[:_MAX_NAMED])


def is_workload_kind(word: str, workloads: Iterable[Workload]) -> bool:
    """Whether a word means a kind of workload, such as `deploy`, and not for example a namespace."""
    everything = list(workloads)
    return _full_kind(word, everything) in {*_KINDS, *(workload.kind for workload in everything)}


def _full_kind(kind: str, workloads: Sequence[Workload]) -> str:
    """The kind as objects have it, for a short name, a plural or another case."""
    low = kind.partition(".")[0].lower()
    singular = low.removesuffix("s") if low not in _SHORT_NAMES else low
    by_lower = {workload.kind.lower(): workload.kind for workload in workloads} | {k.lower(): k for k in _KINDS}
    return _SHORT_NAMES.get(low) or by_lower.get(low) or by_lower.get(singular) or kind


def _near(kind: str, name: str, workloads: Sequence[Workload], otherwise: str) -> str:
    """What may have been meant: a similar name of this kind, or another kind with this name, such as a single pod."""
    names = [workload.name for workload in workloads if workload.kind == kind]
    others = f"found: {listed(names, _MAX_NAMED)}" if names else otherwise
    return did_you_mean(name, names) or _named_so(name, workloads) or others


def _named_so(name: str, workloads: Iterable[Workload]) -> str:
    """`did you mean "pod/web-1"?` for the workload with this name, or else one whose name begins with it."""
    matches = sorted(
        (workload for workload in workloads if f"{workload.name}-".startswith(f"{name}-")),
        key=lambda workload: len(workload.name),
    )
    return meant(f"{workload.kind.lower()}/{workload.name}" for workload in matches[:1])
