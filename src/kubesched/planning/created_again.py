"""Finds what would become of running pods if they were re-created today.

A pod is deleted in a fork, and what its controller creates is tried, while the other pending pods take no room. Equal
pods share an answer: all of them where an equal pod beside them has a place on two nodes, and no rule of theirs counts
pods; else those on nodes that are alike in what their rules read.
"""

import enum
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec
import numpy as np

from kubesched.api import HOSTNAME, ZONE, KubeObject, Node, Pod, PodSpec, rewritten
from kubesched.controllers import further_copy, replacement_of
from kubesched.explanation import Explainer, claims_in_use, outcome
from kubesched.planning.refused_again import RefusedAgain
from kubesched.plugins import required_node_affinity
from kubesched.session import Attempt, Preempt, Session
from kubesched.state import PodInfo

_COPY: Final = "new"
_TWO: Final = 2
_MOST_EXPLAINED: Final = 60
"""Of groups of pods that have no place: the others get the message of kube-scheduler, and no fix."""
_HASH: Final = "pod-template-hash"


class Comeback(enum.Enum):
    """Where a pod would go that is re-created."""

    ELSEWHERE = "elsewhere"
    """Another node than its own would take it, too."""
    ITS_NODE = "its node"
    """Only the node that it is on now."""
    BY_EVICTION = "by eviction"
    NOWHERE = "nowhere"
    REFUSED = "refused"
    """The API server would not create it."""
    NOT_KNOWN = "not known"


class CreatedAgain(NamedTuple):
    """What would become of a running pod.

    Attributes:
        why: why it would have no place, or why kubesched cannot decide; empty where a plugin failed.
        fix: the best change that was tried and helps; empty for none.
    """

    pod: Pod
    comeback: Comeback
    why: str = ""
    fix: str = ""


class Recreation:
    """Tries running pods again on a session, which is afterwards as it was.

    Args:
        session: the cluster.
        objects: all of it.

    Attributes:
        faults: of plugins, each text once: of the pods for which one failed nothing is known.
        n_unexplained: how many groups of pods have no place and no fix, because others were explained before them.
    """

    def __init__(self, session: Session, objects: Iterable[KubeObject]) -> None:
        self._session = session
        self._refused = RefusedAgain(objects)
        self._n_explained = 0
        self.n_unexplained = 0
        self._explainer = Explainer(session)
        self.faults: dict[str, None] = {}
        self._beside: dict[str, Comeback] = {}  # where an equal pod has a place beside a pod

    def equal(self, pods: Iterable[Pod]) -> list[list[Pod]]:
        """The pods that a profile serves, equal ones together: those of which rules read the same."""
        groups: dict[Hashable, list[Pod]] = {}
        for pod in pods:
            if pod.scheduler_name in self._session.frameworks:
                groups.setdefault(self._key(self._session.cluster_state.pod_info(pod)), []).append(pod)
        return list(groups.values())

    def _key(self, info: PodInfo) -> Hashable:
        return info.pod.scheduler_name, info.identity, info.read_by_filters, _lasting_claims(info.pod)

    def disk_in_use(self, pod: Pod) -> str:
        """Why one more such pod on another node would not start while this one runs; empty where nothing is known."""
        state = self._session.cluster_state
        in_use = claims_in_use(state.pod_info(pod), state.snapshot())
        return next((one.text for one in in_use if one.node == pod.node_name), "")

    def beside(self, pod: Pod) -> CreatedAgain:
        """What would become of the first new pod of a rollout, while all running ones stay."""
        if why := self._refused.why(pod, gone=False):
            return CreatedAgain(pod, Comeback.REFUSED, why)
        if (comeback := self._beside.get(pod.key)) is not None:
            return CreatedAgain(pod, comeback)
        with self._one_more(pod) as new:
            new = of_next_revision(new)
            return self._comeback(pod, new, self._session.attempt(new))

    @contextmanager
    def _one_more(self, pod: Pod) -> Iterator[Pod]:
        """A fork with the claims of one more such pod, which is not there yet."""
        with self._session.fork():
            *claims, new = further_copy(pod, f"{pod.name}-{_COPY}", self._session.get)
            self._session.change(claims)
            assert isinstance(new, Pod), "the pod comes after its claims"
            yield new

    def _has_room_beside(self, pod: Pod) -> bool:
        """Whether one more equal pod has a place on two nodes."""
        with self._one_more(pod) as new:
            attempt = self._session.attempt(new, Preempt.NEVER)
        nodes = [] if attempt.failure is not None else _feasible(attempt)
        if nodes and of_next_revision(new) is new:
            self._beside[pod.key] = _among(nodes, pod)
        return len(nodes) >= _TWO

    def tried(self, pods: Sequence[Pod]) -> list[CreatedAgain]:
        """What would become of each of some equal pods."""
        if why := self._refused.why(pods[0], gone=True):
            return [CreatedAgain(pod, Comeback.REFUSED, why) for pod in pods]
        if self._has_room_beside(pods[0]) and not _counts_pods(pods[0].spec):
            return [CreatedAgain(pod, Comeback.ELSEWHERE) for pod in pods]
        n_on_node = Counter(pod.node_name for pod in pods)
        by_place: dict[Hashable, CreatedAgain] = {}
        comebacks = []
        for pod in pods:
            place = (self._place(pod), n_on_node[pod.node_name])
            if place not in by_place:
                by_place[place] = self._alone(pod)
            comebacks.append(by_place[place]._replace(pod=pod))
        return comebacks

    def _place(self, pod: Pod) -> Hashable:
        """What the rules of a pod read of its node, apart from its name."""
        state, node = self._session.cluster_state, self._session.get("Node", pod.node_name)
        if not isinstance(node, Node):
            return pod.node_name
        nodes, info = state.snapshot().nodes, state.pod_info(pod)
        position, choice = nodes.position_of(node.name), required_node_affinity(info.node_choice)
        is_chosen = choice is None or bool(choice.matches(nodes)[position])
        labels = tuple(node.labels.get(key) for key in _topology_keys(pod.spec))
        is_full = bool((nodes.requested[:, position] > nodes.allocatable[:, position]).any())
        return is_chosen, labels, node.taints, node.unschedulable, is_full

    def _alone(self, pod: Pod) -> CreatedAgain:
        """Delete a pod, and try what is created in its place."""
        with self._session.fork():
            made, gone = replacement_of(pod, self._session.get)
            self._session.change(made, gone)
            new = made[-1]
            assert isinstance(new, Pod), "the pod comes after its claims"
            return self._comeback(pod, new, self._session.attempt(new))

    def _comeback(self, pod: Pod, new: Pod, attempt: Attempt) -> CreatedAgain:
        if attempt.failure is not None:
            self.faults[attempt.failure.located] = None
            return CreatedAgain(pod, Comeback.NOT_KNOWN)
        if (undecided := attempt.diagnosis.undecided) is not None:
            return CreatedAgain(pod, Comeback.NOT_KNOWN, undecided.message)
        if nodes := _feasible(attempt):
            return CreatedAgain(pod, _among(nodes, pod))
        if attempt.room is not None and attempt.room.nominated_node_name:
            return CreatedAgain(pod, Comeback.BY_EVICTION)
        if self._n_explained == _MOST_EXPLAINED:
            self.n_unexplained += 1
            return CreatedAgain(pod, Comeback.NOWHERE, attempt.diagnosis.message)
        self._n_explained += 1
        evaluation = self._explainer.evaluate(new, preempt=False)
        fix = next(iter(self._explainer.fixes(evaluation)), None)
        return CreatedAgain(pod, Comeback.NOWHERE, outcome(evaluation, fix).why, "" if fix is None else str(fix))


