"""Prints the report of a simulation: placed pods, pending pods with reasons, victims, how full nodes get."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from kubesched.api import Pod
from kubesched.cli.node_fill_text import fill_table, fill_words
from kubesched.cli.output import common_domain, new_table
from kubesched.simulator import Placement, PodState, Report

if TYPE_CHECKING:
    from rich.console import Console

    from kubesched.snapshot import ClusterObjects

_MAX_NODES: Final = 4
_MAX_PODS: Final = 8
_POST_FILTER = re.compile(r"(?<=\.) (no new claims to deallocate|preemption:|not found).*$", re.DOTALL)
"""What PostFilter plugins add to kube-scheduler's message."""


class SimulationText:
    """Prints a report part by part.

    Args:
        cluster: what was simulated.
        console: where to; without markup.
        evicted: whether victims left, or are only named.
    """

    def __init__(self, report: Report, cluster: "ClusterObjects", console: "Console", *, evicted: bool = True) -> None:
        self._report = report
        self._console = console
        self._evicted = evicted
        self._cluster = cluster
        self._pods = {pod.key: pod for pod in cluster.of(Pod)}
        self._domain = common_domain(report.after.node_names)

    def print(self) -> None:
        """Print everything."""
        by_state: dict[PodState, list[Placement]] = {state: [] for state in PodState}
        for placement in self._report.placements:
            by_state[placement.state].append(placement)
        placed = by_state[PodState.SCHEDULED]
        self._print_placed([placement for placement in placed if not placement.evicted_by])
        self._print_why("Placed, and evicted again", [placement for placement in placed if placement.evicted_by])
        self._print_why("Left pending", by_state[PodState.UNSCHEDULABLE])
        self._print_why("Failed (SchedulerError)", by_state[PodState.ERROR])
        self._print_why("Not tried", by_state[PodState.NOT_TRIED])
        self._print_victims()
        self._print_nodes()
        self.print_summary()

    def print_summary(self) -> None:
        """Print a summary in one line."""
        report = self._report
        parts = [
            f"{report.count(PodState.SCHEDULED)} placed",
            f"{report.count(PodState.UNSCHEDULABLE)} left pending",
            f"{report.count(PodState.ERROR)} failed",
            f"{report.count(PodState.NOT_TRIED)} not tried",
            f"{len(report.victims)} {'evicted' if self._evicted else 'would be evicted'}",
        ]
        said = ", ".join(part for part in parts if not part.startswith("0 ")) or "nothing to do"
        n_pods = len(report.placements)
        self._console.print(f"{n_pods} pending pod{'' if n_pods == 1 else 's'}: {said}.", style="bold", end=" ")
        self._console.print(fill_words(report))

    # --- pods ---

    def _print_placed(self, placements: Sequence[Placement]) -> None:
        if not placements:
            return
        self._console.print(f"Placed: {len(placements)}", style="bold green")
        table = new_table("PODS", "OF", "NODES", numbers=(0,))
        for name, group in _grouped(placements, self._owner).items():
            nodes = dict.fromkeys(self._short(placement.node) for placement in group)
            table.add_row(str(len(group)), name, _listed(nodes, _MAX_NODES))
        self._console.print(table)
        if self._domain:
            self._console.print(f"Node names are shortened by '{self._domain}'.\n", style="dim")

    def _owner(self, placement: Placement) -> str:
        """What pods are grouped by: their controller, or the pod itself."""
        pod = self._pods.get(placement.pod)
        controller = None if pod is None else pod.metadata.controller
        if pod is None or controller is None:
            return placement.pod
        return f"{controller.kind} {pod.namespace}/{controller.name}"

    def _print_why(self, title: str, placements: Sequence[Placement]) -> None:
        """Pods that share a reason together, and the reason below them."""
        if not placements:
            return
        self._console.print(f"{title}: {len(placements)}\n", style="bold" if title == "Not tried" else "bold red")
        for group in _grouped(placements, _without_numbers).values():
            self._console.print(_listed((placement.pod for placement in group), _MAX_PODS), style="bold")
            self._print_indented(_why(group[0]))
            for placement in group:
                if placement.nominated_node and placement.victims:
                    where = self._short(placement.nominated_node)
                    self._print_indented(
                        f"preemption would make room for {placement.pod} on {where} by evicting "
                        f"{', '.join(placement.victims)}"
                    )
        self._console.print()

    def _print_indented(self, text: str) -> None:
        from rich.padding import Padding

        self._console.print(Padding(text, (0, 0, 0, 4)))

    def _print_victims(self) -> None:
        victims = self._report.victims
        if not victims:
            return
        title = "Evicted to make room" if self._evicted else "Would be evicted to make room"
        self._console.print(f"{title}: {len(victims)}\n", style="bold yellow")
        for victim in victims:
            owner = f" ({victim.owner})" if victim.owner else ""
            self._console.print(f"{victim.pod}{owner}", style="bold")
            self._print_indented(f"from {self._short(victim.node)}, for {victim.preemptor}")
        self._console.print()

    # --- nodes ---

    def _print_nodes(self) -> None:
        if not self._report.after.node_names:
            return
        self._console.print("Nodes: requested of allocatable, before and after", style="bold")
        self._console.print(fill_table(self._report, self._cluster, self._console))

    def _short(self, node: str) -> str:
        return node.removesuffix(self._domain) if self._domain else node


def _grouped(placements: Iterable[Placement], key: Callable[[Placement], str]) -> dict[str, list[Placement]]:
    """By a key, in order of first appearance."""
    groups: dict[str, list[Placement]] = {}
    for placement in placements:
        groups.setdefault(key(placement), []).append(placement)
    return groups


def _why(placement: Placement) -> str:
    if placement.evicted_by:
        return f"evicted for {placement.evicted_by}"
    return _POST_FILTER.sub("", placement.message)


def _without_numbers(placement: Placement) -> str:
    """The message with its numbers left out: pods that wait for the same reasons have the same."""
    return re.sub(r"\d+", "#", _why(placement))


def _listed(names: Iterable[str], n_max: int) -> str:
    known = list(names)
    if len(known) <= n_max + 1:
        return ", ".join(known)
    return f"{', '.join(known[:n_max])} and {len(known) - n_max} more"
