"""What the first line of `kubesched fit` says: how many pods would fit, beside which, and why no more."""

from collections import Counter
from typing import Final

from kubesched.documents import count, listed, plural
from kubesched.pages.simulations import lost_gangs
from kubesched.planning import Fit, has_place, premise
from kubesched.session import NodeGroup, Placement, PodState, waiting_words, without_post_filter

_TEENS: Final = range(11, 14)
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


def first_line(answer: Fit) -> str:
    """The verdict, after what was assumed and what becomes of the pods that the workloads have."""
    return _after(premise(answer.assumed), _after(_beside(answer), _verdict(answer)))


def _verdict(answer: Fit) -> str:
    first = answer.first_left
    if answer.kept and not answer.placements:
        return f"{kept_words(answer)}. No new pod is to be placed{_left_of_kept(answer)}"
    if not answer.placements and answer.without_pods and first is None:
        named = "; ".join(f"{one.workload} {one.why}" for one in answer.without_pods)
        return f"The manifests have no pod to place: {named}."
    if answer.undecided:
        return f"{_unknown(answer)}: {answer.undecided[0]}."
    if answer.is_maximum:
        total = f"{answer.n_fit:,} would fit{_on_more_nodes(answer)}{_without_queue(answer)}"
        return f"{total}{_which(answer, answer.n_fit, first)}: {_short(first)}" if first else f"At least {total}."
    counted = f"{answer.n_fit:,} of {answer.n_asked:,} would fit{_on_more_nodes(answer)}{_without_queue(answer)}"
    counted += _lost_gangs(answer)
    if is_in_first_line(answer):
        return f"{counted}, but not all would start: {answer.caveats[0]}."
    if first is None:
        return f"{counted}."
    if answer.n_at_most is not None and answer.next_left is not None:
        return f"{counted}, and {_no_help(answer, answer.n_at_most, answer.next_left)}"
    return f"{counted}{_which(answer, answer.placements.index(first), first)}: {_short(first)}"


def is_in_first_line(answer: Fit) -> bool:
    """Whether the first line has the first caveat: pods have a node and would not start."""
    return bool(answer.caveats and answer.placements) and answer.first_left is None and not answer.is_maximum


def _left_of_kept(answer: Fit) -> str:
    """How many of the pods that are there have no node, and why the first of them has none."""
    left = answer.left_of_kept
    if not left:
        return "."
    stay = plural(len(left), "pod that is there stays", "pods that are there stay")
    return f", and {len(left):,} {stay} pending: {why(left[0])}"


def _unknown(answer: Fit) -> str:
    """What is not known, because kubesched cannot decide about new pods."""
    if answer.is_maximum:
        return "It is not known how many would fit"
    n = sum(one.is_undecided for one in answer.placements)
    who = (
        "the pod fits"
        if answer.n_asked == 1
        else "the pods fit"
        if n == answer.n_asked
        else f"{count(n, 'more fits', 'more fit')}"
    )
    known = f"{answer.n_fit:,} of {answer.n_asked:,} would fit. " if n < answer.n_asked else ""
    return f"{known}It is not known whether {who}"


def _without_queue(answer: Fit) -> str:
    """How many more would fit if no pod waited already; empty where that changes nothing."""
    n = 0 if answer.n_alone is None else answer.n_alone - answer.n_fit
    return f"; the queue takes the room of {n:,} more (--alone leaves it out)" if n > 0 else ""


def _short(placement: Placement) -> str:
    """Why a pod has no node; the fault of a plugin has its own line."""
    return "it would fail (SchedulerError)." if placement.state is PodState.ERROR else why(placement)


def _no_help(answer: Fit, n_at_most: int, left: Placement) -> str:
    """Why no number of new nodes is enough."""
    more = f"more nodes like {answer.nodes_like}"
    helps = f"at most {n_at_most:,} with {more}" if n_at_most > answer.n_fit else f"{more} would not help"
    if node := answer.helpful_node:
        zone = answer.report.groups.get(node, NodeGroup()).zone
        helps += f", but more nodes like {node} in zone {zone} would"
    if not answer.obstacle:
        return f"{helps}: {why(left)}"
    pod = f"Pod {left.pod}" if not left.owner else f"A pod of {left.workload}"
    pod = pod if has_several(answer) else "The pod"
    return f"{helps}. {pod} does not fit on a new one: {answer.obstacle}."


