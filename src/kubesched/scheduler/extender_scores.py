"""What an extender's answer to prioritize adds to the scores of nodes. Rule: kube-scheduler v1.36 prioritizeNodes."""

from collections.abc import Sequence
from sys import intern
from typing import Final

import msgspec
import numpy as np

from kubesched.config import ExtenderConfig
from kubesched.engine import BoolVector, IntVector
from kubesched.wire import HostPriority

_SCALE: Final = 10  # from an extender's 0 to 10 to a plugin's 0 to 100


class ExtenderScores(msgspec.Struct, frozen=True, eq=False):
    """What one extender adds to the scores.

    Attributes:
        name: as plugins are named in scores.
        scores: (nodes,) int64, weighted and scaled.
        given: (nodes,) bool: nodes to which it gave a score; kube-scheduler breaks ties between them at random.
    """

    name: str
    scores: IntVector
    given: BoolVector


def weighted_scores(extender: ExtenderConfig, entries: Sequence[HostPriority], names: list[str]) -> ExtenderScores:
    """Compute score x weight x 10 of some nodes, as integers of 64 bits, which wrap.

    Args:
        entries: as the extender answered; a host that comes twice gets the sum, others are ignored.
        names: of the nodes.
    """
    if [entry.host for entry in entries] == names:  # as most extenders answer
        scores = np.array([entry.score for entry in entries], dtype=np.int64)
        given = np.ones(len(names), dtype=np.bool_)
    else:
        by_name: dict[str, int] = {}
        for entry in entries:
            by_name[entry.host] = _wrapped(by_name.get(entry.host, 0) + entry.score)
        scores = np.array([by_name.get(name, 0) for name in names], dtype=np.int64)
        given = np.array([name in by_name for name in names], dtype=np.bool_)
    scores *= _wrapped(extender.weight * _SCALE)  # wraps
    return ExtenderScores(intern(f"extender {extender.shown_url}"), scores, given)  # kept by each decision


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63
