"""Places a group: how many of its pods fit now, and what the rest lacks."""

import msgspec

from kubesched.api import Pod, completed, edited
from kubesched.explanation.choice import choice
from kubesched.explanation.explainer import Explainer, is_running, unplaced
from kubesched.explanation.gang import Gang
from kubesched.explanation.outcome import diagnosis, outcome
from kubesched.release import DEFAULT_VERSION, DecidingVersion


class GroupFit(msgspec.Struct, frozen=True):
    """A group and the nodes for its pods.

    Attributes:
        running: `namespace/name` of the pods that have a node.
        placed: pending pod -> the node that it would get, behind the pods before it.
        lacking: pending pod -> why it would not get a node now, in one line.
        profile: whose plugins decided.
        faults: of plugins, one for each pod for which one failed.
        undecided: pending pod -> why kubesched cannot decide about it.
        version: the version of Kubernetes whose rules decided.
    """

    group: Gang
    running: tuple[str, ...]
    placed: dict[str, str]
    lacking: dict[str, str]
    profile: str
    faults: tuple[str, ...] = ()
    undecided: dict[str, str] = {}
    version: DecidingVersion = DEFAULT_VERSION


def place_group(explainer: Explainer, group: Gang) -> GroupFit:
    """Place the pending pods of a group one after another, highest priority first; the cluster is afterwards as before.

    Pods that no profile serves are judged by the first one.

    Example:
        snapshot = [*load_snapshot("cluster.json"), make_pod("worker-0", labels={"team": "red"})]
        with Explainer(snapshot) as explainer:
            fit = place_group(explainer, find_group(snapshot, "team=red"))
        assert fit.placed == {"default/worker-0": "n1"}
    """
    running = tuple(pod.key for pod in group.pods if is_running(pod))
    waiting = sorted((completed(pod) for pod in group.pods if not pod.node_name), key=lambda pod: -pod.priority)
    placed: dict[str, str] = {}
    lacking: dict[str, str] = {}
    undecided: dict[str, str] = {}
    faults: list[str] = []
    profile = ""
    with explainer.session.fork():
        for pod in waiting:
            asked = _served(pod, explainer)
            profile = asked.scheduler_name
            evaluation = explainer.evaluate(unplaced(asked), preempt=False)
            if evaluation.held_back:
                lacking[pod.key] = evaluation.held_back_words
                continue
            if evaluation.undecided:
                undecided[pod.key] = evaluation.undecided
                continue
            if evaluation.turned_down is not None:
                lacking[pod.key] = outcome(evaluation).why
                continue
            chosen = choice(evaluation)
            if chosen is None:
                fault = evaluation.failure
                lacking[pod.key] = diagnosis(evaluation) if fault is None else fault.located
                faults += [fault.located] if fault is not None else []
                continue
            placed[pod.key] = chosen.best.node
            explainer.session.bind(asked, chosen.best.node)
    return GroupFit(group, running, placed, lacking, profile, tuple(faults), undecided, explainer.session.version)


def _served(pod: Pod, explainer: Explainer) -> Pod:
    """The pod, for a profile that there is."""
    if pod.scheduler_name in explainer.frameworks:
        return pod
    name = next(iter(explainer.frameworks))
    return edited(pod, spec=msgspec.structs.replace(pod.spec, scheduler_name=name))