def of_next_revision(pod: Pod) -> Pod:
    """A copy of a pod as the next ReplicaSet has it; the same one where no rule of it reads the hash of the template.

    Rule: Kubernetes v1.36: with matchLabelKeys, the pods of a revision count only each other.
    """
    old_hash, spec = pod.labels.get(_HASH, ""), pod.spec
    affinity = spec.affinity
    kinds = (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ()
    terms = [term for kind in kinds if kind is not None for term in kind.required or ()]
    keys = [one.match_label_keys or () for one in spec.topology_spread_constraints or ()]
    if not old_hash or not any(_HASH in one for one in (*keys, *(term.match_label_keys or () for term in terms))):
        return pod

    def renamed(document: dict[str, object]) -> None:
        text = msgspec.json.encode(document).replace(f'"{old_hash}"'.encode(), f'"{_COPY}"'.encode())
        document.clear()
        document.update(msgspec.json.decode(text))

    return rewritten(pod, renamed)


def _lasting_claims(pod: Pod) -> tuple[str, ...]:
    """The claims that outlive the pod; those of ephemeral volumes are equal for equal pods."""
    claims = (volume.persistent_volume_claim for volume in pod.volumes)
    return tuple(one.claim_name for one in claims if one is not None)


def _among(nodes: Sequence[str], pod: Pod) -> Comeback:
    return Comeback.ITS_NODE if nodes == [pod.node_name] else Comeback.ELSEWHERE


def _feasible(attempt: Attempt) -> list[str]:
    result = attempt.diagnosis.result
    if result is None:
        return []
    names = result.nodes.names
    return [names[position] for position in np.flatnonzero(result.fits).tolist()]


def _counts_pods(spec: PodSpec) -> bool:
    """Whether a rule of the pod counts others, so that it may have no place although one more equal pod has."""
    affinity = spec.affinity
    return bool(spec.topology_spread_constraints) or (affinity is not None and affinity.pod_affinity is not None)


def _topology_keys(spec: PodSpec) -> list[str]:
    """The keys of the domains that a pod's rules, or those of others, may count; nodes are distinguished otherwise."""
    keys = {ZONE, *(one.topology_key for one in spec.topology_spread_constraints or ())}
    affinity = spec.affinity
    for terms in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        keys |= {one.topology_key for one in (terms.required if terms is not None else None) or ()}
    return sorted(keys - {HOSTNAME})
