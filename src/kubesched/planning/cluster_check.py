"""check: weak spots of running workloads, and what helps."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Final

import msgspec

from kubesched.admission import RefusedReplicas, refused_replicas
from kubesched.api import KubeObject, Node, Pod, PodOwners, Workload, kind_of
from kubesched.config import Finding, Severity
from kubesched.controllers import Controllers, controllers_of, is_bound_to_node
from kubesched.engine import paused_gc
from kubesched.planning.created_again import Comeback, CreatedAgain, Recreation
from kubesched.planning.held_rollouts import Strategies, held_rollouts
from kubesched.planning.silenced_findings import Annotations
from kubesched.planning.weak_spots import (
    Places,
    blocking_budgets,
    idle,
    idle_budgets,
    jobs_on_spot,
    lost_zones,
    never_ending,
    shared_budgets,
    successorless,
    unwanted_daemons,
    without_successor,
)
from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.session import Progress, Session, Unserved, unserved_pods
from kubesched.setup import ArgsLike, ConfigurationLike, ExtenderCalls, PluginLike, Profiles, Setup, set_up
from kubesched.shown import Shown, data_frame
from kubesched.snapshot import as_read, version_of

if TYPE_CHECKING:
    import pandas as pd

_NO_ARGS: Mapping[str, ArgsLike] = {}
_OUTCOMES: Final = {
    Comeback.NOWHERE: ("stay pending", "run kubesched explain"),
    Comeback.REFUSED: ("be refused by the API server", "change the policy, or the template of the pods"),
}
"""What becomes of a pod that cannot come back, and what to do where no fix was found."""
_NUMBERED: Final = re.compile(r"[\w.-]*[0-9][\w.-]*")
_SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


class ClusterCheck(Shown, msgspec.Struct, frozen=True, eq=False):
    """The weak spots of running workloads.

    Attributes:
        findings: the most harmful first; those that say the same of several objects are one, with the names and amounts
            of the first.
        silenced: findings that annotations silence.
        n_pods, n_workloads: how many running pods were looked at, and of how many workloads. Pods that belong to their
            nodes, such as those of DaemonSets, are not among them.
        n_pending: pods that wait for a node, of those that are looked at; `explain` is about them.
        n_foreign: running pods that no profile serves, which are not tried again.
        unserved: these by the name of their scheduler.
        n_undecided: running pods about which kubesched cannot decide.
        why_undecided: why it cannot, each reason once.
        n_unexplained: groups of equal pods without a place whose cause is kube-scheduler's message, and for which no
            fix was looked for, because there are so many.
        faults: of plugins, each text once: it is not known whether the pods for which one failed would come back.
        taken_at: when the cluster was read; None where that is not known.
        version: the version of Kubernetes whose rules decided.

    Example:
        for finding in check(load_snapshot("cluster.json")).findings:
            print(finding.severity, finding.rule, finding.about, finding.message, finding.help)
    """

    findings: tuple[Finding, ...]
    silenced: tuple[Finding, ...] = ()
    n_pods: int = 0
    n_workloads: int = 0
    n_pending: int = 0
    n_foreign: int = 0
    unserved: tuple[Unserved, ...] = ()
    n_undecided: int = 0
    why_undecided: tuple[str, ...] = ()
    n_unexplained: int = 0
    faults: tuple[str, ...] = ()
    taken_at: datetime | None = None
    version: DecidingVersion = DEFAULT_VERSION

    def findings_frame(self) -> "pd.DataFrame":
        """The findings as a DataFrame, a row for each in their order.

        Columns: `severity`, `rule`, `objects` (a tuple of texts), `pods`, `message`, `help` and `tried`.

        Raises:
            InputError: pandas is not installed.
        """
        return data_frame(
            {
                "severity": [one.severity for one in self.findings],
                "rule": [one.rule for one in self.findings],
                "objects": [one.about for one in self.findings],
                "pods": [one.n_pods for one in self.findings],
                "message": [one.message for one in self.findings],
                "help": [one.help for one in self.findings],
                "tried": [one.is_tried for one in self.findings],
            }
        )

    @property
    def counts(self) -> dict[Severity, int]:
        """How many findings have each severity."""
        counted = Counter(finding.severity for finding in self.findings)
        return {severity: counted[severity] for severity in _SEVERITIES}


def check(
    snapshot: Iterable[KubeObject],
    configuration: ConfigurationLike | Setup | Profiles = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    pods: Collection[str] | None = None,
    extender_calls: ExtenderCalls | None = None,
    progress: Progress | None = None,
) -> ClusterCheck:
    """Find weak spots of running workloads: which pods could not be re-created, and what a lost node interrupts.

    Each running pod is taken to be deleted and re-created, alone, in the cluster as it is. The answer does not
    depend on the order of the objects.

    Args:
        snapshot: the cluster, as load_snapshot gives it. A Deployment that it lacks has the default strategy.
        configuration, plugins, plugin_args, extender_calls: as for Simulator.
        pods: `namespace/name` of the pods that are looked at; None for all.
        progress: called with the number of workloads that were looked at, and of all.
    Raises:
        InputError: the configuration cannot be read or is not valid.
        PluginError: a plugin cannot be loaded or started.

    Example:
        result = check(load_snapshot("cluster.json"))
        print(result.counts)
    """
    read = as_read(snapshot)
    setup = set_up(configuration, plugins, plugin_args, release=version_of(read).release)
    objects = sorted(read, key=lambda known: (kind_of(known), known.key))
    controllers = controllers_of(objects, read.taken_at, read.listed_kinds)
    started = msgspec.structs.replace(read, objects=tuple(objects))
    with paused_gc(), Session(started, setup, extender_calls=extender_calls) as session:
        return _Checking(session, objects, controllers, pods).answer(progress)


class _Checking:
    """Looks at the workloads of a cluster."""

    def __init__(
        self, session: Session, objects: Sequence[KubeObject], known: Controllers, chosen: Collection[str] | None
    ) -> None:
        self._session = session
        self._objects = objects
        self._known = known
        nodes = {one.name for one in objects if isinstance(one, Node)}
        self._pods = [one for one in objects if isinstance(one, Pod) and _is_running(one) and one.node_name in nodes]
        owners = PodOwners(objects)
        self._workloads: dict[Workload, list[Pod]] = {}
        self._daemons: dict[Workload, list[Pod]] = {}
        self._n_undecided = 0
        self._why_undecided: dict[str, None] = {}
        self._meant = meant = None if chosen is None else set(chosen)
        for pod in self._pods:
            if meant is None or pod.key in meant:
                kept = self._daemons if is_bound_to_node(pod) else self._workloads
                kept.setdefault(owners.workload_of(pod), []).append(pod)
        pods = [one for one in objects if isinstance(one, Pod)]
        self._leaving = [
            (owners.workload_of(pod), pod)
            for pod in pods
            if pod.is_terminating and not pod.is_finished and (meant is None or pod.key in meant)
        ]
        self._n_pending = sum(meant is None or pod.key in meant for pod in session.waiting())
        self._unfinished = [pod for pod in pods if not (pod.is_finished or pod.is_terminating)]
        of_pods = [(owners.workload_of(pod), pod) for pod in self._unfinished]
        self._n_replicas = Counter(workload for workload, _ in of_pods)
        old = {owner.uid for pod in self._pods if (owner := pod.metadata.controller) is not None}
        waiting = ((workload, pod.metadata.controller) for workload, pod in of_pods if not pod.node_name)
        self._n_new = Counter(workload for workload, owner in waiting if owner is not None and owner.uid not in old)
        self._looked_at = None if chosen is None else set(map(str, self._workloads))
        seen = None if chosen is None else {str(one) for one in (*self._workloads, *self._daemons)}
        refused = {one.workload: one for one in refused_replicas(objects)}
        self._refused = {name: one for name, one in refused.items() if seen is None or name in seen}
        self._recreation = Recreation(session, objects)
        self._strategies = Strategies(objects)
        self._places = Places(session)

    def answer(self, progress: Progress | None) -> ClusterCheck:
        annotations = Annotations(self._objects)
        reported, silenced = annotations.split(self._findings(progress))
        found = [pod for pods in self._workloads.values() for pod in pods]
        unserved = unserved_pods(found, self._session.frameworks)
        return ClusterCheck(
            findings=_in_order((*reported, *annotations.wrong(self._looked_at))),
            silenced=_in_order(silenced),
            n_pods=len(found),
            n_workloads=len(self._workloads),
            n_pending=self._n_pending,
            n_foreign=sum(one.n_pods for one in unserved),
            unserved=unserved,
            n_undecided=self._n_undecided,
            why_undecided=tuple(self._why_undecided),
            n_unexplained=self._recreation.n_unexplained,
            faults=tuple(self._recreation.faults),
            taken_at=self._known.taken_at,
            version=self._session.version,
        )

    def _findings(self, progress: Progress | None) -> Iterator[Finding]:
        yield from blocking_budgets(self._session, chain(*self._workloads.values()), self._unfinished)
        yield from idle_budgets(self._session, self._meant, self._unfinished)
        yield from lost_zones(self._session, chain(*self._workloads.values()))
        yield from never_ending(self._session, self._leaving)
        yield from unwanted_daemons(self._session, self._daemons)
        yield from map(_of_refused, self._refused.values())
        for i, (workload, pods) in enumerate(sorted(self._workloads.items()), 1):
            lost = without_successor(self._session, pods, self._known)
            yield from successorless(workload, list(lost.values()))
            yield from jobs_on_spot(self._session, workload, pods, self._known)
            yield from shared_budgets(self._session, workload, pods)
            yield from self._places.of(workload, pods, self._n_replicas[workload])
            made = [pod for pod in pods if pod.key not in lost]
            tried = [one for equal in self._recreation.equal(made) for one in self._recreation.tried(equal)]
            yield from idle(workload, pods, self._pods)
            yield from self._comebacks(workload, tried)
            if str(workload) not in self._refused:  # else a rollout waits for the policy, whatever the strategy is
                n_replicas = self._n_replicas[workload] - self._n_new[workload]
                yield from held_rollouts(self._recreation, self._strategies, workload, tried, n_replicas)
            if progress is not None:
                progress(i, len(self._workloads))

    def _comebacks(self, workload: Workload, tried: Sequence[CreatedAgain]) -> Iterator[Finding]:
        about = (str(workload),)
        unknown = [one for one in tried if one.comeback is Comeback.NOT_KNOWN]
        self._n_undecided += len(unknown)
        self._why_undecided |= dict.fromkeys(one.why for one in unknown if one.why)
        lost: dict[tuple[Comeback, str], list[CreatedAgain]] = {}
        for one in tried:
            if one.comeback in _OUTCOMES:
                lost.setdefault((one.comeback, one.fix or one.why), []).append(one)
        for (comeback, _), same in lost.items():
            outcome, advice = _OUTCOMES[comeback]
            message, fix = f"re-created, it would {outcome}: {same[0].why}", same[0].fix
            help_ = fix or advice
            yield Finding("cannot-come-back", "", message, help_, about=about, n_pods=len(same), is_tried=bool(fix))
        if n := sum(one.comeback is Comeback.BY_EVICTION for one in tried):
            message = "re-created, it would evict pods of lower priority"
            yield Finding("evicts-others", "", message, "keep room for it", about=about, n_pods=n)
        confined = [one.pod for one in tried if one.comeback is Comeback.ITS_NODE]
        yield from self._places.confined(workload, confined)


def _of_refused(one: RefusedReplicas) -> Finding:
    return Finding("pods-refused", "", one.text, one.fix, about=(one.workload,), n_pods=one.n_refused)


def _is_running(pod: Pod) -> bool:
    return bool(pod.node_name) and not pod.is_finished and not pod.is_terminating


def _in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The most harmful first; those that say the same of several objects, apart from numbers, are one."""
    same: dict[tuple[str, str, str, bool], list[Finding]] = {}
    for one in findings:
        same.setdefault((one.rule, _NUMBERED.sub("", one.message), one.help, one.is_tried), []).append(one)
    folded = map(_folded, same.values())
    return tuple(
        sorted(folded, key=lambda one: (_SEVERITIES.index(one.severity), -one.n_pods, one.rule, one.about, one.message))
    )


def _folded(findings: Sequence[Finding]) -> Finding:
    """One finding about the objects of all, those with the most pods first; it has the message of the first.

    The numbers of others are not those of the message.
    """
    ranked = sorted(findings, key=lambda one: (-one.n_pods, one.about))
    about = tuple(dict.fromkeys(name for one in ranked for name in one.about))
    message, n_pods = ranked[0].message, sum(one.n_pods for one in findings)
    if any(one.message != message for one in ranked):
        message = f"{message} (numbers of {about[0]})"
    return msgspec.structs.replace(ranked[0], message=message, about=about, n_pods=n_pods)
