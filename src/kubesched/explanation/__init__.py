"""Says why: what every plugin thinks of every node for a pod, as values, JSON lines and text."""

from kubesched.explanation.explainer import Explainer, explain, find_pod, unplaced
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.explanation.lines import as_line

__all__ = ["Explainer", "Explanation", "PluginVerdicts", "Preemption", "as_line", "explain", "find_pod", "unplaced"]
