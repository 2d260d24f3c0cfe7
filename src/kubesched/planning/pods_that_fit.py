"""Would these pods fit into a cluster, and how many of them: answered by simulating the cluster with them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from kubesched.api import KubeObject, Node, Pod, PodDisruptionBudget
from kubesched.controllers import WithoutPods, note_on_model
from kubesched.errors import InputError
from kubesched.explanation import with_reasons
from kubesched.planning.asked import Asked, PodsLike, asked_of
from kubesched.planning.blocking_budgets import why_it_blocks
from kubesched.planning.changed_cluster import Changed, WhatIf, node_model
from kubesched.planning.changes import with_nodes_like
from kubesched.planning.gangs_that_fit import gangs_that_fit
from kubesched.planning.kept_pods import Kept, without_kept
from kubesched.planning.more_nodes import MoreNodes, fewest_nodes
from kubesched.planning.most import most_that_fit
from kubesched.planning.placed import has_place, placements_of, rivals
from kubesched.planning.rollout import Rollout, roll_out
from kubesched.planning.settling import cluster_after_run
from kubesched.planning.storage_caveats import storage_caveats
from kubesched.scheduler import TieBreak
from kubesched.session import GangFit, Placement, Progress, Report, Session, placements_frame, workload_text
from kubesched.setup import ArgsLike, ConfigurationLike, PluginLike, Setup, set_up
from kubesched.shown import Shown
from kubesched.snapshot import ClusterObjects

if TYPE_CHECKING:
    import pandas as pd

_NO_ARGS: Mapping[str, ArgsLike] = {}
_MAX_PODS: Final = 500_000
_NO_CHANGE: Final = WhatIf()
_NOTHING_EXISTS: Final = "None of the workloads has pods in the cluster yet: nothing is replaced or kept."


class WorkloadFit(msgspec.Struct, frozen=True, eq=False):
    """Which of the new pods of one workload would fit.

    Attributes:
        workload: such as `Deployment shop/web`.
        placements: one for each of its new pods, in their order.
    """

    workload: str
    placements: tuple[Placement, ...]

    @property
    def n_asked(self) -> int:
        """How many of its pods were tried."""
        return len(self.placements)

    @property
    def n_fit(self) -> int:
        """How many of them have a node in the end."""
        return sum(map(has_place, self.placements))


class Existing(msgspec.Struct, frozen=True):
    """A workload of the manifests that has pods in the cluster already: `Kind namespace/name`, and their number."""

    workload: str
    pods: int


class Fit(Shown, msgspec.Struct, frozen=True, eq=False):
    """Which of the new pods would fit.

    Attributes:
        placements: one for each new pod, in their order.
        report: of the whole simulation: also pods that were pending before, victims, and the fill of nodes.
        is_maximum: whether the largest number of pods was asked for; then all have a node.
        next_left: of the largest number, the pod that does not fit any more; if no number of new nodes is enough, the
            first pod that is left on many of them.
        n_at_most: if no number of new nodes is enough: how many pods have a node with many of them.
        obstacle: what keeps `next_left` from a new node then; empty where that is not known.
        workloads: whom the new pods belong to, such as `Deployment shop/web`.
        nodes_like: the model of new nodes; empty if none were asked for.
        added_nodes: names of the new nodes, the fewest with which all pods fit, or as many as asked for.
        n_without: with the fewest new nodes: how many pods have a node without them.
        existing: the workloads that have pods in the cluster already: of which the new ones replace them in a rollout,
            or are added.
        namesakes: workloads of another namespace that run already, and that the manifests probably mean.
        gangs: what becomes of groups of pods that run at once, and of Jobs with several pods; none with the largest
            number.
        rollouts: how they were replaced; empty if the new pods are added.
        kept: the workloads whose pods stay, because their template is the same; the new pods are those that they get
            in addition.
        n_written: how many of the pods the manifests have; the others are copies.
        notes: what a user should know about the manifests and the model of new nodes.
        without_pods: the workloads of the manifests that have no pods; the notes have the sentences on them.
        taken_at: when the snapshot was taken, if that is known.
        n_alone: how many of the new pods would fit without the pods that are pending already; None where these take no
            room, or where all fit.
        assumed: the changes to the cluster under which it is answered, each as what follows "if".
        objects: with keeps_objects: the cluster with the new pods, for the next question or `write_snapshot`.
        helpful_node: if no number of new nodes is enough: a node of the same shape in another zone, of which more would
            be; empty for none.

    Example:
        answer = fit(load_snapshot("cluster.json"), {"cpu": "2", "memory": "4Gi"}, replicas=16)
        print(answer.n_fit, "of", answer.n_asked)
    """

    placements: tuple[Placement, ...]
    report: Report
    is_maximum: bool = False
    next_left: Placement | None = None
    workloads: tuple[str, ...] = ()
    nodes_like: str = ""
    added_nodes: tuple[str, ...] = ()
    n_without: int | None = None
    n_at_most: int | None = None
    obstacle: str = ""
    rollouts: tuple[Rollout, ...] = ()
    kept: tuple[Kept, ...] = ()
    n_written: int = 0
    notes: tuple[str, ...] = ()
    without_pods: tuple[WithoutPods, ...] = ()
    taken_at: datetime | None = None
    n_alone: int | None = None
    helpful_node: str = ""
    assumed: tuple[str, ...] = ()
    existing: tuple[Existing, ...] = ()
    namesakes: tuple[str, ...] = ()
    gangs: tuple[GangFit, ...] = ()
    objects: tuple[KubeObject, ...] = ()

    def pods_frame(self) -> "pd.DataFrame":
        """The new pods as a DataFrame, with the columns of `Report.pods_frame`.

        Raises:
            InputError: pandas is not installed.
        """
        return placements_frame(self.placements)

    def nodes_frame(self) -> "pd.DataFrame":
        """How full the nodes are without and with the new pods, as `Report.nodes_frame`.

        Raises:
            InputError: pandas is not installed.
        """
        return self.report.nodes_frame()

    @property
    def n_asked(self) -> int:
        """How many pods were tried."""
        return len(self.placements)

    @property
    def n_fit(self) -> int:
        """How many of the new pods have a node in the end."""
        return sum(map(has_place, self.placements))

    @property
    def by_workload(self) -> tuple[WorkloadFit, ...]:
        """The new pods of each workload, in the order of `workloads`."""
        placements: dict[str, list[Placement]] = {workload: [] for workload in self.workloads}
        for one in self.placements:
            key = workload_text(one.pod, one.owner) if one.owner else f"Pod {one.pod}"
            placements.setdefault(key, []).append(one)
        return tuple(WorkloadFit(workload, tuple(of)) for workload, of in placements.items())

    @property
    def first_left(self) -> Placement | None:
        """The first new pod without a node; of the largest number the next one."""
        if self.is_maximum:
            return self.next_left
        return next((one for one in self.placements if not has_place(one)), None)

    @property
    def undecided(self) -> tuple[str, ...]:
        """Why it is not known whether new pods fit, each sentence once; empty where kubesched decides about all."""
        tried = (*self.placements, *([self.next_left] if self.next_left is not None else []))
        return tuple(dict.fromkeys(one.diagnosis or one.message for one in tried if one.is_undecided))

    @property
    def is_known(self) -> bool:
        """Whether the answer is known: no plugin failed, and kubesched decides about all new pods."""
        return not (self.report.faults or self.undecided)

    @property
    def all_fit(self) -> bool:
        """Whether every new pod has a node."""
        return self.n_fit == self.n_asked

    @property
    def all_gangs_run(self) -> bool:
        """Whether enough pods of every group have a node."""
        return all(one.runs for one in self.gangs)


def fit(
    snapshot: Iterable[KubeObject],
    pods: PodsLike,
    configuration: ConfigurationLike = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    replicas: int | None = None,
    maximum: bool = False,
    nodes_like: str | Node = "",
    n_nodes: int | None = None,
    add: bool = False,
    rollout: bool = False,
    alone: bool = False,
    only: str = "",
    what_if: WhatIf = _NO_CHANGE,
    keeps_objects: bool = False,
    tie_break: TieBreak = TieBreak.FIRST,
    seed: int = 0,
    progress: Progress | None = None,
) -> Fit:
    """Simulate a cluster with new pods.

    Pods that are pending already are tried first, as far as they have the same priority or a higher one.

    Args:
        snapshot: the cluster, as load_snapshot gives it.
        pods: a manifest or several (files, `-`, open streams), the requests of one pod, or objects with new pods.
        configuration, plugins, plugin_args, tie_break, seed: as for Session.
        replicas: how many pods instead of the number in the manifest, which has one workload then. If it is suspended
            or has 0 replicas, its pods are tried as if it were resumed.
        maximum: ask for the largest number that fits. That many fit, and one more does not.
        nodes_like: ask for the fewest new nodes of this shape with which all pods fit: the name of a node, a file with
            a Node, or a Node. That many are enough, and one less is not.
        n_nodes: add this number of such nodes instead.
        add: if a workload has pods in the cluster already, they stay, and the new ones are added. By default the new
            ones replace them, in the steps of its strategy, if their template is another one.
        rollout: replace them also where the template is the same, as `kubectl rollout restart` does; if no workload has
            pods, a note says so.
        alone: leave out the pods that are pending already.
        only: ask about one of several workloads: `deploy/web`, or `shop/deploy/web` with its namespace. The pods of the
            others are left out.
        what_if: changes to the cluster, before anything is placed.
        keeps_objects: whether the answer has the cluster afterwards; not if it is a number that is asked for.
        progress: called with how many pods have been tried and how many there are.
    Raises:
        InputError: a manifest, the configuration or an argument is not valid.

    Example:
        answer = fit(load_snapshot("cluster.json"), "pod.yaml", maximum=True)
        print(answer.n_fit, answer.first_left.message)
    """
    changed = what_if.applied(snapshot)
    asked = asked_of(pods, changed.objects, may_wake=replicas is not None or maximum)
    asked = asked.only(only) if only else asked
    return fit_asked(
        changed.cluster,
        asked,
        set_up(configuration, plugins, plugin_args),
        tie_break=tie_break,
        seed=seed,
        replicas=replicas,
        maximum=maximum,
        nodes_like=nodes_like,
        n_nodes=n_nodes,
        add=add,
        rollout=rollout,
        alone=alone,
        keeps_objects=keeps_objects,
        changed=changed,
        progress=progress,
    )


def fit_asked(
    cluster: ClusterObjects,
    asked: Asked,
    setup: Setup,
    *,
    tie_break: TieBreak = TieBreak.FIRST,
    seed: int = 0,
    replicas: int | None = None,
    maximum: bool = False,
    nodes_like: str | Node = "",
    n_nodes: int | None = None,
    add: bool = False,
    rollout: bool = False,
    alone: bool = False,
    keeps_objects: bool = False,
    changed: Changed | None = None,
    progress: Progress | None = None,
) -> Fit:
    """The answer for pods that are admitted to the cluster already; arguments as for `fit` and Session.

    Args:
        changed: the changes that the cluster has behind it, if there are any.
    """
    ask = partial(
        _fit_asked,
        cluster,
        setup=setup,
        tie_break=tie_break,
        seed=seed,
        maximum=maximum,
        nodes_like=nodes_like,
        n_nodes=n_nodes,
        add=add,
        rollout=rollout,
        progress=progress,
        replicas=replicas,
        assumed=frozenset() if changed is None else changed.nodes,
    )
    answer = ask(asked, alone=alone, keeps_objects=keeps_objects)
    if changed is not None:
        notes = (*changed.notes, *answer.notes)
        answer = msgspec.structs.replace(answer, assumed=changed.assumed, notes=notes)
    if not (rollout or maximum or nodes_like or replicas is not None):
        answer = _with_notes(answer, (_at_maximum(one, partial(ask, alone=alone)) for one in asked.below_maximum()))
    first = answer.first_left
    searches_nodes = bool(nodes_like) and n_nodes is None
    if (
        alone
        or searches_nodes
        or first is None
        or first.refused
        or not answer.is_known
        or not _waiting_take_room(answer)
    ):
        return answer
    return msgspec.structs.replace(answer, n_alone=ask(asked, alone=True).n_fit)


def _at_maximum(asked: tuple[Asked, int], ask: Callable[..., Fit]) -> str:
    """How many replicas fit if an autoscaler sets as many as it may."""
    alone, most = asked
    n_fit = ask(alone, replicas=most).n_fit
    return f"{alone.workloads[0]}: at the maximum of {most:,} replicas, {n_fit:,} would fit"


def _with_notes(answer: Fit, notes: Iterable[str]) -> Fit:
    return msgspec.structs.replace(answer, notes=(*answer.notes, *notes))


def _blocking(new: Iterable[KubeObject]) -> Iterator[str]:
    """The disruption budgets of manifests that allow no eviction, even when all pods are ready."""
    known = list(new)
    pods = [one for one in known if isinstance(one, Pod) and not one.is_finished]
    for budget in known:
        if isinstance(budget, PodDisruptionBudget):
            why, helps = why_it_blocks(budget, pods)
            if why:
                blocks = f"PodDisruptionBudget {budget.key} would block every drain"
                yield f"{blocks}: {why}; {helps}"


def _waiting_take_room(answer: Fit) -> bool:
    """Whether a pod that is pending already gets a node."""
    asked = {one.pod for one in answer.placements}
    return any(has_place(one) for one in answer.report.placements if one.pod not in asked)


def _fit_asked(
    read: ClusterObjects,
    asked: Asked,
    setup: Setup,
    *,
    tie_break: TieBreak,
    seed: int,
    replicas: int | None,
    maximum: bool,
    nodes_like: str | Node,
    n_nodes: int | None,
    add: bool,
    rollout: bool,
    alone: bool,
    assumed: frozenset[tuple[str, str]],
    keeps_objects: bool = False,
    progress: Progress | None,
) -> Fit:
    _check(replicas, n_nodes, is_maximum=maximum, has_model=bool(nodes_like))
    is_search = maximum or (bool(nodes_like) and n_nodes is None)
    if keeps_objects and is_search:
        raise InputError("keeps_objects and a search are mutually exclusive: give the number of pods and of nodes")
    if keeps_objects and alone:
        raise InputError("keeps_objects and alone are mutually exclusive: pods that are pending belong to the cluster")
    unused = () if asked.existing or not (add or rollout) else (_NOTHING_EXISTS,)
    kept: tuple[Kept, ...] = ()
    if not (add or rollout or is_search):
        asked, kept = without_kept(asked, replicas)
        replicas = None if kept else replicas
    existing = tuple(Existing(str(workload), len(pods)) for workload, pods in asked.existing.items())
    if rollout and is_search:
        raise InputError("rollout and a search are mutually exclusive: give the number of pods and of nodes")
    asked = _resolved(asked, add=add, rollout=rollout, is_search=is_search)
    if asked.existing and setup.extender_calls is not None:
        raise InputError(
            f"{asked.there_already()}; a rollout is simulated without calls of extenders; add the new pods"
        )
    rollouts: tuple[Rollout, ...] = ()
    before = cluster = _without_waiting(asked) if alone else list(asked.cluster)
    model = node_model(before, nodes_like) if isinstance(nodes_like, str) and nodes_like else nodes_like
    model_notes = filter(None, [note_on_model(model)] if isinstance(model, Node) else [])
    next_left: Placement | None = None
    more: MoreNodes | None = None
    if isinstance(model, Node) and n_nodes is not None:
        cluster = with_nodes_like(before, model, n_nodes)
    with Session(cluster, setup, tie_break=tie_break, seed=seed) as session:
        session.assumed = assumed
        if asked.existing:
            new, report, rollouts = roll_out(session, asked, replicas, progress)
            without = () if any(one.lets_old_go for one in rollouts) else ("rolloutStrategy",)
            report = with_reasons(session, report, only=_names(new), without=without)
        elif not asked.pods:
            asked.check_number(replicas, is_search=maximum)
            new, report = [], session.schedule(progress)
        elif maximum:
            new, report, next_left = most_that_fit(session, asked, progress)
        elif isinstance(model, Node) and n_nodes is None:
            new = asked.objects(replicas)
            more = fewest_nodes(session, cluster, new, model, progress)
            cluster, report, next_left = more.cluster, more.report, more.next_left
        else:
            new = asked.objects(replicas)
            session.change(new)
            report = session.schedule(progress)
            report = with_reasons(session, report, only=[*_names(new), *rivals(session.pending, new)])
        with_new = msgspec.structs.replace(read, objects=(*cluster, *new))
        objects = cluster_after_run(session, report, with_new) if keeps_objects else ()
        surging = {one.workload for one in rollouts if one.n_highest > one.n_old}
        old = [pod for workload, pods in asked.existing.items() if str(workload) in surging for pod in pods]
        caveats = storage_caveats(session, placements_of(new, report), with_new.objects, old)
    return Fit(
        placements_of(new, report),
        report,
        is_maximum=maximum,
        next_left=next_left,
        workloads=tuple(map(str, asked.workloads)),
        nodes_like=model.name if isinstance(model, Node) else "",
        added_nodes=tuple(one.name for one in cluster[len(before) :] if isinstance(one, Node)),
        n_without=more.n_without if more else None,
        n_at_most=more.n_at_most if more else None,
        obstacle=more.obstacle if more else "",
        helpful_node=more.helpful_node if more else "",
        objects=objects,
        existing=existing,
        namesakes=tuple(map(str, asked.namesakes)),
        gangs=() if maximum else gangs_that_fit(_without_replaced(asked, cluster), new, report),
        rollouts=rollouts,
        kept=kept,
        n_written=len(asked.pods),
        notes=(
            *asked.notes_on(replicas, is_search=maximum),
            *asked.added_at_admission(),
            *unused,
            *caveats,
            *_blocking(new),
            *model_notes,
        ),
        without_pods=asked.without_pods,
        taken_at=read.taken_at,
    )


def _without_waiting(asked: Asked) -> list[KubeObject]:
    """The cluster without pods that are pending already; those of the workloads in question stay."""
    own = {pod.key for pods in asked.existing.values() for pod in pods}
    return [
        one for one in asked.cluster if not isinstance(one, Pod) or one.node_name or one.is_finished or one.key in own
    ]


def _without_replaced(asked: Asked, cluster: Iterable[KubeObject]) -> list[KubeObject]:
    replaced = {pod.key for pods in asked.existing.values() for pod in pods}
    return [one for one in cluster if not (isinstance(one, Pod) and one.key in replaced)]


def _names(new: Iterable[KubeObject]) -> list[str]:
    return [one.key for one in new if isinstance(one, Pod)]


def _resolved(asked: Asked, *, add: bool, rollout: bool, is_search: bool) -> Asked:
    """What is asked; only for a rollout it has pods that are there already."""
    if add and rollout:
        raise InputError("add and rollout are mutually exclusive: existing pods stay, or are replaced")
    if is_search and asked.existing and not add:
        raise InputError(f"{asked.there_already()}; a search needs add: the old pods stay, and the new ones are added")
    return asked.beside_existing() if add and asked.existing else asked


def _check(replicas: int | None, n_nodes: int | None, *, is_maximum: bool, has_model: bool) -> None:
    if replicas is not None and is_maximum:
        raise InputError("replicas and maximum are mutually exclusive: one gives the number, the other asks for it")
    if replicas is not None and not 1 <= replicas <= _MAX_PODS:
        raise InputError(f"replicas: found {replicas}; expected 1 to {_MAX_PODS}")
    if n_nodes is not None and not has_model:
        raise InputError("n_nodes needs nodes_like: the shape of the new nodes")
    if is_maximum and has_model and n_nodes is None:
        raise InputError("maximum needs the number of new nodes: the largest number of pods grows with it")
