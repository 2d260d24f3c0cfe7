"""Explains decisions: the verdict of every plugin on every node for a pod, and what would help, as values."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.explanation.choice import Choice, Ranked, differences, points_words, ranked
    from kubesched.explanation.current_place import Outlook
    from kubesched.explanation.evaluate import evaluate
    from kubesched.explanation.evaluation import Evaluation, Preemption
    from kubesched.explanation.explainer import Explainer, explain, unplaced
    from kubesched.explanation.explanation import N_NEAREST, Explanation
    from kubesched.explanation.fix import Change, Edit, Fix
    from kubesched.explanation.gang import Gang, find_group, gangs_of
    from kubesched.explanation.group import GroupFit, place_group
    from kubesched.explanation.hooks import HookAnswer, turned_down_words
    from kubesched.explanation.node_scores import NodeScores
    from kubesched.explanation.obstacle import NO_REASON, Obstacle, ObstacleRow, reasons_of
    from kubesched.explanation.obstacle_rows import distinct, obstacle_texts
    from kubesched.explanation.obstacles import obstacles
    from kubesched.explanation.outcome import Outcome, State, diagnosis, fits_outcome, outcome
    from kubesched.explanation.plugin_verdicts import PluginVerdicts
    from kubesched.explanation.pod_answer import PodAnswer, Told, answer_of
    from kubesched.explanation.preemption_words import eviction_sentence, preemption_sentence, preemption_words
    from kubesched.explanation.unscheduled import Ended

__all__ = [
    "NO_REASON",
    "N_NEAREST",
    "Change",
    "Choice",
    "Edit",
    "Ended",
    "Evaluation",
    "Explainer",
    "Explanation",
    "Fix",
    "Gang",
    "GroupFit",
    "HookAnswer",
    "NodeScores",
    "Obstacle",
    "ObstacleRow",
    "Outcome",
    "Outlook",
    "PluginVerdicts",
    "PodAnswer",
    "Preemption",
    "Ranked",
    "State",
    "Told",
    "answer_of",
    "diagnosis",
    "differences",
    "distinct",
    "evaluate",
    "eviction_sentence",
    "explain",
    "find_group",
    "fits_outcome",
    "gangs_of",
    "obstacle_texts",
    "obstacles",
    "outcome",
    "place_group",
    "points_words",
    "preemption_sentence",
    "preemption_words",
    "ranked",
    "reasons_of",
    "turned_down_words",
    "unplaced",
]
