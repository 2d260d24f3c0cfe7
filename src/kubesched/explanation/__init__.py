"""Explains decisions: the verdict of every plugin on every node for a pod, and what would help, as values."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.explanation.absent_drivers import (
        absent_words as absent_words,
        driver_of as driver_of,
        nodes_without_driver as nodes_without_driver,
    )
    from kubesched.explanation.answers_beside_filters import (
        HookAnswer as HookAnswer,
        turned_down_words as turned_down_words,
    )
    from kubesched.explanation.change import Change as Change, Edit as Edit
    from kubesched.explanation.choice import (
        Choice as Choice,
        Ranked as Ranked,
        differences as differences,
        points_words as points_words,
        ranked as ranked,
    )
    from kubesched.explanation.claims_in_use import ClaimInUse as ClaimInUse, claims_in_use as claims_in_use
    from kubesched.explanation.current_place import Outlook as Outlook
    from kubesched.explanation.evaluate import evaluate as evaluate
    from kubesched.explanation.evaluation import Evaluation as Evaluation, Preemption as Preemption
    from kubesched.explanation.explainer import Explainer as Explainer, explain as explain, unplaced as unplaced
    from kubesched.explanation.explanation import N_NEAREST as N_NEAREST, Explanation as Explanation
    from kubesched.explanation.fix import Fix as Fix
    from kubesched.explanation.fixes import MAX_FIXES as MAX_FIXES
    from kubesched.explanation.gang import (
        Gang as Gang,
        find_group as find_group,
        gang_fits as gang_fits,
        gangs_of as gangs_of,
    )
    from kubesched.explanation.group import GroupFit as GroupFit, place_group as place_group
    from kubesched.explanation.kubectl import (
        command_about as command_about,
        command_lines as command_lines,
        comments as comments,
    )
    from kubesched.explanation.node_scores import NodeScores as NodeScores
    from kubesched.explanation.obstacle import (
        NO_REASON as NO_REASON,
        Obstacle as Obstacle,
        ObstacleRow as ObstacleRow,
        reasons_of as reasons_of,
    )
    from kubesched.explanation.obstacles import (
        distinct as distinct,
        obstacle_texts as obstacle_texts,
        obstacles as obstacles,
    )
    from kubesched.explanation.outcome import (
        PodOutcome as PodOutcome,
        State as State,
        diagnosis as diagnosis,
        fits_outcome as fits_outcome,
        outcome as outcome,
    )
    from kubesched.explanation.pending_reasons import PendingReasons as PendingReasons, with_reasons as with_reasons
    from kubesched.explanation.plugin_verdicts import PluginVerdicts as PluginVerdicts
    from kubesched.explanation.pod_answer import PodAnswer as PodAnswer, Told as Told, answer_of as answer_of
    from kubesched.explanation.pod_patches import of_strategy as of_strategy
    from kubesched.explanation.preemption_words import (
        eviction_sentence as eviction_sentence,
        preemption_sentence as preemption_sentence,
        preemption_words as preemption_words,
    )
    from kubesched.explanation.raised_quotas import quota_patches as quota_patches
    from kubesched.explanation.recorded import Recorded as Recorded, recorded_of as recorded_of
    from kubesched.explanation.remedies import WAY_OUT as WAY_OUT
    from kubesched.explanation.unscheduled import Ended as Ended