def _which(answer: Fit, n_before: int, pod: Placement) -> str:
    """Which pod is the first that does not fit, or which workload lacks pods if there are several; or empty."""
    if not has_several(answer):
        return f"; the {ordinal(n_before + 1)}" if n_before else ""
    whole = next(one for one in answer.by_workload if pod in one.placements)
    return f"; {whole.workload}, {whole.n_fit:,} of {whole.n_asked:,}"


def _on_more_nodes(answer: Fit) -> str:
    n = len(answer.added_nodes)
    if not n:
        return ""
    without = f" ({answer.n_without:,} without)" if answer.n_without is not None else ""
    at_most = "at most " if answer.may_need_fewer_nodes else ""
    return f" with {at_most}{count(n, 'more node')} like {answer.nodes_like}{without}"


def _lost_gangs(answer: Fit) -> str:
    """Which gangs would not run, for the first line; empty for none."""
    lost = lost_gangs(answer.gangs)
    if len(lost) == 1:
        return f"; none of gang {lost[0].gang} would run, which needs {lost[0].needs:,}"
    return f"; none of {len(lost):,} gangs would run ({listed(one.gang for one in lost)})" if lost else ""


def _after(words: str, text: str) -> str:
    return f"{words}{text[0].lower()}{text[1:]}" if words else text


def _beside(answer: Fit) -> str:
    """What becomes of the pods that the workloads have already; empty if they have none."""
    if not answer.existing and answer.namesakes:
        same = answer.namesakes
        what = same[0] if len(same) == 1 else f"a release of {len(same):,} workloads"
        space = named(same[0])[0] if len(same) == 1 else "NAMESPACE"
        return f"As a new release beside {what}, which runs already (-n {space} makes it a rollout): "
    if not answer.existing:
        return _scaling(answer)
    one, n = answer.existing[0], len(answer.existing)
    pods = count(one.pods, "pod")
    if not answer.rollouts:
        return f"Beside the {f'{pods} of {one.workload}' if n == 1 else f'pods of {n:,} workloads'}: "
    of = f" of {len(answer.workloads):,}" if n < len(answer.workloads) else ""
    which = f"{one.workload}, which has {pods}" if n == 1 and not of else f"{n:,}{of} workloads"
    return f"A rollout of {which} (--add keeps the old pods): "


def _scaling(answer: Fit) -> str:
    """What becomes of workloads whose old pods stay, where new ones are added; empty for none."""
    scaled = [one for one in answer.kept if one.after > one.before]
    if not scaled or not answer.placements:
        return ""
    one, n = scaled[0], len(scaled)
    which = f"{one.workload} {one.before:,} -> {one.after:,}" if n == 1 else f"{n:,} workloads"
    return f"Scaling {which} (the old pods stay): "


def kept_words(answer: Fit) -> str:
    """What becomes of workloads whose template is the same as far as the snapshot shows."""
    placed = Counter(one.workload for one in answer.report.placements if has_place(one))
    same = [one.workload for one in answer.kept if one.before == one.after]
    words = [f"unchanged template and number of pods: {listed(same, first=3)}"] if same else []
    for one in answer.kept:
        if one.before != one.after:
            run = f"{one.running + placed[one.workload]:,} would run"
            words.append(f"{one.workload} scales {one.before:,} -> {one.after:,} with the same template: {run}")
    text = "; ".join(words)
    return f"{text[0].upper()}{text[1:]}"


def why(placement: Placement) -> str:
    """Why a pod has no node, in one sentence, and a second one with the best fix."""
    if placement.evicted_by:
        return f"it would be evicted again for {placement.evicted_by}."
    if placement.refused:
        fix = f" Fix: {placement.fix.removesuffix('.')}." if placement.fix else ""
        return f"the API server refuses it: {placement.refused}.{fix}"
    said = without_post_filter(placement.diagnosis) or placement.message_with_plugin
    text = waiting_words(placement) or said or "the pod was not tried"
    fix, _, opens = placement.fix.rpartition(" -> ")
    return f"{text.removesuffix('.')}.{f' Fix: {fix} ({opens}).' if fix else ''}"


def ordinal(n: int) -> str:
    """`1st`, `2nd`, `12th`."""
    return f"{n:,}{'th' if n % 100 in _TEENS else _ENDINGS.get(n % 10, 'th')}"


def has_several(answer: Fit) -> bool:
    """Whether the pods are of several workloads."""
    return len(answer.workloads) > 1


def named(workload: str) -> tuple[str, str]:
    """The namespace of a workload, and `Kind name`."""
    kind, _, key = workload.partition(" ")
    namespace, _, name = key.partition("/")
    return namespace, f"{kind} {name}"
