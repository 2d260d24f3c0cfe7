"""Prints an explanation for a terminal: why no node fits, or which node is chosen and why."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from kubesched.api import in_words
from kubesched.cli.output import common_domain, new_table
from kubesched.explanation import (
    N_NEAREST,
    NO_REASON,
    Choice,
    Explanation,
    PluginVerdicts,
    Ranked,
    advice,
    choice,
    nearest,
    obstacles,
)
from kubesched.framework import Code, Status
from kubesched.scheduler import EXTENDER, ExtenderAnswer, default_sample

if TYPE_CHECKING:
    from rich.console import Console

_N_REASONS: Final = 5
_PLUGIN_WIDTH: Final = 34
_GAP: Final = 3
_VERDICTS: Final = {
    Code.SUCCESS: "passes",
    Code.UNSCHEDULABLE: "rejects",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE: "rejects for good",
}


def print_overview(explanations: Iterable[Explanation], console: "Console") -> None:
    """Print two or three lines for each of several pods: where it can go, or why nowhere."""
    from rich.padding import Padding

    for explanation in explanations:
        chosen = choice(explanation)
        said = explanation.message if explanation.failure is None else explanation.failure.message
        if chosen is not None:
            fits = f"fits on {len(explanation.feasible)} of {len(explanation.nodes)} nodes"
            said = f"{fits}, best on {chosen.best.node} ({chosen.best.total} points)"
        console.print(explanation.pod.key, style="bold")
        console.print(Padding(said, (0, 0, 0, 4)))


class ExplanationText:
    """Prints an explanation part by part.

    Args:
        console: where to; without markup, because reasons may hold brackets.
    """

    def __init__(self, explanation: Explanation, console: "Console") -> None:
        self._of = explanation
        self._console = console
        self._choice = choice(explanation)
        self._domain = common_domain(explanation.nodes.names)

    def print(self, *, by: str = "node", nodes: Sequence[int] = (), all_nodes: bool = False) -> None:
        """Print the result, then the rejections.

        Args:
            by: `node` or `plugin`: what the rows of the table of rejections are.
            nodes: positions of nodes to show plugin by plugin, instead of that table.
            all_nodes: whether to show all nodes that do not fit, not only the nearest ones.
        """
        self._print_heading()
        if nodes:
            self._console.print()
            for position in nodes:
                self._print_node(position)
            return
        if self._choice is not None:
            self._print_choice(self._choice)
        elif by == "node":
            self._print_reasons()
        if by == "plugin":
            self._print_plugins()
        elif all_nodes or (self._of.rejections and self._choice is None):
            self._print_nearest(all_nodes=all_nodes)
        if self._of.extenders:
            self._print_extenders()
        if not self._of.fits and self._of.failure is None:
            self._print_what_helps()

    # --- the first lines ---

    def _print_heading(self) -> None:
        explanation, print_ = self._of, self._console.print
        wanted = explanation.info.requests.value.wanted
        asks = ", ".join(f"{in_words(name, amount)} {name}" for name, amount in wanted.items() if amount)
        print_(f"Pod {explanation.pod.key}", style="bold")
        print_(
            f"profile {explanation.profile}, priority {explanation.pod.priority}, requests {asks or 'nothing'}",
            style="dim",
        )
        print_()
        if explanation.held_back:
            print_(
                f"kube-scheduler does not try this pod now: {explanation.held_back}. The rest describes an "
                "attempt without that.\n",
                style="red",
            )
        if nominated := explanation.pod.status.nominated_node_name:
            print_(f"Nominated to {nominated}: kube-scheduler takes that node if the pod fits there.\n", style="yellow")
        n_nodes, n_fit = len(explanation.nodes), len(explanation.feasible)
        if self._choice is not None:
            print_(f"Fits on {n_fit} of {n_nodes} nodes and goes to {self._choice.best.node}.", style="green")
            return
        if explanation.failure is not None:
            print_(
                f"{self._what_failed()}{self._where_it_failed()}, so no node is chosen (SchedulerError).", style="red"
            )
            print_(explanation.failure.message)
            return
        print_(f"Fits on none of {n_nodes} nodes.", style="red")
        print_(explanation.message)

    def _what_failed(self) -> str:
        failure = self._of.failure
        return "An extender failed" if failure is not None and failure.plugin == EXTENDER else "A plugin failed"

    def _where_it_failed(self) -> str:
        failed = [name for name, status in self._of.rejections.items() if status.code is Code.ERROR]
        others = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return f" on {failed[0]}{others}" if failed else ""

    # --- a pod that fits ---

    def _print_choice(self, chosen: Choice) -> None:
        if chosen.runners_up:
            self._print_scores((chosen.best, *chosen.runners_up))
            self._console.print(self._what_decided(chosen))
        self._console.print(self._what_the_default_sees())
        if self._of.rejections:
            reasons = "; ".join(f"{n} {reason}" for reason, _, n in self._reasons())
            self._console.print(f"The other nodes: {reasons}.")

    def _print_scores(self, ranked: Sequence[Ranked]) -> None:
        widest = max(len(self._short(one.node)) for one in ranked)
        n_shown = max(2, (self._console.width - _PLUGIN_WIDTH) // (widest + _GAP))
        ranked = ranked[:n_shown]
        table = new_table("PLUGIN", *(self._short(one.node) for one in ranked), numbers=range(1, len(ranked) + 1))
        silent = []
        for plugin in ranked[0].scores:
            scores = [one.scores[plugin] for one in ranked]
            if any(scores):
                table.add_row(plugin, *map(str, scores))
            else:
                silent.append(plugin)
        table.add_section()
        table.add_row("total", *(str(one.total) for one in ranked), style="bold")
        self._console.print(table)
        if silent:
            self._console.print(f"0 on all of these nodes: {', '.join(silent)}", style="dim")

    def _what_decided(self, chosen: Choice) -> str:
        tie = ""
        if chosen.n_best > 1:
            tie = f"{chosen.n_best} nodes have the highest score; this one is the first of them in the snapshot. "
        if not chosen.plugin:
            return tie.rstrip()
        return f"{tie}{chosen.plugin} decided: {chosen.lead} points more than the next-best node."

    def _what_the_default_sees(self) -> str:
        n_nodes, n_fit = len(self._of.nodes), len(self._of.feasible)
        n_sampled = default_sample(n_nodes)
        if n_fit == 1:
            return "By default kube-scheduler takes this node, too: it does not score the only node that fits."
        if n_fit <= n_sampled:
            return f"By default kube-scheduler would also compare all {n_fit} nodes that fit."
        return (
            f"By default kube-scheduler stops after {n_sampled} of the {n_fit} nodes that fit, and may take "
            "another one; kubesched compared all of them."
        )

    # --- a pod that does not ---

    def _reasons(self) -> list[tuple[str, str, int]]:
        """(reason, plugin, how many nodes), most nodes first."""
        diagnosis = self._of.diagnosis
        counted = diagnosis.counts()
        n_left_out = diagnosis.n_all_nodes - sum(n for _, n in counted) - len(self._of.feasible)
        counts: Counter[tuple[str, str]] = Counter()
        for status, n in (*counted, (diagnosis.absent, n_left_out)):
            for reason in (status.reasons or (NO_REASON,)) if n else ():
                counts[reason, status.plugin] += n
        return [(reason, plugin, n) for (reason, plugin), n in counts.most_common()]

    def _print_reasons(self) -> None:
        table = new_table("NODES", "REASON", "PLUGIN", numbers=(0,))
        for reason, plugin, n in self._reasons():
            table.add_row(str(n), reason, plugin)
        if table.row_count:
            self._console.print(table)

    def _print_nearest(self, *, all_nodes: bool) -> None:
        order = nearest(self._of).tolist()
        shown = order if all_nodes else order[:N_NEAREST]
        if not shown:
            return
        if len(shown) < len(order):
            self._console.print(f"The {len(shown)} nodes nearest to fitting (--all-nodes shows all {len(order)}):")
        else:
            self._console.print("The nodes that do not fit, the nearest to fitting first:")
        table = new_table("NODE", "OBSTACLE")
        for position in shown:
            in_the_way = (f"{obstacle.plugin}: {obstacle.text}" for obstacle in obstacles(self._of, position))
            table.add_row(self._short(self._of.nodes.name(position)), "\n".join(in_the_way))
        self._console.print(table)
        self._print_domain()

    def _print_plugins(self) -> None:
        table = new_table("PLUGIN", "REJECTS", "WHY", numbers=(1,))
        for name, said in self._of.by_plugin.items():
            table.add_row(name, *self._row_of(said))
        self._console.print(table)

    def _print_extenders(self) -> None:
        """What each extender said, and how long it took."""
        table = new_table("EXTENDER", "VERB", "NODES", "MS", "ANSWER", numbers=(2, 3))
        for said in self._of.extenders:
            answer = said.error or (_filtered(said) if said.verb == "filter" else _scored(said))
            table.add_row(said.extender, said.verb, str(len(said.offered)), f"{1000 * said.seconds:.0f}", answer)
        self._console.print(table)

    @staticmethod
    def _row_of(said: PluginVerdicts) -> tuple[str, str]:
        if said.pre_filter is not None:
            return "all", f"{said.pre_filter.message or NO_REASON} (before looking at nodes)"
        if said.skipped:
            return "-", "nothing to check"
        counts: Counter[str] = Counter()
        for status in said.rejections.values():
            counts.update(status.reasons or (NO_REASON,))
        reasons = [f"{n} {reason}" for reason, n in counts.most_common(_N_REASONS)]
        if said.node_names is not None:
            reasons.append(f"narrows the search to {len(said.node_names)} nodes")
        if len(counts) > _N_REASONS:
            reasons.append("...")
        return str(int(np.count_nonzero(said.rejected))), "\n".join(reasons)

    def _print_what_helps(self) -> None:
        said = advice(self._of, nearest(self._of))
        if said:
            self._console.print(f"What would help: {said}", style="yellow")
        preemption = self._of.preemption
        if preemption is None:
            return
        if not preemption.node_name:
            self._console.print(f"PostFilter: {preemption.message or 'no plugin makes room'}")
            return
        victims = ", ".join(f"{one.pod.key} (priority {one.priority})" for one in preemption.victims)
        broken = preemption.n_pdb_violations
        budget = f"; {broken} of these evictions violate a disruption budget" if broken else ""
        self._console.print(f"Preemption would make room on {preemption.node_name} by evicting {victims}{budget}.")

    # --- one node ---

    def _print_node(self, position: int) -> None:
        node = self._of.nodes[position]
        offered, held = node.allocatable, node.requested
        held["pods"] = len(node.pods)
        self._console.print(f"Node {node.name}", style="bold")
        free = (
            f"{name} {in_words(name, amount - held.get(name, 0))} of {in_words(name, amount)}"
            for name, amount in offered.items()
        )
        self._console.print(f"free: {', '.join(free)}", style="dim")
        details = {obstacle.plugin: obstacle for obstacle in obstacles(self._of, position)}
        table = new_table("PLUGIN", "VERDICT", "WHY")
        for name, said in self._of.by_plugin.items():
            obstacle = details.get(name)
            why = [] if obstacle is None else [*(sorted(obstacle.status.reasons) or (NO_REASON,)), *obstacle.details]
            table.add_row(name, _verdict(said, said.status_of(position)), "\n".join(why))
        self._console.print(table)
        self._print_scores_of(node.name)

    def _print_scores_of(self, name: str) -> None:
        scores = self._of.scores
        position = None if scores is None else scores.nodes.position_of(name)
        if scores is None or position is None or self._choice is None:
            return
        here = Ranked(name, int(scores.total[position]), scores.at(position))
        others = [one for one in (self._choice.best, *self._choice.runners_up) if one.node != name]
        self._print_scores((here, *others[:3]))

    # --- names ---

    def _short(self, node: str) -> str:
        return node.removesuffix(self._domain) if self._domain else node

    def _print_domain(self) -> None:
        if self._domain:
            self._console.print(f"Node names are shortened by '{self._domain}'.\n", style="dim")


def _filtered(said: ExtenderAnswer) -> str:
    counts: Counter[str] = Counter()
    for status in said.rejected.values():
        counts.update(status.reasons or (NO_REASON,))
    reasons = "; ".join(f"{n} {reason}" for reason, n in counts.most_common(_N_REASONS))
    return f"rejects {len(said.rejected)}: {reasons}" if reasons else "rejects none"


def _scored(said: ExtenderAnswer) -> str:
    if not said.scores:
        return "no scores"
    return f"adds {min(said.scores.values())} to {max(said.scores.values())} points"


def _verdict(said: PluginVerdicts, status: Status) -> str:
    if said.skipped:
        return "nothing to check"
    return _VERDICTS.get(status.code, status.code.value)
