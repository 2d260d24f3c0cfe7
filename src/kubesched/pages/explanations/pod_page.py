"""An explanation as a report: what becomes of the pod, then why, then what would help."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from kubesched.api import in_words
from kubesched.documents import on_one_line
from kubesched.explanation import Choice, Ended, Explanation, HookAnswer, Outlook, command_about, turned_down_words
from kubesched.framework import Code, Status
from kubesched.pages.explanations.explanation_document import as_document
from kubesched.pages.explanations.plugin_tables import extender_table, hook_table, plugin_table, verdict_table
from kubesched.pages.explanations.ranking import ranking_parts
from kubesched.pages.explanations.rejection import (
    all_rejections,
    fix_table,
    fix_title,
    hand_of,
    rejection_parts,
    with_rejections,
)
from kubesched.pages.formats import Check, Column, Level, Page, Paragraph, Part, Row, Table, limits, page_of, with_fix
from kubesched.pages.simulations import gang_words, partly_placed
from kubesched.scheduler import EXTENDER

_LEVELS: Final = {
    Outlook.UNKNOWN: Level.PLAIN,
    Outlook.AS_GOOD: Level.GOOD,
    Outlook.OTHERWISE: Level.WARNING,
    Outlook.LOST: Level.BAD,
}


@page_of.register
def explanation_page(
    explanation: Explanation,
    *,
    all_nodes: bool = False,
    by_plugin: bool = False,
    every_verdict: bool = False,
    queue: str = "",
    again: str | None = None,
) -> Page:
    """The report on one pod and the whole cluster.

    Args:
        all_nodes: whether each node has its row. Otherwise the best ones have, and nodes with the same obstacles share
            one.
        by_plugin: whether the rejections have a row for each plugin.
        every_verdict: whether to add a table of all nodes and all plugins, which readers of HTML can filter.
        queue: a sentence on what a full simulation makes of the pod; empty for none.
        again: the command that explains the pod, which the next command extends; empty for none.

    Example:
        page = explanation_page(explain(load_snapshot("cluster.json"), "shop/web-7"))
        assert page.verdict.text == "Pod shop/web-7 fits on 2 of 2 nodes and would go to n1."
    """
    chosen = explanation.choice
    if again is None:
        again = command_about("kubesched explain", explanation.pod.key)
    document = as_document(explanation)
    if explanation.ended is not None:
        return _ended_page(explanation, explanation.ended, document)
    parts: list[Part] = [*circumstances(explanation, chosen), _fixes(explanation), hook_table(explanation)]
    if explanation.refused:
        parts.insert(0, Paragraph("If the API server created the pod, it would be decided like this:", Level.DETAIL))
    elif explanation.hangs:
        parts.append(Paragraph("A pod without spec.nodeName would be decided like this:", Level.DETAIL))
    if chosen is not None:
        parts += ranking_parts(explanation, chosen, all_nodes=all_nodes)
    if by_plugin:
        parts.append(plugin_table(explanation))
    elif all_nodes:
        parts.append(all_rejections(explanation))
    elif chosen is None and not explanation.undecided:
        parts += rejection_parts(explanation)
    parts.append(extender_table(explanation))
    if every_verdict:
        parts.append(verdict_table(explanation))
    if queue:
        parts.append(Paragraph(queue))
    main = _main(explanation, chosen, all_nodes=all_nodes, by_plugin=by_plugin)
    return Page(
        "explain",
        verdict(explanation, chosen),
        tuple(parts),
        versions=(explanation.version,),
        limits=limits(),
        main=main,
        data=_data(explanation, parts, all_nodes=all_nodes) if main == "scores" else None,
        next_command=_next(explanation, chosen, again),
        document=document,
        lines=(document,),
        checks=(check(explanation),),
        node_names=explanation.nodes.names,
        appendix=tuple(hand_of(f"Pod {explanation.pod.key}", explanation.fixes[:1])),
    )


def _fixes(explanation: Explanation) -> Table:
    title = "This lets kube-scheduler try it:" if explanation.fits else fix_title(explanation.fixes)
    return fix_table(explanation.fixes, explanation.nodes.names, title)


def check(explanation: Explanation) -> Check:
    """The check of one pod: whether it has a node, or would get one now."""
    pod, outcome = explanation.pod, explanation.outcome
    fix = str(explanation.fixes[0]) if explanation.fixes else ""
    return Check(pod.namespace, pod.name, with_fix(outcome.failure, fix), note=outcome.note)


def _ended_page(explanation: Explanation, ended: Ended, document: dict[str, Any]) -> Page:
    """The report on a pod that has ended: nothing offers it a node."""
    columns = {"phase": "PHASE", "reason": "REASON", "controller": "CONTROLLER", "others": "OTHER PODS"}
    row: Row = [ended.phase, ended.reason, ended.controller, ", ".join(ended.others)]
    table = Table("ended", "", tuple(Column(*column) for column in columns.items()), [row], is_wide=True)
    return Page(
        "explain",
        verdict(explanation, None),
        (Paragraph(ended.successor), table),
        main="ended",
        document=document,
        lines=(document,),
        checks=(check(explanation),),
    )


def _data(explanation: Explanation, parts: Sequence[Part], *, all_nodes: bool) -> Table:
    """The table that CSV has for a pod that fits."""
    scores = next(part for part in parts if isinstance(part, Table) and part.name == "scores")
    return with_rejections(scores, explanation, all_nodes=all_nodes)


def _main(explanation: Explanation, chosen: Choice | None, *, all_nodes: bool, by_plugin: bool) -> str:
    """The table that CSV has."""
    if by_plugin:
        return "plugins"
    if explanation.gate is not None or explanation.turned_down is not None:
        return "hooks"
    if chosen is not None:
        return "scores"
    return "rejections" if all_nodes else "obstacles"


def verdict(explanation: Explanation, chosen: Choice | None) -> Paragraph:
    """What becomes of the pod, in one sentence."""
    pod = f"Pod {explanation.pod.key}"
    if explanation.ended is not None:
        again = f"{pod} has ended ({explanation.ended.text}). Nothing schedules it again."
        return Paragraph(again, Level.PLAIN if explanation.ended.phase == "Succeeded" else Level.WARNING)
    if explanation.refused:
        return Paragraph(f"{pod} would not be created: {explanation.refused}.", Level.BAD)
    if explanation.hangs:
        return Paragraph(_hangs(explanation), Level.BAD)
    if explanation.failure is not None:
        what = _what_failed(explanation, explanation.failure)
        return Paragraph(f"{pod}: {what}, so no node is chosen (SchedulerError).", Level.BAD)
    if explanation.place is not None:
        return Paragraph(explanation.place.text, _LEVELS[explanation.place.outlook])
    if explanation.held_back:
        return Paragraph(f"{pod} is {explanation.held_back_words.removeprefix('the pod is ')}.", Level.WARNING)
    return _attempt(explanation, chosen)


def _attempt(explanation: Explanation, chosen: Choice | None) -> Paragraph:
    """What becomes of a pending pod that kube-scheduler tries."""
    pod, n_nodes = f"Pod {explanation.pod.key}", len(explanation.nodes)
    if explanation.undecided:
        return Paragraph(
            f"Kubesched cannot tell where pod {explanation.pod.key} fits: {explanation.undecided}.", Level.BAD
        )
    if chosen is None:
        preempted = explanation.preemption.node_name if explanation.preemption is not None else ""
        room = f"; preemption would make room on {preempted}" if preempted else ""
        nowhere = "does not fit on the only node" if n_nodes == 1 else f"fits on none of {n_nodes} nodes"
        return Paragraph(f"{pod} {nowhere}{room}.", Level.WARNING if room else Level.BAD)
    fits = f"{pod} fits on {len(explanation.feasible)} of {n_nodes} nodes"
    if explanation.turned_down is not None:
        return turned_down(explanation, explanation.turned_down, fits)
    waits = [answer for answer in explanation.hooks if answer.seconds]
    held = f", where it {waits[0].text} for {', '.join(one.plugin for one in waits)} (permit)" if waits else ""
    level = Level.WARNING if waits else Level.GOOD
    return Paragraph(f"{fits} and would go to {chosen.best.node}{held}.", level)


def turned_down(explanation: Explanation, answer: HookAnswer, fits: str) -> Paragraph:
    """That the pod does not get the best node, although it passes all filters there.

    Args:
        fits: where it passes them, as a sentence without its end.
    """
    if answer.is_never_written:
        return Paragraph(f"Pod {explanation.pod.key} stays pending: {turned_down_words(answer)}.", Level.BAD)
    return Paragraph(f"{fits}, but {turned_down_words(answer)}.", Level.BAD)


def _hangs(explanation: Explanation) -> str:
    """Why a pod hangs on its node, and what to do."""
    why = "kube-scheduler does not schedule a pod that has spec.nodeName"
    instead = f"create the pod without spec.nodeName, and with a node selector if it has to be on {explanation.runs_on}"
    if explanation.nodes.position_of(explanation.runs_on) is None:
        instead = "create the pod without spec.nodeName"
    return f"Pod {explanation.pod.key} hangs (phase Pending): {explanation.hangs}; {why}; {instead}."


def circumstances(explanation: Explanation, chosen: Choice | None) -> Iterator[Paragraph]:
    """What the pod asks for, what keeps it out of the queue, and kube-scheduler's message."""
    asks = ", ".join(f"{in_words(name, amount)} {name}" for name, amount in explanation.requests.items() if amount)
    priority = explanation.pod.priority
    yield Paragraph(f"Profile {explanation.profile}, priority {priority}, requests {asks or 'nothing'}.", Level.DETAIL)
    if explanation.held_back:
        yield Paragraph(_held_back(explanation, chosen), Level.WARNING)
    if nominated := explanation.pod.status.nominated_node_name:
        yield Paragraph(
            f"Nominated to {nominated}: kube-scheduler takes that node if the pod fits there.", Level.WARNING
        )
    if not explanation.runs_on:
        best = chosen.best.node if chosen is not None else ""
        yield from (Paragraph(one.text, Level.WARNING) for one in explanation.claims_in_use if one.node != best)
    yield from (Paragraph(one.text, Level.WARNING) for one in explanation.absent_drivers)
    gangs = () if explanation.gang is None else (explanation.gang,)
    yield from (Paragraph(f"{gang_words(one)}.", Level.WARNING) for one in partly_placed(gangs))
    yield from data_paragraphs(explanation)
    message = explanation.message if explanation.failure is None else explanation.failure.located
    if message and not explanation.undecided:
        yield Paragraph(message, Level.DETAIL if explanation.failure is None else Level.PLAIN)
    if explanation.recorded is not None:
        yield Paragraph(explanation.recorded.text, Level.WARNING)


