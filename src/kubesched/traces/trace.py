"""A trace: what happens to a cluster, each with its time."""

from collections.abc import Iterable, Iterator

import msgspec

from kubesched.api import Node, Pod
from kubesched.documents import count


class Arrival(msgspec.Struct, frozen=True):
    """A pod that comes.

    Attributes:
        at: when it is created, in seconds.
        pod: as the API server has it then; one that names its node runs there from then on.
        duration: how many seconds it runs once it is bound; None if it never ends.
        comes_again: whether a new pod comes in its place if it is evicted or its node goes; None to decide as its
            controller does.
    """

    at: float
    pod: Pod
    duration: float | None = None
    comes_again: bool | None = None


class NodeChange(msgspec.Struct, frozen=True):
    """A node that comes, changes or goes.

    Attributes:
        at: when, in seconds.
        node: as it is then, or was last.
        is_gone: whether it goes.
    """

    at: float
    node: Node
    is_gone: bool = False


class Trace(msgspec.Struct, frozen=True):
    """What happens to a cluster.

    Attributes:
        nodes: those that are there at the beginning.
        arrivals: the pods, in the order in which they come.
        changes: nodes that come and go later, in order.
        notes: what was left out or replaced when the files were read, one sentence each.
        name: what the trace was read from, for reports.

    Example:
        trace = read_trace("pods.csv", "nodes.csv")
        for arrival in trace.arrivals:
            print(arrival.at, arrival.pod.key, arrival.pod.requests, arrival.duration)
    """

    nodes: tuple[Node, ...] = ()
    arrivals: tuple[Arrival, ...] = ()
    changes: tuple[NodeChange, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""

    def __repr__(self) -> str:
        """The trace in one line."""
        parts = [count(len(self.nodes), "node"), count(len(self.arrivals), "pod")]
        if self.changes:
            parts.append(count(len(self.changes), "change of nodes", "changes of nodes"))
        return f"<Trace: {', '.join(parts)}>"

    @property
    def begin(self) -> float:
        """When the first thing happens."""
        return min(self._times(), default=0.0)

    @property
    def end(self) -> float:
        """When the last pod comes, or the last node comes or goes."""
        return max(self._times(), default=0.0)

    def _times(self) -> Iterator[float]:
        yield from (one.at for one in (*self.arrivals[:1], *self.arrivals[-1:]))
        yield from (one.at for one in (*self.changes[:1], *self.changes[-1:]))

    def with_nodes(self, nodes: Iterable[Node]) -> "Trace":
        """The trace with other nodes at the beginning."""
        return msgspec.structs.replace(self, nodes=tuple(nodes))
