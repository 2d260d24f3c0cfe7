"""Lists the obstacles on one node: which plugins reject it, and the cause behind each reason."""

from collections import Counter
from collections.abc import Collection

from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.obstacle import Obstacle, reasons_of
from kubesched.explanation.remedies import is_cordon_alone


def obstacles(evaluation: Evaluation, position: int, plugins: Collection[str] = ()) -> list[Obstacle]:
    """Everything that keeps the pod from a node, in the order in which filters run; empty for a node that fits.

    Args:
        plugins: those that are known to reject the node; without them, all are asked.
    """
    node, pod = evaluation.nodes.node(position), evaluation.pod
    found = []
    for name in plugins or evaluation.by_plugin:
        status = evaluation.by_plugin[name].status_of(position)
        if not status.is_success:
            asked = evaluation.asked.get(name)
            details = () if asked is None else asked.details(position, status)
            is_cordon = name == "TaintToleration" and is_cordon_alone(node, pod)
            found.append(Obstacle(name, status, details, is_cordon))
    return found


def reason_counts(evaluation: Evaluation) -> list[tuple[str, int]]:
    """Each reason of the whole profile with its number of nodes, most nodes first; a node without a reason counts."""
    diagnosis = evaluation.diagnosis
    counted = diagnosis.counts()
    n_left_out = diagnosis.n_all_nodes - sum(n for _, n in counted) - len(evaluation.feasible)
    counts: Counter[str] = Counter()
    for status, n in (*counted, (diagnosis.absent, n_left_out)):
        for reason in reasons_of(status) if n else ():
            counts[reason] += n
    return counts.most_common()
