"""Words what preemption would do for a pod that fits nowhere."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from kubesched.api import Pod
from kubesched.documents import joined, plural
from kubesched.explanation.evaluation import Preemption

_NOT_KNOWN: Final[Mapping[str, str]] = {}
_OF_PLUGINS: Final = re.compile(r"^no new claims to deallocate(, |$)|^not found$|(?:^|(?<=, ))preemption: ")
"""What PostFilter plugins put before their messages, and what DynamicResources says about pods without claims: not
found if PreFilter rejected the pod.
"""


def preemption_words(message: str) -> str:
    """What PostFilter plugins said, without their names, and without the plugin that had nothing to do."""
    return _OF_PLUGINS.sub("", message)


def preemption_sentence(preemption: Preemption, pod: Pod) -> str:
    """Where preemption would make room for a pod, and by whose eviction."""
    victims = [(one.key, one.priority) for one in preemption.victims]
    sentence = eviction_sentence(preemption.node_name, victims, preemption.broken, preemption.fates)
    if not preemption.claims:
        return sentence
    name = pod.spec.priority_class_name
    what = f"priority class {name}" if name else f"priority {pod.priority}"
    taken = f"{what} makes it evict the pod that has its {plural(len(preemption.claims), 'claim')}"
    return f"{sentence}: {taken} {joined(preemption.claims)} (mount a clone or snapshot instead)"


def eviction_sentence(
    node: str, victims: Sequence[tuple[str, int]], broken: Sequence[str], fates: Mapping[str, str] = _NOT_KNOWN
) -> str:
    """Where preemption makes room, and by whose eviction.

    Args:
        victims: `namespace/name` and priority.
        broken: `namespace/name` of the disruption budgets that this breaks.
        fates: what becomes of victims, as in Preemption.

    Example:
        sentence = eviction_sentence("n1", [("batch/etl", -5)], (), {"batch/etl": "on n2"})
        assert sentence == "Preemption would make room on n1 by evicting batch/etl (priority -5, then on n2)"
    """
    if not victims:
        return f"PostFilter would nominate the pod to {node}, without an eviction"
    then = {pod: f", then {fate}" for pod, fate in fates.items()}
    evicted = ", ".join(f"{pod} (priority {priority}{then.get(pod, '')})" for pod, priority in victims)
    budgets = f"{plural(len(broken), 'disruption budget')} {joined(broken)}"
    breaks = f", which would break {budgets}" if broken else ""
    return f"Preemption would make room on {node} by evicting {evicted}{breaks}"
