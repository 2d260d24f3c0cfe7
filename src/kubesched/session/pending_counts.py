"""Counts the pods of a cluster for the first lines of explain and simulate, which begin with the same numbers."""

from typing import Final

import msgspec

from kubesched.documents import count, plural


class PendingCounts(msgspec.Struct, frozen=True):
    """How many pods wait for a node, and how many look as if they did.

    Attributes:
        pending: the pods that have no node, have not finished, and are for a profile of the configuration.
        foreign: such pods that are for other schedulers.
        stuck: pods that have a node, and do not run there because the node or a claim keeps them from starting.
        started: new pods that name their node, and would start there.
        absent: new pods that name their node, and would not be created.
    """

    pending: int = 0
    foreign: int = 0
    stuck: int = 0
    started: int = 0
    absent: int = 0

    def sentences(self, listed: str, kind: str = "pending ") -> str:
        """The numbers in words.

        Args:
            listed: what becomes of the pending pods.
            kind: what they are, before `pods`; some of them may not be pending, because they would not be created.

        Example:
            counts = PendingCounts(pending=3, foreign=1)
            assert counts.sentences("3 fit") == "3 pending pods: 3 fit. 1 pod of other schedulers."
        """
        first = f"{count(self.pending, f'{kind}pod')}: {listed}." if self.pending else "No pod is pending."
        return " ".join([first, *self._others()])

    def _others(self) -> list[str]:
        said = {
            "of other schedulers": self.foreign,
            "has a node and does not run": self.stuck,
            "names its node and would start there": self.started,
            "names its node and would not be created": self.absent,
        }
        return [f"{count(n, 'pod')} {plural(n, words, _PLURAL.get(words, words))}." for words, n in said.items() if n]


_PLURAL: Final = {
    "has a node and does not run": "have a node and do not run",
    "names its node and would start there": "name their nodes and would start there",
    "names its node and would not be created": "name their nodes and would not be created",
}
