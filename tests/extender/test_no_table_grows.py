"""Weeks of calls with other pods and nodes: no table of an extender holds more at the end than in the second week."""

import gc

from kubesched.framework import Plugin, Status
from tests.extender.asking import Server, node, pod, with_nodes
from tests.tables import tables_of

BOUNDED = {
    "ChangeLog._rows",  # these and the next three as docs/decisions/memory.md says
    "Parts._recent",
    "Parts._templates",
    "Template.sources",
    "RequestedPods._kept",  # the last pods that were asked about
}
N_NODES, N_PODS, WEEKS = 8, 40, 12


class Roomy(Plugin):
    """Accepts all nodes but one of each zone, and scores by the name."""

    def filter(self, state, pod, node) -> Status:
        return Status.unschedulable(f"{node.name} is full") if node.name.endswith("-0") else Status.SUCCESS

    def score(self, state, pod, node) -> int:
        return len(node.name) % 10


def week(server: Server, number: int) -> None:
    nodes = [node(f"week-{number}-{i}", zone=f"zone-{number}-{i}") for i in range(N_NODES)]
    for i in range(N_PODS):
        labels = {"app": f"app-{number}-{i}"}
        asking = pod(f"p-{number}-{i}", nodeSelector=labels)
        asking["metadata"]["labels"] = labels
        body = with_nodes(*nodes, pod=asking)
        server.filter(body)
        server.scores(body)
        server.now += 60.0


def test_no_table_of_an_extender_grows() -> None:
    server = Server(Roomy())
    sizes = []
    for number in range(WEEKS):
        week(server, number)
        gc.collect()
        sizes.append(tables_of(server))
    assert {name for name in sizes[-1] if sizes[-1][name] > sizes[1][name]} <= BOUNDED
    assert {"NodeColumns.row_of", "ScoreTexts._names", *BOUNDED} <= set(sizes[-1])
