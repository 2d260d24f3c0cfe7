"""The remedy of another strategy for a rollout whose new pods wait for the places of the pods that they replace."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from kubesched.api import DESIRED_REPLICAS, ReplicaSet
from kubesched.engine import BoolVector
from kubesched.explanation.before_fix import owners_of
from kubesched.explanation.remedies.case import Case, Remedy, removal
from kubesched.state import PodInfo

WAY_OUT: Final = "set maxSurge: 0 and maxUnavailable: 1, so that an old pod makes way for each new one"
_MAX_NODES: Final = 3
_DEPLOYMENT: Final = "Deployment"


def old_first(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Let an older replica go before the new pod comes, unless one may go already, or leaves too little room.

    Rule: kube-controller-manager v1.36: while all replicas of a Deployment run, its maxUnavailable alone lets one go.
    """
    owners = owners_of(case.pod, case.evaluation.snapshot)
    if not owners or owners[0].kind != "ReplicaSet" or owners[-1].kind != _DEPLOYMENT:
        return
    older = [info for info in _replicas(case, owners[-1].name) if _set_of(info) != owners[0].name]
    names = {node.name for node in case.at(where)}
    if len(older) >= _wanted(case, older) and all(_leaves_room(info, case.info) for info in older):
        for info in islice((one for one in older if one.pod.node_name in names), _MAX_NODES):
            yield Remedy(WAY_OUT, "rolloutStrategy", True, removal([info]), ladder=WAY_OUT)


def _replicas(case: Case, deployment: str) -> list[PodInfo]:
    """The placed pods of a Deployment in the namespace of the pod."""
    there = case.placed.matching(lambda identity: identity.namespace == case.pod.namespace)
    infos = (case.placed.pods[index] for index in there.tolist())
    of = (info for info in infos if not info.pod.is_terminating and _set_of(info))
    return [info for info in of if owners_of(info.pod, case.evaluation.snapshot)[-1].name == deployment]


def _leaves_room(old: PodInfo, new: PodInfo) -> bool:
    """Whether the new pod asks for no more than the old one has: else the next new pod might wait again."""
    has = old.requests.value.wanted
    return all(amount <= has.get(name, 0) for name, amount in new.requests.value.wanted.items())


def _set_of(info: PodInfo) -> str:
    owner = info.pod.metadata.controller
    return owner.name if owner is not None and owner.kind == "ReplicaSet" else ""


def _wanted(case: Case, older: list[PodInfo]) -> int:
    """How many replicas the Deployment wants, as its controller notes on its ReplicaSets; 1 where it does not."""
    names = {_set_of(info) for info in older}
    sets = [case.object_of("ReplicaSet", f"{case.pod.namespace}/{name}") for name in names]
    noted = [one.annotations.get(DESIRED_REPLICAS, "") for one in sets if isinstance(one, ReplicaSet)]
    return max([1, *(int(text) for text in noted if text.isdecimal())])
