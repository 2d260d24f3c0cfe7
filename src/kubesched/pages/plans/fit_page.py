"""The page of `kubesched fit`: the verdict, where the pods would go, whom they push out, and what is left over."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any, Final

from kubesched.documents import count, listed, plural
from kubesched.explanation import command_about
from kubesched.pages.formats import (
    Align,
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Part,
    Row,
    Table,
    fields,
    grouped,
    limits,
    page_of,
    workload_checks,
)
from kubesched.pages.plans.fault_parts import fault_parts
from kubesched.pages.simulations import (
    device_table,
    fill_table,
    fill_words,
    gang_checks,
    gang_document,
    gangs_table,
    hands_of,
    lost_gangs,
    nodes_table,
    placement_line,
    report_document,
    victims_table,
)
from kubesched.planning import Fit, Rollout, WorkloadFit, has_place, premise
from kubesched.session import NodeGroup, Placement, PodState, waiting_words, without_post_filter

_MAX_ROWS: Final = 20
_ORDERED: Final = (
    "A StatefulSet with the podManagementPolicy OrderedReady creates no pod after the first that stays pending; here "
    "all are tried."
)
_TEENS: Final = range(11, 14)
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


@page_of.register
def fit_page(
    answer: Fit, *, explain: str = "", again: str = "", replicas: int | None = None, now: datetime | None = None
) -> Page:
    """The page.

    Args:
        explain: the command that explains a pod of the same cluster and manifests, without the pod; empty for none.
        again: the command that asks about the same pods, without their number; empty for none.
        replicas: the number that was asked about instead of that of the manifests.
        now: the present, for the age of the snapshot.
    """
    left = [one for one in answer.placements if not has_place(one)]
    fills = answer.report.nodes
    faults = answer.report.faults
    parts: list[Part] = [
        *fault_parts(faults),
        *_notes(answer),
        _workloads(answer),
        gangs_table(answer.gangs),
        _pools(answer),
        _where(answer),
        _left(answer, "left", "Would stay pending", [one for one in left if not _is_apart(one)]),
        _left(answer, "notCreated", "Would not be created", [one for one in left if one.is_not_created]),
        _left(answer, "failed", "Would fail (SchedulerError)", [one for one in left if one.state is PodState.ERROR]),
        _left(answer, "notDecided", "Cannot be decided", [one for one in left if one.is_undecided]),
        *_victims(answer),
        _each_pod(answer),
    ]
    if fills and (answer.placements or answer.is_maximum or not answer.kept):
        parts += [Paragraph(fill_words(fills)), fill_table(fills), device_table(answer.report.devices)]
        parts.append(nodes_table(fills))
    return Page(
        "fit",
        Paragraph(_after(premise(answer.assumed), _after(_beside(answer), _verdict(answer))), _level(answer)),
        tuple(parts),
        limits=limits(answer.taken_at, now, own=(_ORDERED,) if _may_wait(answer) else ()),
        next_command=_following(answer, explain, again, replicas) if answer.is_known else "",
        document=_document(answer),
        lines=[placement_line(one) for one in answer.placements],
        main="pods",
        checks=list(_checks(answer)),
        faults=faults,
        notes=answer.notes,
        appendix=tuple(hands_of(answer.placements)),
    )


def _may_wait(answer: Fit) -> bool:
    """Whether a pod stays pending that the next pods of its StatefulSet may wait for. A rollout has such steps."""
    replaced = {one.workload for one in answer.rollouts}
    has_ordered = any(one.startswith("StatefulSet ") and one not in replaced for one in answer.workloads)
    return has_ordered and not answer.all_fit


def _is_apart(placement: Placement) -> bool:
    """Whether a pod without a node has failed, is not decided, or does not exist: it does not stay pending."""
    return placement.state is PodState.ERROR or placement.is_undecided or placement.is_not_created


def _level(answer: Fit) -> Level:
    if not answer.placements and (answer.without_pods or answer.kept):
        return Level.PLAIN
    return Level.GOOD if answer.all_fit and answer.all_gangs_run and answer.n_fit and answer.is_known else Level.BAD


def _after(words: str, text: str) -> str:
    return f"{words}{text[0].lower()}{text[1:]}" if words else text


def _beside(answer: Fit) -> str:
    """What becomes of the pods that the workloads have already; empty if they have none."""
    if not answer.existing and answer.namesakes:
        same = answer.namesakes
        what = same[0] if len(same) == 1 else f"a release of {len(same):,} workloads"
        space = _named(same[0])[0] if len(same) == 1 else "NAMESPACE"
        return f"As a new release beside {what}, which runs already (-n {space} makes it a rollout): "
    if not answer.existing:
        return _scaling(answer)
    one, n = answer.existing[0], len(answer.existing)
    pods = count(one.pods, "pod")
    if not answer.rollouts:
        return f"Beside the {f'{pods} of {one.workload}' if n == 1 else f'pods of {n:,} workloads'}: "
    of = f" of {len(answer.workloads):,}" if n < len(answer.workloads) else ""
    which = f"{one.workload}, which has {pods}" if n == 1 and not of else f"{n:,}{of} workloads"
    return f"A rollout of {which} (--add keeps the old pods): "


def _scaling(answer: Fit) -> str:
    """What becomes of workloads whose old pods stay, where new ones are added; empty for none."""
    scaled = [one for one in answer.kept if one.after > one.before]
    if not scaled or not answer.placements:
        return ""
    one, n = scaled[0], len(scaled)
    which = f"{one.workload} {one.before:,} -> {one.after:,}" if n == 1 else f"{n:,} workloads"
    return f"Scaling {which} (the old pods stay): "


def _verdict(answer: Fit) -> str:
    first = answer.first_left
    if answer.kept and not answer.placements:
        return f"{_kept_words(answer)}. No new pod is to be placed."
    if not answer.placements and answer.without_pods and first is None:
        named = "; ".join(f"{one.workload} {one.why}" for one in answer.without_pods)
        return f"The manifests have no pod to place: {named}."
    if answer.undecided:
        return f"{_unknown(answer)}: {answer.undecided[0]}."
    if answer.is_maximum:
        total = f"{answer.n_fit:,} would fit{_on_more_nodes(answer)}{_without_queue(answer)}"
        return f"{total}{_which(answer, answer.n_fit, first)}: {_short(first)}" if first else f"At least {total}."
    counted = f"{answer.n_fit:,} of {answer.n_asked:,} would fit{_on_more_nodes(answer)}{_without_queue(answer)}"
    counted += _lost_gangs(answer)
    if first is None:
        return f"{counted}."
    if answer.n_at_most is not None and answer.next_left is not None:
        return f"{counted}, and {_no_help(answer, answer.n_at_most, answer.next_left)}"
    return f"{counted}{_which(answer, answer.placements.index(first), first)}: {_short(first)}"


def _unknown(answer: Fit) -> str:
    """What is not known, because kubesched cannot decide about new pods."""
    if answer.is_maximum:
        return "It is not known how many would fit"
    n = sum(one.is_undecided for one in answer.placements)
    who = "the pod fits" if answer.n_asked == 1 else "the pods fit" if n == answer.n_asked else f"{n:,} more fit"
    known = f"{answer.n_fit:,} of {answer.n_asked:,} would fit. " if n < answer.n_asked else ""
    return f"{known}It is not known whether {who}"


def _without_queue(answer: Fit) -> str:
    """How many more would fit if no pod waited already; empty where that changes nothing."""
    n = 0 if answer.n_alone is None else answer.n_alone - answer.n_fit
    return f"; the queue takes the room of {n:,} more (--alone leaves it out)" if n > 0 else ""


def _short(placement: Placement) -> str:
    """Why a pod has no node; the fault of a plugin has its own line."""
    return "it would fail (SchedulerError)." if placement.state is PodState.ERROR else why(placement)


def _no_help(answer: Fit, n_at_most: int, left: Placement) -> str:
    """Why no number of new nodes is enough."""
    more = f"more nodes like {answer.nodes_like}"
    helps = f"at most {n_at_most:,} with {more}" if n_at_most > answer.n_fit else f"{more} would not help"
    if node := answer.helpful_node:
        zone = answer.report.groups.get(node, NodeGroup()).zone
        helps += f", but more nodes like {node} in zone {zone} would"
    if not answer.obstacle:
        return f"{helps}: {why(left)}"
    pod = f"Pod {left.pod}" if not left.owner else f"A pod of {left.workload}"
    pod = pod if _has_several(answer) else "The pod"
    return f"{helps}. {pod} does not fit on a new one: {answer.obstacle}."


def _which(answer: Fit, n_before: int, pod: Placement) -> str:
    """Which pod is the first that does not fit, or which workload lacks pods if there are several; or empty."""
    if not _has_several(answer):
        return f"; the {ordinal(n_before + 1)}" if n_before else ""
    whole = next(one for one in answer.by_workload if pod in one.placements)
    return f"; {whole.workload}, {whole.n_fit:,} of {whole.n_asked:,}"


def _on_more_nodes(answer: Fit) -> str:
    n = len(answer.added_nodes)
    if not n:
        return ""
    without = f" ({answer.n_without:,} without)" if answer.n_without is not None else ""
    return f" with {count(n, 'more node')} like {answer.nodes_like}{without}"


def _following(answer: Fit, explain: str, again: str, replicas: int | None) -> str:
    """What to ask next. Where other pods of its workload fit, the first that does not would still fit alone."""
    asks = [_explained(answer, explain), _next(answer, again, replicas)]
    first = answer.first_left
    if first is not None and any(has_place(one) and one.workload == first.workload for one in answer.placements):
        asks.reverse()
    return next(filter(None, asks), "")


def _next(answer: Fit, again: str, replicas: int | None) -> str:
    """The command that asks how many would fit, or about more nodes like the one that took most pods."""
    if again and answer.helpful_node:
        number = f" --replicas {replicas}" if replicas is not None else ""
        return f"{again}{number} --nodes-like {shlex.quote(answer.helpful_node)}"
    if not again or answer.nodes_like or not (answer.placements or answer.is_maximum):
        return ""
    if not answer.is_maximum and answer.all_fit:
        has_number = len(answer.workloads) <= 1 and not any(one.startswith("DaemonSet ") for one in answer.workloads)
        return f"{again} --max" if has_number else ""
    nodes = Counter(one.node for one in answer.placements if has_place(one)).most_common(1)
    if not nodes or answer.first_left is None or answer.first_left.refused:
        return ""
    number = f" --replicas {replicas}" if replicas is not None else ""
    model = shlex.quote(nodes[0][0])
    return f"{again} --max --nodes-like {model}=1" if answer.is_maximum else f"{again}{number} --nodes-like {model}"


def _explained(answer: Fit, explain: str) -> str:
    """The command that explains the first pod that does not fit, if the manifests have that pod."""
    first = answer.first_left
    if first is None or answer.added_nodes or first.refused or not first.profile:
        return ""
    index = answer.n_fit if answer.is_maximum else answer.placements.index(first)
    return command_about(explain and f"{explain} --pod", first.pod) if index < answer.n_written else ""


def ordinal(n: int) -> str:
    """`1st`, `2nd`, `12th`."""
    return f"{n:,}{'th' if n % 100 in _TEENS else _ENDINGS.get(n % 10, 'th')}"


def why(placement: Placement) -> str:
    """Why a pod has no node, in one sentence, and a second one with the best fix."""
    if placement.evicted_by:
        return f"it would be evicted again for {placement.evicted_by}."
    if placement.refused:
        fix = f" Fix: {placement.fix.removesuffix('.')}." if placement.fix else ""
        return f"the API server refuses it: {placement.refused}.{fix}"
    said = without_post_filter(placement.diagnosis) or placement.message_with_plugin
    text = waiting_words(placement) or said or "the pod was not tried"
    fix, _, opens = placement.fix.rpartition(" -> ")
    return f"{text.removesuffix('.')}.{f' Fix: {fix} ({opens}).' if fix else ''}"


def _notes(answer: Fit) -> Iterable[Paragraph]:
    for note in answer.notes:
        is_place = note.partition(" ")[0].endswith((":", ","))  # the name of a file
        text = note if is_place else f"{note[:1].upper()}{note[1:]}"
        yield Paragraph(text if text.endswith((".", "?")) else f"{text}.", Level.WARNING)
    if answer.kept and answer.placements:
        yield Paragraph(f"{_kept_words(answer)}.")
    if not answer.undecided:
        yield from (_rollout(one) for one in answer.rollouts)
    n = len(answer.report.placements) - answer.n_asked
    if n > 0:
        others = count(n, "pod was pending before and takes part", "pods were pending before and take part")
        new, asked = set(answer.added_nodes), {one.pod for one in answer.placements}
        n_new = sum(one.node in new and one.pod not in asked for one in answer.report.placements)
        there = f"; {n_new:,} of them would go to new nodes" if n_new else ""
        waiting = (one for one in answer.report.placements if one.pod not in asked)
        n_undecided = sum(one.is_undecided for one in waiting)
        there += f"; {n_undecided:,} of them cannot be decided, so they take no room here" if n_undecided else ""
        yield Paragraph(f"{others} in the queue{there}.", Level.DETAIL)
    first = answer.first_left
    asked = {one.pod for one in answer.placements} | ({first.pod} if first is not None else set())
    fix = first.fix if first is not None else ""
    before = takewhile(lambda one: one.pod not in asked, answer.report.placements)  # in the order of the queue
    if same := [one.pod for one in before if fix and one.fix == fix]:
        text = f"{listed(same, first=2)} {plural(len(same), 'waits', 'wait')} for the same fix"
        yield Paragraph(f"{text}, and {plural(len(same), 'comes', 'come')} first.", Level.WARNING)


def _kept_words(answer: Fit) -> str:
    """What becomes of workloads whose template is the same as far as the snapshot shows."""
    placed = Counter(one.workload for one in answer.report.placements if has_place(one))
    same = [one.workload for one in answer.kept if one.before == one.after]
    words = [f"unchanged template and number of pods: {listed(same, first=3)}"] if same else []
    for one in answer.kept:
        if one.before != one.after:
            run = f"{one.running + placed[one.workload]:,} would run"
            words.append(f"{one.workload} scales {one.before:,} -> {one.after:,} with the same template: {run}")
    text = "; ".join(words)
    return f"{text[0].upper()}{text[1:]}"


def _rollout(one: Rollout) -> Paragraph:
    steps = count(one.steps, "step")
    kept = f" {count(one.n_kept, 'pod')} below the partition would stay." if one.n_kept else ""
    if one.n_old_left:
        stops = f"The rollout of {one.workload} would stop after {steps}"
        left = f"{one.n_old_left:,} of {count(one.n_old, 'old pod')} would be left.{kept}"
        return Paragraph(f"{stops}: {left}{_way_out(one)}", Level.BAD)
    running = f"{count(one.n_lowest, 'pod')} running at the lowest point and {one.n_highest:,} at the highest"
    replaced = f"The rollout of {one.workload} would replace {count(one.n_old, 'pod')} in {steps}"
    return Paragraph(f"{replaced}, with {running}.{kept}")


def _way_out(one: Rollout) -> str:
    """The strategy that ends the rollout, and how many pods run in the meantime; empty for none."""
    if not one.way_out:
        return ""
    running = count(one.way_out_lowest, "pod")
    in_between = (
        f"{running} would run at the lowest point"
        if one.way_out_lowest
        else "no pod would run in the meantime: an outage"
    )
    return f" With {one.way_out} it would end, because old pods make way first; {in_between}."


def _has_several(answer: Fit) -> bool:
    return len(answer.workloads) > 1


def _workloads(answer: Fit) -> Table:
    """How many pods of each workload would fit, where there are several."""
    columns = (
        Column("workload"),
        Column("asked", "PODS", Align.NUMBER),
        Column("fit", "WOULD FIT", Align.NUMBER),
        Column("why", "WHY NOT THE REST"),
    )
    rows: list[Row] = []
    for one in answer.by_workload:
        level = Level.GOOD if one.n_fit == one.n_asked else Level.WARNING
        rows.append([one.workload, one.n_asked, Cell(f"{one.n_fit:,}", one.n_fit, level), "\n".join(_reasons(one))])
    return Table("workloads", "By workload", columns, rows if _has_several(answer) else [])


def _reasons(one: WorkloadFit) -> list[str]:
    """Why pods of a workload have no node: each reason once; if there are several, with the number of pods."""
    counts = Counter(why(pod) for pod in one.placements if not has_place(pod)).most_common()
    return [text if len(counts) == 1 else f"{count(n, 'pod')}: {text}" for text, n in counts]


def _pools(answer: Fit) -> Table:
    """How many pods go to each pool, where the nodes have pools; else to each zone."""
    groups = answer.report.groups
    placed = [groups[one.node] for one in answer.placements if has_place(one) and one.node in groups]
    has_pools = any(group.pool for group in groups.values())
    counts = Counter((group.pool if has_pools else group.zone) or "-" for group in placed)
    heading = "POOL" if has_pools else "ZONE"
    columns = (Column(heading.lower(), heading), Column("pods", align=Align.NUMBER))
    rows: list[Row] = [[name, n] for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return Table("pools", f"By {heading.lower()}", columns, [] if set(counts) == {"-"} else rows)


def _where(answer: Fit) -> Table:
    counts = Counter(one.node for one in answer.placements if has_place(one))
    groups, new = answer.report.groups, set(answer.added_nodes)
    columns = (
        Column("node", align=Align.NODE),
        Column("pods", align=Align.NUMBER),
        Column("pool", is_wide=not any(group.pool for group in groups.values())),
        Column("zone", is_wide=not any(group.zone for group in groups.values())),
    )
    rows: list[Row] = []
    for node, n in counts.items():
        group = groups.get(node, NodeGroup())
        name = Cell(node, level=Level.GOOD if node in new else Level.PLAIN)
        rows.append([name, Cell(f"+{n:,}", n, Level.GOOD), group.pool, group.zone])
    title = f"Where they would go: {count(len(counts), 'node')}"
    return Table("where", title, columns, rows, is_wide=len(counts) > _MAX_ROWS)


def _left(answer: Fit, name: str, title: str, left: Sequence[Placement]) -> Table:
    """Why pods have no node; with several workloads, their table says it."""
    columns = (Column("pods", align=Align.NUMBER), Column("why"), Column("message", is_wide=True))
    rows: list[Row] = []
    for text, group in grouped(left, why).items():
        message = without_post_filter(group[0].message)
        rows.append([len(group), Cell(text, level=Level.WARNING), Cell(message, level=Level.DETAIL)])
    return Table(name, f"{title}: {len(left):,}", columns, [] if _has_several(answer) else rows)


def _each_pod(answer: Fit) -> Table:
    """One row for each new pod: what CSV has."""
    columns = (Column("pod"), Column("owner", "OF"), Column("node", align=Align.NODE), Column("why"))
    rows: list[Row] = [
        [one.pod, one.owner, *((one.node, "") if has_place(one) else ("", why(one)))] for one in answer.placements
    ]
    rows += [["", one.workload, "", f"no pod is added: it {one.why}"] for one in answer.without_pods]
    return Table("pods", "Every new pod", columns, rows, is_wide=True)


def _victims(answer: Fit) -> Iterator[Table]:
    """Who leaves for the pods in question, and who leaves for pods that are pending already."""
    asked = {one.pod for one in answer.placements}
    ours = [one for one in answer.report.victims if one.preemptor in asked]
    others = [one for one in answer.report.victims if one.preemptor not in asked]
    yield victims_table("victims", "Would be evicted to make room", ours)
    yield victims_table("victimsOfOthers", "Would be evicted for pods that are pending already", others)


def _document(answer: Fit) -> dict[str, Any]:
    whole = report_document(answer.report)
    return {
        **fields(answer, "assumed", "is_maximum", "workloads", "nodes_like", "added_nodes", "obstacle", "helpful_node"),
        **fields(answer, "n_asked", "existing", "namesakes", "kept", "notes", "undecided"),
        "fit": None if answer.is_maximum and answer.undecided else answer.n_fit,
        "byWorkload": [
            {**fields(one, "workload", "n_asked", "n_fit"), "why": _reasons(one)} for one in answer.by_workload
        ],
        "pods": [placement_line(one) for one in answer.placements],
        "firstLeft": placement_line(answer.first_left) if answer.first_left is not None else None,
        "withoutPods": [{"workload": one.workload, "why": one.why} for one in answer.without_pods],
        "fitWithout": answer.n_without,
        "fitAtMost": None if answer.undecided else answer.n_at_most,
        "fitAlone": answer.n_alone,
        "gangs": [gang_document(one) for one in answer.gangs],
        "rollouts": [fields(one) for one in answer.rollouts],
        "faults": list(answer.report.faults),
        "victims": whole["victims"],
        "nodes": whole["nodes"],
    }


def _lost_gangs(answer: Fit) -> str:
    """Which gangs would not run, for the first line; empty for none."""
    lost = lost_gangs(answer.gangs)
    if len(lost) == 1:
        return f"; none of gang {lost[0].gang} would run, which needs {lost[0].needs:,}"
    return f"; none of {len(lost):,} gangs would run ({listed(one.gang for one in lost)})" if lost else ""


def _checks(answer: Fit) -> Iterable[Check]:
    """Each workload with its rollout, each gang, what has no pods; if no pod fits at all, the first pod."""
    tried = answer.placements or ([answer.next_left] if answer.next_left is not None else [])
    stopped = [one for one in answer.rollouts if one.n_old_left and not answer.undecided]
    yield from workload_checks(
        ((one.workload, "" if has_place(one) else why(one), "") for one in tried),
        {one.workload.removeprefix("Pod "): _rollout(one).text for one in stopped},
    )
    yield from gang_checks(answer.gangs)
    for one_without in answer.without_pods:
        yield Check(*_named(one_without.workload), skipped=f"no pod is added: it {one_without.why}")
    for kept in answer.kept:
        if not (kept.after > kept.before and answer.placements):
            yield Check(*_named(kept.workload), "")


def _named(workload: str) -> tuple[str, str]:
    """The namespace of a workload, and `Kind name`."""
    kind, _, key = workload.partition(" ")
    namespace, _, name = key.partition("/")
    return namespace, f"{kind} {name}"
