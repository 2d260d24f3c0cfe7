"""Compares what two schedulers made of one scenario.

If an extender rejected a pod, kube-scheduler tries it again when its own condition changes. Where preemption fails on
several nodes, its message names them in any order, so that the pod is tried until two messages are alike. Of such pods
the number of attempts is left out.
"""

import re
from collections import Counter
from collections.abc import Hashable, Set
from dataclasses import replace

from campaigns.extenders.play import Asked, Played
from campaigns.live.outcome import Facts, Outcome, differences

ANY_ORDER = re.compile(r"\[(expected at least one victim pod on node [^\]]*)\]")
CONTEXT = 3


class Comparison:
    """What is not the same.

    Attributes:
        lines: one for each difference.
        has_same_end: whether every pod ends in the same state, with the same conditions, all the same.
    """

    def __init__(self, ours: Played, theirs: Played) -> None:
        restless = _restless(ours.outcome) | _restless(theirs.outcome)
        outcomes = _calmed(ours.outcome, restless), _calmed(theirs.outcome, restless)
        self.lines = differences(*outcomes)
        for name in ours.asked:
            mine, others = ours.asked[name], theirs.asked[name]
            self.lines += _differing_calls(name, *(_of_others(asked, restless) for asked in (mine, others)))
            self.lines += _differing_calls(f"{name}, once", *(_of(asked, restless) for asked in (mine, others)))
            if mine == others:
                self.lines += _differing_bodies(mine, ours.bodies[name], theirs.bodies[name])
        ends = ("nodes", "nominated", "conditions")
        has_same_end = all(getattr(outcomes[0], what) == getattr(outcomes[1], what) for what in ends)
        self.has_same_end = bool(self.lines) and has_same_end


def _restless(outcome: Outcome) -> set[str]:
    return {name for name, facts in outcome.events.items() for fact in facts if ANY_ORDER.search(str(fact))}


def _calmed(outcome: Outcome, restless: Set[str]) -> Outcome:
    events = {
        name: Counter({fact[:-1] for fact in facts if isinstance(fact, tuple)}) if name in restless else facts
        for name, facts in outcome.events.items()
    }
    writes = {name: facts for name, facts in outcome.writes.items() if name not in restless}
    conditions = _once(outcome.conditions, restless)
    return replace(outcome, conditions=conditions, events=_once(events, restless), writes=writes)


def _once(facts: Facts, restless: Set[str]) -> Facts:
    in_plain_words: Facts = {}
    for name, kinds in facts.items():
        plain = [_in_plain_words(fact) for fact in kinds.elements()]
        in_plain_words[name] = Counter(set(plain) if name in restless else plain)
    return in_plain_words


def _in_plain_words(fact: Hashable) -> Hashable:
    """A condition or an event, with the nodes of its message in the order of their names."""
    if not isinstance(fact, tuple):
        return fact
    return tuple(_plain(text) if isinstance(text, str) else text for text in fact)


def _plain(text: str) -> str:
    return ANY_ORDER.sub(_sorted, text)


def _sorted(match: re.Match[str]) -> str:
    return f"[{', '.join(sorted(match[1].split(', ')))}]"


def _of_others(asked: list[Asked], restless: Set[str]) -> list[Asked]:
    return [call for call in asked if call[2] not in restless]


def _of(asked: list[Asked], restless: Set[str]) -> list[Asked]:
    return sorted({call for call in asked if call[2] in restless})


def _differing_calls(name: str, ours: list[Asked], theirs: list[Asked]) -> list[str]:
    if ours == theirs:
        return []
    i = next((i for i, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), -1)
    i = min(len(ours), len(theirs)) if i < 0 else i
    alone, missing = Counter(ours) - Counter(theirs), Counter(theirs) - Counter(ours)
    lines = [f"calls ({name}): {len(ours)} and {len(theirs)}; number {i} is the first that differs"]
    for who, calls in (("ours", ours), ("theirs", theirs)):
        lines += [f"  {who} {j}: {' '.join(calls[j])}" for j in range(i, min(i + CONTEXT, len(calls)))]
    lines += [f"  ours alone: {' '.join(call)}" for call in list(alone.elements())[:CONTEXT]]
    return lines + [f"  theirs alone: {' '.join(call)}" for call in list(missing.elements())[:CONTEXT]]


def _differing_bodies(asked: list[Asked], ours: list[bytes], theirs: list[bytes]) -> list[str]:
    lines = []
    for call, one, other in zip(asked, ours, theirs, strict=True):
        if one != other:
            pairs = enumerate(zip(one, other, strict=False))
            at = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
            excerpts = [text[max(at - 60, 0) : at + 60].decode(errors="replace") for text in (one, other)]
            lines.append(f"body of {' '.join(call[:3])}: ours ...{excerpts[0]}... theirs ...{excerpts[1]}...")
    return lines[:CONTEXT] + ([f"{len(lines)} bodies differ"] if len(lines) > CONTEXT else [])
