"""What pages say about the fate of a pod on a drained node."""

from typing import Final, NamedTuple

from kubesched.pages.formats import Level
from kubesched.planning import Fate


class FateWords(NamedTuple):
    """The words for a fate.

    Attributes:
        would: of one or more pods.
        short: behind the number of pods; empty where the fate is good.
        are: behind the name of a workload.
    """

    level: Level
    would: str
    short: str = ""
    are: str = ""


FATES: Final = {
    Fate.MOVES: FateWords(Level.GOOD, "would run elsewhere"),
    Fate.RETURNS: FateWords(
        Level.WARNING, "would come back", "come back", "come back: their new pods tolerate the cordon"
    ),
    Fate.PENDING: FateWords(Level.WARNING, "would stay pending", "pending", "stay pending"),
    Fate.NOT_KNOWN: FateWords(Level.WARNING, "cannot be decided", "not decided", "cannot be decided"),
    Fate.FOREIGN: FateWords(
        Level.WARNING, "would be placed by other schedulers", "of other schedulers", "are of other schedulers"
    ),
    Fate.BLOCKED: FateWords(Level.WARNING, "would never be evicted", "blocked", "are never evicted"),
    Fate.HANGS: FateWords(Level.BAD, "would hang", "hang", "stay Terminating: the node is unreachable"),
    Fate.LOST: FateWords(Level.BAD, "would be lost", "lost", "are lost"),
    Fate.MAY_BE_LOST: FateWords(Level.BAD, "may be lost", "may be lost", "may be lost"),
}
"""The fates of pods that have to leave, in the order in which pages list them."""
