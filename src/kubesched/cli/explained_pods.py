"""Explains several pods: those that are pending, those that were chosen, or a group that has to fit together."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kubesched.cli.explained_pod import ExplainQuestion
from kubesched.cli.output import print_line, progress_bar
from kubesched.cli.reports import print_report
from kubesched.pages.formats import Format

if TYPE_CHECKING:
    from kubesched.admission import RefusedReplicas
    from kubesched.api import Pod
    from kubesched.explanation import Evaluation
    from kubesched.naming import ChosenPods
    from kubesched.pages.explanations import Rows
    from kubesched.planning import PendingPods
    from kubesched.snapshot import ClusterObjects


def print_group(question: ExplainQuestion, name: str, namespace: str) -> Collection[str]:
    """Print how many pods of a group fit together. Returns: those for which a plugin failed."""
    from kubesched.explanation import Explainer, find_group, place_group
    from kubesched.pages.explanations import group_page

    group = find_group(question.cluster, name, namespace)
    with Explainer(question.cluster, question.setup) as explainer:
        fit = place_group(explainer, group)
        print_report(group_page(fit, question.again), question.output)
    return fit.faults


def print_several(question: ExplainQuestion, chosen: "ChosenPods") -> Collection[str]:
    """Explain pending pods as a simulation places them, and others as if they were pending.

    Returns: the pods for which a plugin failed.
    """
    from kubesched.api import Pod
    from kubesched.explanation import answer_of
    from kubesched.pages.explanations import Rows, as_line, overview_page
    from kubesched.pages.formats import version_fields
    from kubesched.pages.simulations import with_refused

    meant = {pod.key for pod in chosen.pods if not pod.node_name}
    failed: list[str] = []
    lines: list[dict[str, Any]] = []
    pending, caveats = None, tuple[str, ...]()
    version = question.version
    decided = version_fields([version])

    def emit(line: dict[str, Any]) -> None:  # together they may be larger than the memory
        print_line({**decided, **line}) if question.output == Format.JSONL else lines.append(line)

    has_lines = question.output in (Format.JSON, Format.JSONL)
    rows = Rows(lists_fixes=has_lines)
    workload_of = _workloads(question.cluster)
    if meant or not chosen.pods:
        pending, caveats = _take_pending(question, meant, rows, workload_of, emit if has_lines else None, failed)
    stuck = {} if pending is None else pending.stuck
    pods = chosen.pods
    if chosen.what == "pending":
        placed = (pod for pod in question.cluster.of(Pod) if pod.key in stuck)
        pods = (*pods, *(pod for pod in placed if chosen.namespace in ("", pod.namespace)))
    for evaluation, fixes in _placed(question, pods):
        evaluation.hangs = stuck.get(evaluation.pod.key, evaluation.hangs)
        cells = rows.take(answer_of(evaluation, workload_of(evaluation.pod), fixes))
        if evaluation.failure is not None:
            failed.append(evaluation.pod.key)
        if has_lines:
            emit(as_line(evaluation) | cells)
    if question.output != Format.JSONL:
        gangs = () if pending is None else pending.gangs(meant)
        foreign = [] if pending is None else [pod for pod in pending.foreign if pod.key in meant]
        counts = pending.counts(chosen.namespace) if pending is not None and chosen.what == "pending" else None
        victims = None if pending is None else pending.report.removed
        page = overview_page(
            rows,
            foreign=foreign,
            gangs=gangs,
            what=chosen.what,
            again=question.again,
            lines=lines,
            counts=counts,
            victims=victims,
            fit_alone=() if pending is None else pending.fit_alone & meant,
            caveats=caveats,
            version=version,
        )
        print_report(with_refused(page, refused_of(question.cluster, chosen)), question.output)
    return failed


def refused_of(cluster: "ClusterObjects", chosen: "ChosenPods") -> "list[RefusedReplicas]":
    """The workloads with pods that the API server refuses: those of chosen pods, or all of a namespace or cluster."""
    from kubesched.admission import refused_replicas

    found = refused_replicas(cluster)
    if chosen.what == "pending":
        return [one for one in found if chosen.namespace in ("", one.namespace)]
    if not chosen.pods:
        return [one for one in found if one.n_refused == one.n_wanted]
    meant = set(map(_workloads(cluster), chosen.pods)) if found else set()
    return [one for one in found if one.workload in meant]


def _take_pending(
    question: ExplainQuestion,
    meant: Collection[str],
    rows: "Rows",
    workload_of: "Callable[[Pod], str]",
    emit: "Callable[[dict[str, Any]], None] | None",
    failed: list[str],
) -> "tuple[PendingPods, tuple[str, ...]]":
    """Add the pending pods to the rows.

    Args:
        meant: `namespace/name` of these pods.
        emit: takes the line of each pod; None for nothing.
        failed: takes the pods for which a plugin failed.
    Returns: the simulation, which is closed; and why some of the placed pods would not start.
    """
    from kubesched.explanation import State
    from kubesched.pages.explanations import as_line
    from kubesched.planning import PendingPods

    cells: dict[str, dict[str, Any]] = {}

    def line_of(evaluation: "Evaluation") -> dict[str, Any]:
        return as_line(evaluation) | cells[evaluation.pod.key]

    with progress_bar("placing") as progress:
        pending = PendingPods(question.cluster, question.setup, workload_of, progress, repeats=emit is not None)
    with pending:
        for answer in pending.answers(meant):
            cells[answer.pod] = rows.take(answer) | ({"node": answer.node} if answer.node else {})
            if answer.pod in pending.fit_alone:
                cells[answer.pod]["fitsAlone"] = True
            if answer.state is State.FAILED:
                failed.append(answer.pod)
        caveats = pending.caveats(meant)
        if emit is not None:
            not_tried = [line_of(evaluation) for evaluation in pending.not_tried(cells)]
            pending.each_attempt(cells, lambda evaluation: emit(line_of(evaluation)))
            for line in not_tried:
                emit(line)
    return pending, caveats


def _placed(
    question: ExplainQuestion, pods: "Iterable[Pod]"
) -> "Iterator[tuple[Evaluation, Callable[[Evaluation], Any]]]":
    """Explain pods that have a node as if they were pending; and what finds their fixes."""
    from kubesched.explanation import Explainer

    names = {profile.scheduler_name for profile in question.setup.profiles}
    placed = [pod for pod in pods if pod.node_name and pod.scheduler_name in names]
    if not placed:
        return
    with Explainer(question.cluster, question.setup) as explainer:
        for evaluation in _with_progress(explainer.evaluations(placed), len(placed)):
            yield evaluation, explainer.fixes


def _workloads(cluster: "ClusterObjects") -> "Callable[[Pod], str]":
    """What finds the workload of a pod, such as `Deployment shop/web`."""
    from kubesched.api import PodOwners, ReplicaSet

    owners = PodOwners(cluster.of(ReplicaSet))
    return lambda pod: str(owners.workload_of(pod))


def _with_progress(evaluations: "Iterator[Evaluation]", n: int) -> "Iterator[Evaluation]":
    with progress_bar("explaining") as progress:
        for i, evaluation in enumerate(evaluations, 1):
            yield evaluation
            if progress is not None:
                progress(i, n)
