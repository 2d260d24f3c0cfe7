"""Chooses the pods that a comparison places: those that wait, those of a rollout, or all that would be re-created."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubesched.api import (
    EventType,
    Job,
    KubeObject,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    Selector,
    StatefulSet,
    VolumeAttachment,
    kind_of,
    parse_selector_text,
)
from kubesched.config import did_you_mean
from kubesched.controllers import controllers_of, left_claims, replacement_of, successor_of
from kubesched.errors import InputError, SelectorError
from kubesched.explanation import unplaced
from kubesched.state import pod_volumes

_MODES: Final = ("pending", "all", "rollout")
_OWNERS: Final = (Job, Namespace, ReplicaSet, ReplicationController, StatefulSet)


class PodChoice(msgspec.Struct, frozen=True):
    """Which pods are placed, as `--pods` has it. Pods that wait for a node are placed in any case.

    Attributes:
        mode: `pending`; `all`: also every pod that a controller may re-create; `rollout`: also those of them that
            the selector selects.
        selector: the labels of a rollout, as written.
    """

    mode: str
    selector: str = ""

    def __str__(self) -> str:
        return f"{self.mode}={self.selector}" if self.selector else self.mode


PENDING: Final = PodChoice("pending")


def parse_pod_choice(text: str) -> PodChoice:
    """Read `pending`, `all` or `rollout=SELECTOR`.

    Raises:
        InputError: it is something else.

    Example:
        assert parse_pod_choice("rollout=app=web").selector == "app=web"
    """
    mode, sign, selector = text.partition("=")
    if mode not in _MODES or bool(sign) != (mode == "rollout"):
        near = did_you_mean(mode, _MODES) if mode not in _MODES else ""
        advice = near or "expected pending, all, or rollout=SELECTOR such as rollout=app=web"
        raise InputError(f'pods: found "{text}"; {advice}')
    choice = PodChoice(mode, selector.strip())
    if mode == "rollout":
        _parsed(choice)
    return choice


def placed_again(
    objects: Iterable[KubeObject], choice: PodChoice, scheduler_names: Iterable[str], staying: Container[str] = ()
) -> list[KubeObject]:
    """The objects, with the chosen pods, their volumes and their devices taken off their nodes. Pods of other
    schedulers, and on nodes that the cluster does not have, stay.

    Args:
        staying: `namespace/name` of more pods that stay.
    Raises:
        InputError: a rollout selects no pod that a controller would re-create.
    """
    known, names = list(objects), frozenset(scheduler_names)
    if choice.mode == "pending":
        return known
    selector, nodes = _parsed(choice), {one.name for one in known if isinstance(one, Node)}
    owners = {(kind_of(one), one.key): one for one in known if isinstance(one, _OWNERS)}
    chosen = {
        one.key
        for one in known
        if isinstance(one, Pod)
        and one.node_name in nodes
        and _is_re_created(one, names, lambda kind, key: owners.get((kind, key)))
        and selector.matches(one.labels)
    }
    if choice.mode == "rollout" and not chosen:
        raise InputError(
            f"pods: rollout={choice.selector} selects no running pod that a controller would re-create; "
            "pods of DaemonSets, mirror pods and pods without a controller stay"
        )
    taken = {key for key in chosen if key not in staying}
    return _without_devices(known, _detached(known, _taken_off(known, taken)), taken)


def may_be_lost(before: Iterable[KubeObject], after: Iterable[KubeObject]) -> tuple[str, ...]:
    """`namespace/name` of the pods that `placed_again` took off their nodes, and that may not be re-created."""
    pending = {one.key for one in after if isinstance(one, Pod) and not one.node_name}
    known = list(before)
    owners = {(kind_of(one), one.key): one for one in known if isinstance(one, _OWNERS)}
    counted = controllers_of(known)
    taken = (one for one in known if isinstance(one, Pod) and one.node_name and one.key in pending)
    return tuple(
        one.key
        for one in taken
        if successor_of(one, lambda kind, key: owners.get((kind, key)), controllers=counted).is_made is None
    )


def _taken_off(known: Sequence[KubeObject], chosen: Container[str]) -> list[KubeObject]:
    """The objects with some pods off their nodes, each in its place; claims of ephemeral volumes go with their pod."""
    storage = (one for one in known if isinstance(one, PersistentVolumeClaim | PersistentVolume))
    by_key = {(kind_of(one), one.key): one for one in storage}
    changed: list[KubeObject] = []
    gone: set[tuple[str, str]] = set()
    for one in known:
        if not isinstance(one, Pod) or one.key not in chosen:
            changed.append(one)
        elif all(volume.ephemeral is None for volume in one.volumes):
            changed.append(unplaced(one))
        else:
            made, lost = replacement_of(one, lambda kind, key: by_key.get((kind, key)))
            changed += made
            gone.update((kind_of(old), old.key) for old in lost if not isinstance(old, Pod))
    old = {id(one) for key, one in by_key.items() if key in gone}
    return [one for one in changed if id(one) not in old]


def _detached(before: Sequence[KubeObject], after: Sequence[KubeObject]) -> list[KubeObject]:
    """The objects, without the attachments of volumes that no pod on their node uses any more.

    An attachment counts against the limit of its node, also without a pod; it goes when the last pod does.
    """
    volume_of = {one.key: one.spec.volume_name for one in before if isinstance(one, PersistentVolumeClaim)}
    gone = set(_claims_in_use(before)) - set(_claims_in_use(after))
    detached = {(node, volume) for node, claim in gone if (volume := volume_of.get(claim))}
    return [
        one
        for one in after
        if not isinstance(one, VolumeAttachment)
        or (one.spec.node_name, one.spec.source.persistent_volume_name) not in detached
    ]


def _without_devices(
    before: Sequence[KubeObject], after: Sequence[KubeObject], taken: Container[str]
) -> list[KubeObject]:
    """The objects, where the resource claims of pods that were taken off their nodes have no devices any more."""
    claims: dict[str, KubeObject | None] = {one.key: one for one in before if isinstance(one, ResourceClaim)}
    if not claims:
        return list(after)
    for one in before:
        if isinstance(one, Pod) and one.key in taken:
            for event in left_claims(one, lambda _, key: claims.get(key), comes_back=True):
                claims[event.object.key] = None if event.type is EventType.DELETED else event.object
    now = (claims.get(one.key) if isinstance(one, ResourceClaim) else one for one in after)
    return [one for one in now if one is not None]


def _claims_in_use(objects: Iterable[KubeObject]) -> Iterator[tuple[str, str]]:
    """The node and the claim of each claim that a pod on a node uses."""
    for one in objects:
        if isinstance(one, Pod) and one.node_name and one.volumes and not one.is_finished:
            for claim in pod_volumes(one).claims:
                yield one.node_name, f"{one.namespace}/{claim.name}"


def _is_re_created(pod: Pod, scheduler_names: frozenset[str], find: Callable[[str, str], KubeObject | None]) -> bool:
    return (
        not pod.is_terminating  # it leaves anyway
        and pod.scheduler_name in scheduler_names
        and successor_of(pod, find).is_made is not False
    )


def _parsed(choice: PodChoice) -> Selector:
    try:
        selector = parse_selector_text(choice.selector)
    except SelectorError as error:
        raise InputError(f"pods: rollout={choice.selector}: {error}") from error
    if choice.mode == "rollout" and selector.is_empty:
        raise InputError("pods: rollout has no selector; write for example rollout=app=web")
    return selector
