"""The remedy of another strategy for a rollout whose new pods wait for the places of the pods that they replace."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from kubesched.api import DESIRED_REPLICAS, Deployment, ReplicaSet, RollingUpdate, Workload
from kubesched.controllers import rollout_bounds
from kubesched.engine import BoolVector
from kubesched.errors import InputError
from kubesched.explanation.before_fix import owners_of
from kubesched.explanation.effort import Effort, FixKind
from kubesched.explanation.remedies.case import Case, Remedy, removal
from kubesched.state import PodInfo

WAY_OUT: Final = "set maxSurge: 0 and maxUnavailable: 1, so that an old pod makes way for each new one"
_WAIT: Final = "wait for the rollout: its strategy lets an old pod go before each new one"
_STRATEGY: Final[FixKind] = "rolloutStrategy"
_ROLLOUT: Final[FixKind] = "rollout"
_MAX_NODES: Final = 3
_DEPLOYMENT: Final = "Deployment"


def old_first(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Let an older replica go before the new pod comes, or wait until it goes; unless it leaves too little room."""
    older = _older(case)
    names = {node.name for node in case.at(where)}
    text, kind = (WAY_OUT, _STRATEGY) if older and _holds_old(case, older) else (_WAIT, _ROLLOUT)
    for info in islice((one for one in older if one.pod.node_name in names), _MAX_NODES):
        yield Remedy(text, kind, True, removal([info]), ladder=text, effort=Effort.ADAPT)


def holds_old_pods(case: Case) -> bool:
    """Whether another strategy lets an older replica go, whose room the new pod can have."""
    older = _older(case)
    return bool(older) and _holds_old(case, older)


def _older(case: Case) -> list[PodInfo]:
    """The replicas that a rollout replaces by the pod, if all run and each leaves enough room; none for other pods."""
    owners = owners_of(case.pod, case.evaluation.snapshot)
    if not owners or owners[0].kind != "ReplicaSet" or owners[-1].kind != _DEPLOYMENT:
        return []
    older = [info for info in _replicas(case, owners[-1].name) if _set_of(info) != owners[0].name]
    is_whole = len(older) >= _wanted(case, older) and all(_leaves_room(info, case.info) for info in older)
    return older if is_whole else []


def _holds_old(case: Case, older: list[PodInfo]) -> bool:
    """Whether the strategy of the Deployment lets no older replica go first, as far as it is known.

    Rule: kube-controller-manager v1.36: while all replicas of a Deployment run, its maxUnavailable alone lets one go.
    """
    name = owners_of(case.pod, case.evaluation.snapshot)[-1].name
    deployment = case.object_of(_DEPLOYMENT, f"{case.pod.namespace}/{name}")
    if not isinstance(deployment, Deployment):
        return True
    strategy = deployment.spec.strategy
    if strategy.type == "Recreate":
        return False
    workload = Workload(_DEPLOYMENT, case.pod.namespace, name)
    try:
        _, fewer = rollout_bounds(workload, strategy.rolling_update or RollingUpdate(), _wanted(case, older))
    except InputError:  # the API server refuses such a strategy
        return True
    return not fewer


def _replicas(case: Case, deployment: str) -> list[PodInfo]:
    """The placed pods of a Deployment in the namespace of the pod."""
    infos = (info for info, _ in case.placed.in_namespace(case.pod.namespace))
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