def _held_back(explanation: Explanation, chosen: Choice | None) -> str:
    """What the rest of the page is about, for a pod that kube-scheduler does not try."""
    if explanation.refused or explanation.hangs or explanation.failure is not None or explanation.runs_on:
        why = f": {explanation.held_back_words}"  # which the verdict does not say
        return f"kube-scheduler does not try this pod now{why}. The rest describes an attempt without that."
    rest = "kube-scheduler does not try this pod now. The rest describes an attempt without that"
    said = _attempt(explanation, chosen).text
    it = said.removeprefix(f"Pod {explanation.pod.key} ")
    return f"{rest}. {said}" if it == said else f"{rest}: it {it}"


def data_paragraphs(explanation: Explanation) -> Iterator[Paragraph]:
    """What plugins say about their data, and which rules are others in other versions."""
    for rule in explanation.version_rules:
        yield Paragraph(f"{rule.text}.", Level.DETAIL)
    for plugin, notes in explanation.notes.items():
        yield Paragraph(f"{plugin}: {'; '.join(notes)}.", Level.DETAIL)


def _what_failed(explanation: Explanation, failure: Status) -> str:
    """A plugin or an extender that failed, or what a plugin reports that works; and on which nodes."""
    where = _where_it_failed(explanation)
    if failure.place or failure.plugin == EXTENDER:
        return f"{'an extender' if failure.plugin == EXTENDER else 'a plugin'} failed{where}"
    every = (one for row in explanation.rows for one in row.obstacles)
    details = next((one.details for one in every if one.status.code is Code.ERROR and one.plugin == failure.plugin), ())
    what = next(iter(details), failure.message.partition(" plugin: ")[2] or failure.message)
    return f"an error of {failure.plugin}{where} ({on_one_line(what)})"


def _where_it_failed(explanation: Explanation) -> str:
    failed = [name for name, status in explanation.rejections.items() if status.code is Code.ERROR]
    others = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f" on {failed[0]}{others}" if failed else ""


def _next(explanation: Explanation, chosen: Choice | None, again: str) -> str:
    """Ask about one node: where the pod is, the next best, one that the best fix opens, or the nearest to fitting."""
    if explanation.failure is not None or explanation.undecided:
        return ""
    node = chosen.next_best if chosen is not None else ""
    if chosen is not None and explanation.nodes.position_of(explanation.runs_on) is not None:
        node = explanation.runs_on if explanation.runs_on != chosen.best.node else node
    elif chosen is None and explanation.fixes:
        node = explanation.fixes[0].answers
    if not node and explanation.nearest:
        node = explanation.nodes.name(explanation.nearest[0])
    return command_about(again and f"{again} --node", _short(explanation, node)) if node else ""


def _short(explanation: Explanation, node: str) -> str:
    """The name up to its first dot, where no other node has it."""
    short = node.partition(".")[0]
    n_alike = sum(name.partition(".")[0] == short for name in explanation.nodes.names)
    return short if n_alike == 1 else node
