"""Would these pods fit into a cluster, and how many of them: answered by simulating the cluster with them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec

from kubesched.api import KubeObject, Node, Pod, PodDisruptionBudget
from kubesched.controllers import incomplete_pools, note_on_model
from kubesched.errors import InputError
from kubesched.explanation import with_reasons
from kubesched.planning.asked import Asked, PodsLike, asked_of
from kubesched.planning.blocking_budgets import why_it_blocks
from kubesched.planning.changed_cluster import Changed, WhatIf, node_model
from kubesched.planning.changes import with_nodes_like
from kubesched.planning.fit_question import FitQuestion
from kubesched.planning.fit_result import Existing, Fit
from kubesched.planning.gangs_that_fit import gangs_that_fit
from kubesched.planning.kept_pods import Kept, without_kept
from kubesched.planning.more_nodes import MoreNodes, fewest_nodes
from kubesched.planning.most import most_that_fit
from kubesched.planning.placed import has_devices, has_place, placements_of, rivals
from kubesched.planning.rollout import Rollout, roll_out
from kubesched.planning.settling import cluster_after_run
from kubesched.planning.storage_caveats import storage_caveats
from kubesched.scheduler import TieBreak
from kubesched.session import Placement, Progress, Report, Session
from kubesched.setup import ArgsLike, ConfigurationLike, PluginLike, Setup, set_up
from kubesched.snapshot import ClusterObjects, version_of

_NO_ARGS: Mapping[str, ArgsLike] = {}
_NO_CHANGE: Final = WhatIf()
_NO_DEVICES: Mapping[str, int] = {}
_NOTHING_EXISTS: Final = "None of the workloads has pods in the cluster yet: nothing is replaced or kept."


def fit(
    snapshot: Iterable[KubeObject],
    pods: PodsLike,
    configuration: ConfigurationLike = None,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
    *,
    devices: Mapping[str, int] = _NO_DEVICES,
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
        devices: DeviceClass -> how many devices of it a pod of requests asks for, too; `pods` may be {} then.
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
    release, may_wake = version_of(changed.cluster).release, replicas is not None or maximum
    asked = asked_of(pods, changed.objects, may_wake=may_wake, devices=devices, release=release)
    asked = asked.only(only) if only else asked
    question = FitQuestion(replicas, maximum, nodes_like, n_nodes, add, rollout, alone, keeps_objects)
    setup = set_up(configuration, plugins, plugin_args, release=release)
    return fit_asked(
        changed.cluster, asked, setup, question, tie_break=tie_break, seed=seed, changed=changed, progress=progress
    )


def fit_asked(
    cluster: ClusterObjects,
    asked: Asked,
    setup: Setup,
    question: FitQuestion,
    *,
    tie_break: TieBreak = TieBreak.FIRST,
    seed: int = 0,
    changed: Changed | None = None,
    progress: Progress | None = None,
) -> Fit:
    """The answer for pods that are admitted to the cluster already; arguments as for `fit` and Session.

    Args:
        changed: the changes that the cluster has behind it, if there are any.
    """
    assumed = frozenset() if changed is None else changed.nodes
    ask = partial(_answer, cluster, setup, tie_break, seed, assumed, progress)
    answer = ask(asked, question)
    if changed is not None:
        notes = (*changed.notes, *answer.notes)
        answer = msgspec.structs.replace(answer, assumed=changed.assumed, notes=notes)
    counted = msgspec.structs.replace(question, keeps_objects=False)
    if not (question.rollout or question.maximum or question.nodes_like or question.replicas is not None):
        most = (_at_maximum(below, counted, ask) for below in asked.below_maximum())
        answer = msgspec.structs.replace(answer, notes=(*answer.notes, *most))
    first = answer.first_left
    may_differ = first is not None and not first.refused and answer.is_known and _waiting_take_room(answer)
    if question.alone or question.searches_nodes or not may_differ:
        return answer
    return msgspec.structs.replace(answer, n_alone=ask(asked, msgspec.structs.replace(counted, alone=True)).n_fit)


def _at_maximum(below: tuple[Asked, int], question: FitQuestion, ask: Callable[[Asked, FitQuestion], Fit]) -> str:
    """How many replicas fit if an autoscaler sets as many as it may."""
    asked, most = below
    n_fit = ask(asked, msgspec.structs.replace(question, replicas=most)).n_fit
    return f"{asked.workloads[0]}: at the maximum of {most:,} replicas, {n_fit:,} would fit"


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


class _Run(NamedTuple):
    """What a simulation makes of new objects; `more` is of a search for the fewest nodes."""

    cluster: list[KubeObject]
    new: list[KubeObject]
    report: Report
    next_left: Placement | None = None
    more: MoreNodes | None = None
    rollouts: tuple[Rollout, ...] = ()


def _answer(
    read: ClusterObjects,
    setup: Setup,
    tie_break: TieBreak,
    seed: int,
    assumed: frozenset[tuple[str, str]],
    progress: Progress | None,
    asked: Asked,
    question: FitQuestion,
) -> Fit:
    question.check()
    there = asked.existing
    asked, kept = (asked, ()) if question.changes_all else without_kept(asked, question.replicas)
    question = msgspec.structs.replace(question, replicas=None) if kept else question
    existing = tuple(Existing(str(workload), len(pods)) for workload, pods in asked.existing.items())
    asked = _resolved(asked, question, calls_extenders=setup.extender_calls is not None)
    before = _without_waiting(asked) if question.alone else list(asked.cluster)
    model = _model(before, question.nodes_like)
    cluster = before if model is None or question.n_nodes is None else with_nodes_like(before, model, question.n_nodes)
    started = msgspec.structs.replace(read, objects=tuple(cluster))
    with Session(started, setup, tie_break=tie_break, seed=seed) as session:
        session.assumed = assumed
        run = _run(session, asked, question, cluster, model, progress)
        run = _with_reasons_of_kept(session, run, kept)
        after = msgspec.structs.replace(read, objects=(*run.cluster, *run.new))
        objects = cluster_after_run(session, run.report, after) if question.keeps_objects else ()
        placements = tuple(_of_file(one, kept) for one in placements_of(run.new, run.report))
        caveats = storage_caveats(session, placements, after.objects, _surging(asked, run.rollouts))
    nowhere = () if there or not (question.add or question.rollout) else (_NOTHING_EXISTS,)
    notes = (*asked.notes_on(question.replicas, is_search=question.maximum), *nowhere)
    on_model = filter(None, [] if model is None else [note_on_model(model, before)])
    return Fit(
        placements,
        run.report,
        is_maximum=question.maximum,
        next_left=run.next_left,
        workloads=tuple(map(str, asked.workloads)),
        nodes_like="" if model is None else model.name,
        added_nodes=tuple(one.name for one in run.cluster[len(before) :] if isinstance(one, Node)),
        may_need_fewer_nodes=model is not None and _may_need_fewer(run, model),
        n_without=run.more.n_without if run.more else None,
        n_at_most=run.more.n_at_most if run.more else None,
        obstacle=run.more.obstacle if run.more else "",
        helpful_node=run.more.helpful_node if run.more else "",
        objects=objects,
        existing=existing,
        namesakes=tuple(map(str, asked.namesakes)),
        gangs=() if question.maximum else gangs_that_fit(_without_replaced(asked, run.cluster), run.new, run.report),
        rollouts=run.rollouts,
        kept=kept,
        n_written=len(asked.pods),
        notes=(*notes, *_blocking(run.new), *on_model),
        caveats=caveats,
        without_pods=asked.without_pods,
        taken_at=read.taken_at,
        version=session.version,
    )


def _model(cluster: Sequence[KubeObject], nodes_like: str | Node) -> Node | None:
    """The node that new ones are like; None for none."""
    return node_model(cluster, nodes_like) if isinstance(nodes_like, str) and nodes_like else nodes_like or None


def _run(
    session: Session,
    asked: Asked,
    question: FitQuestion,
    cluster: list[KubeObject],
    model: Node | None,
    progress: Progress | None,
) -> _Run:
    """Simulate a cluster with the new pods: replace old ones by them, find how many fit, or with how many nodes."""
    if asked.existing:
        new, report, rollouts = roll_out(session, asked, question.replicas, progress)
        without = ("rollout", *(() if any(one.lets_old_go for one in rollouts) else ("rolloutStrategy",)))
        return _Run(cluster, new, with_reasons(session, report, only=_names(new), without=without), rollouts=rollouts)
    if not asked.pods:
        asked.check_number(question.replicas, is_search=question.maximum)
        return _Run(cluster, [], session.schedule(progress))
    if question.maximum:
        return _Run(cluster, *most_that_fit(session, asked, progress))
    new = asked.objects(question.replicas)
    if model is not None and question.n_nodes is None:
        more = fewest_nodes(session, cluster, new, model, progress)
        return _Run(more.cluster, new, more.report, more.next_left, more)
    session.change(new)
    report = session.schedule(progress)
    return _Run(cluster, new, with_reasons(session, report, only=[*_names(new), *rivals(session.pending, new)]))


def _may_need_fewer(run: _Run, model: Node) -> bool:
    """Whether the new nodes lack devices of their model that the pods may ask for."""
    searched = run.more is not None and bool(run.more.n)
    asks = any(one.spec.resource_claims or has_devices(one) for one in run.new if isinstance(one, Pod))
    return searched and asks and any(incomplete_pools(model, run.cluster))


def _of_file(one: Placement, kept: Iterable[Kept]) -> Placement:
    """The placement of a new pod of a workload that runs, whose template is the one of the manifest: that changes."""
    if not one.patches or all(workload.workload != one.workload for workload in kept):
        return one
    steps = []
    for step in one.patches:
        name = "" if step.target is None else f"{step.target.kind} {step.target.namespace}/{step.target.name}"
        if name != f"Pod {one.pod}":  # which is not there
            steps.append(msgspec.structs.replace(step, commands=()) if name == one.workload else step)
    return msgspec.structs.replace(one, patches=tuple(steps))


def _with_reasons_of_kept(session: Session, run: _Run, kept: Iterable[Kept]) -> _Run:
    """The run with what keeps the pods waiting that workloads have already whose template is the same."""
    same, new = {one.workload for one in kept}, set(_names(run.new))
    left = [one.pod for one in run.report.placements if one.workload in same and one.pod not in new]
    return run._replace(report=with_reasons(session, run.report, only=left)) if left else run


def _surging(asked: Asked, rollouts: Iterable[Rollout]) -> list[Pod]:
    """The old pods of workloads that have more pods for a while."""
    surging = {one.workload for one in rollouts if one.n_highest > one.n_old}
    return [pod for workload, pods in asked.existing.items() if str(workload) in surging for pod in pods]


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


def _resolved(asked: Asked, question: FitQuestion, *, calls_extenders: bool) -> Asked:
    """What is asked; only for a rollout it has pods that are there already."""
    if question.is_search and asked.existing and not question.add:
        raise InputError(f"{asked.there_already()}; a search needs add: the old pods stay, and the new ones are added")
    asked = asked.beside_existing() if question.add and asked.existing else asked
    if asked.existing and calls_extenders:
        raise InputError(
            f"{asked.there_already()}; a rollout is simulated without calls of extenders; add the new pods"
        )
    return asked
