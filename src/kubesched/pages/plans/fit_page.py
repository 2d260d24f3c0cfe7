"""The page of `kubesched fit`: the verdict, where the pods would go, whom they push out, and what is left over."""

import shlex
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from itertools import takewhile
from typing import Any, Final

from kubesched.documents import count, listed, plural
from kubesched.explanation import command_about
from kubesched.pages.formats import Check, Level, Page, Paragraph, Part, fields, limits, page_of, workload_checks
from kubesched.pages.plans.fault_parts import fault_parts
from kubesched.pages.plans.fit_tables import fit_tables, reasons_left
from kubesched.pages.plans.fit_verdict import first_line, is_in_first_line, kept_words, named, why
from kubesched.pages.simulations import (
    caveat_checks,
    device_table,
    fill_table,
    fill_words,
    gang_checks,
    gang_document,
    hands_of,
    nodes_table,
    placement_line,
    report_document,
)
from kubesched.planning import Fit, Rollout, has_place

_ORDERED: Final = (
    "A StatefulSet with the podManagementPolicy OrderedReady creates no pod after the first that stays pending; here "
    "all are tried."
)


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
    fills, devices, faults = answer.report.nodes, answer.report.devices, answer.faults
    parts: list[Part] = [*fault_parts(faults), *_notes(answer), *fit_tables(answer)]
    if fills and (answer.placements or answer.is_maximum or not answer.kept):
        parts += [Paragraph(fill_words(fills), is_folded=True), fill_table(fills, devices), device_table(devices)]
        parts.append(nodes_table(fills))
    return Page(
        "fit",
        Paragraph(first_line(answer), _level(answer)),
        tuple(parts),
        versions=(answer.version,),
        limits=limits(answer.taken_at, now, own=(_ORDERED,) if _may_wait(answer) else ()),
        next_command=_following(answer, explain, again, replicas) if answer.is_known else "",
        document=_document(answer),
        lines=[placement_line(one) for one in answer.placements],
        main="pods",
        checks=list(_checks(answer)),
        faults=faults,
        notes=(*answer.notes, *answer.caveats),
        appendix=tuple(hands_of((*answer.placements, *answer.left_of_kept))),
    )


def _may_wait(answer: Fit) -> bool:
    """Whether a pod stays pending that the next pods of its StatefulSet may wait for. A rollout has such steps."""
    replaced = {one.workload for one in answer.rollouts}
    has_ordered = any(one.startswith("StatefulSet ") and one not in replaced for one in answer.workloads)
    return has_ordered and not answer.all_fit


def _level(answer: Fit) -> Level:
    if not answer.placements and (answer.without_pods or answer.kept) and answer.all_start:
        return Level.PLAIN
    return Level.GOOD if answer.all_start and answer.n_fit and answer.is_known else Level.BAD


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


def _notes(answer: Fit) -> Iterable[Paragraph]:
    for note in (*answer.notes, *(answer.caveats if not is_in_first_line(answer) else answer.caveats[1:])):
        is_place = note.partition(" ")[0].endswith((":", ","))  # the name of a file
        text = note if is_place else f"{note[:1].upper()}{note[1:]}"
        yield Paragraph(text if text.endswith((".", "?")) else f"{text}.", Level.WARNING)
    if answer.kept and answer.placements:
        yield Paragraph(f"{kept_words(answer)}.")
    if not answer.undecided:
        yield from (_rollout(one) for one in answer.rollouts)
    n = len(answer.report.placements) - answer.n_asked
    if n > 0:
        others = count(n, "pod was pending before and takes part", "pods were pending before and take part")
        new, asked = set(answer.added_nodes), {one.pod for one in answer.placements}
        n_new = sum(one.node in new and one.pod not in asked for one in answer.report.placements)
        there = f"; {n_new:,} of them would go to new nodes" if n_new else ""
        waiting = [one for one in answer.report.placements if one.pod not in asked and one.is_undecided]
        n_foreign = sum(one.is_foreign for one in waiting)
        of_others = plural(n_foreign, "is of another scheduler", "are of other schedulers")
        unknown = {"cannot be decided": len(waiting) - n_foreign, of_others: n_foreign}
        unknown_words = " and ".join(f"{n_so:,} of them {words}" for words, n_so in unknown.items() if n_so)
        there += f"; {unknown_words}, so they take no room here" if unknown_words else ""
        yield Paragraph(f"{others} in the queue{there}.", Level.DETAIL)
    first = answer.first_left
    asked = {one.pod for one in answer.placements} | ({first.pod} if first is not None else set())
    fix = first.fix if first is not None else ""
    before = takewhile(lambda one: one.pod not in asked, answer.report.placements)  # in the order of the queue
    if same := [one.pod for one in before if fix and one.fix == fix]:
        text = f"{listed(same, first=2)} {plural(len(same), 'waits', 'wait')} for the same fix"
        yield Paragraph(f"{text}, and {plural(len(same), 'comes', 'come')} first.", Level.WARNING)


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


def _document(answer: Fit) -> dict[str, Any]:
    whole = report_document(answer.report)
    return {
        **fields(answer, "assumed", "is_maximum", "workloads", "nodes_like", "added_nodes", "obstacle", "helpful_node"),
        **fields(
            answer, "may_need_fewer_nodes", "n_asked", "existing", "namesakes", "kept", "notes", "caveats", "undecided"
        ),
        "fit": None if answer.is_maximum and answer.undecided else answer.n_fit,
        "byWorkload": [
            {**fields(one, "workload", "n_asked", "n_fit"), "why": reasons_left(one)} for one in answer.by_workload
        ],
        "pods": [placement_line(one) for one in answer.placements],
        "firstLeft": placement_line(answer.first_left) if answer.first_left is not None else None,
        "withoutPods": [{"workload": one.workload, "why": one.why} for one in answer.without_pods],
        "fitWithout": answer.n_without,
        "fitAtMost": None if answer.undecided else answer.n_at_most,
        "fitAlone": answer.n_alone,
        "gangs": [gang_document(one) for one in answer.gangs],
        "rollouts": [fields(one) for one in answer.rollouts],
        "faults": list(answer.faults),
        "victims": whole["victims"],
        "nodes": whole["nodes"],
        "devices": whole["devices"],
    }


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
        yield Check(*named(one_without.workload), skipped=f"no pod is added: it {one_without.why}")
    for kept in answer.kept:
        if not (kept.after > kept.before and answer.placements):
            left = [why(one) for one in answer.left_of_kept if one.workload == kept.workload]
            yield Check(*named(kept.workload), "\n".join(dict.fromkeys(left)))
    yield from caveat_checks(answer.caveats)
