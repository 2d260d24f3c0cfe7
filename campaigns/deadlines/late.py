"""Calls of an extender that become late at a certain look at the clock, and what their answers have to say."""

from collections.abc import Iterator
from typing import NamedTuple

from kubesched.extender import Answer
from kubesched.framework import Plugin, Status
from tests.extender.asking import Looks, Server, captured, encode, failure, filter_result, node, with_nodes

MESSAGE = "no answer within 4 s"


class Slow(Plugin):
    """Looks at the clock in every hook that there is: between the hooks."""

    def pre_filter(self, state, pod, nodes):
        return Status.SUCCESS

    def filter(self, state, pod, node):
        return Status.unresolvable("no") if node.name.endswith("1") else Status.SUCCESS

    def pre_score(self, state, pod, nodes):
        return Status.SUCCESS

    def score(self, state, pod, node):
        return 100

    def preempt(self, state, pod, victims_by_node):
        return victims_by_node


class Call(NamedTuple):
    """One call of a server.

    Attributes:
        allow: whether nodes pass a filter call that is late.
        n_nodes: offered; a preempt call has its own.
    """

    verb: str
    allow: bool = False
    n_nodes: int = 600

    @property
    def body(self) -> bytes:
        nodes = (node(f"n{i}") for i in range(self.n_nodes))
        return captured("preempt-victims") if self.verb == "preempt" else with_nodes(*nodes)

    def answer(self, looks: Looks) -> Answer:
        answer: Answer = getattr(Server(Slow(), allow_on_timeout=self.allow).verbs, self.verb)(self.body, looks)
        return answer

    def looks(self) -> int:
        """How often the clock is looked at when there is time enough."""
        looks = Looks()
        self.answer(looks)
        return looks.n


CALLS = [(verb, allow) for verb in ("filter", "prioritize", "preempt") for allow in (False, True)]


def faults(call: Call, look: int) -> Iterator[str]:
    """What is wrong with the answer to a call that is late from this look on."""
    answer = call.answer(Looks(look))
    if not answer.is_late:
        yield "the answer does not say that it is late"
        return
    if call.verb != "filter":
        if failure(answer) != MESSAGE:
            yield f"failure: {failure(answer)}"
        return
    result = filter_result(answer)
    if not call.allow:
        if (result.Error, answer.plugin) != (MESSAGE, ""):
            yield f"Error: {result.Error!r}, plugin {answer.plugin!r}"
        return
    if (result.Error, answer.error, answer.n_kept) != ("", MESSAGE, call.n_nodes):
        yield f"Error: {result.Error!r}, error {answer.error!r}, {answer.n_kept} nodes kept"
    if result.raws != [encode(node(f"n{i}")) for i in range(call.n_nodes)]:
        yield "other nodes than those offered pass"
