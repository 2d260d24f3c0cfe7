"""Remedies of which a pod needs one for each of its problems: they are one remedy."""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Final

from kubesched.explanation.change import Change
from kubesched.explanation.remedies.case import Remedy

_MAX_REMEDIES: Final = 8


def together(each: Sequence[Sequence[Remedy]]) -> Iterator[Remedy]:
    """One remedy for each choice of one for every problem, the first ones first."""
    for remedies in islice(product(*each), _MAX_REMEDIES):
        if len(remedies) == 1:
            yield remedies[0]
        elif remedies:
            change = sum((remedy.change for remedy in remedies), Change())
            keeps = all(remedy.keeps_intent for remedy in remedies)
            effort = max(remedy.cost for remedy in remedies)
            text = " and ".join(dict.fromkeys(remedy.text for remedy in remedies))
            ladder = " and ".join(remedy.ladder or remedy.text for remedy in remedies)
            yield Remedy(text, remedies[0].kind, keeps, change, ladder=ladder, effort=effort)
