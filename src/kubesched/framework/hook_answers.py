"""Checks what a hook raised or returned: faults and invalid values become Errors that name the plugin and the hook.

Rule: kube-scheduler v1.36 framework runtime, whose messages these are.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeGuard, cast

import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.fault_texts import answer_text, fault_text
from kubesched.framework.plugin import Plugin
from kubesched.framework.status import HOOK_FAULTS, Code, FaultText, PluginFault, PostFilterResult, Status
from kubesched.framework.verdicts import Verdicts
from kubesched.state import NodeInfo, Nodes, PodInfo

_INT64: Final = np.dtype(np.int64)
_SUCCESS: Final = Status.SUCCESS  # what most hooks answer: quicker to read than an attribute of the class
_SKIP: Final = Status.SKIP


class Hook:
    """A method of a plugin that answers with a Status, and the words for its faults, both found once.

    Attributes:
        plugin: the plugin's name.
        what: is being done, as messages say it, such as `running Reserve plugin "X"`.
        call: the method.
    """

    __slots__ = ("call", "plugin", "what")

    def __init__(self, plugin: Plugin, method: str, what: str) -> None:
        self.plugin = plugin.name
        self.what = f'running {what} "{plugin.name}"'
        self.call = getattr(plugin, method)

    def ask(self, *arguments: Any, may_skip: bool = False) -> Status:
        """Call it; faults and nonsense become Error statuses."""
        try:
            answer: object = self.call(*arguments)
        except HOOK_FAULTS as error:
            return fault(self.what, error)
        if answer is _SUCCESS:
            return _SUCCESS
        if may_skip and answer is _SKIP:
            return _SKIP
        return checked(self.what, answer, may_skip=may_skip)


def fault(what: str, error: BaseException) -> Status:
    """What a hook that raised comes to.

    Args:
        what: was being done, such as `running Reserve plugin "X"`.
    """
    text = fault_text(error)
    return Status(Code.ERROR, (FaultText(f"{what}: {text}", text.place),))


def nonsense(what: str, answer: object, allowed: str = "a Status, such as Status.SUCCESS") -> Status:
    """What an answer comes to that the hook does not allow."""
    return Status(Code.ERROR, (f"{what}: must return {allowed}; found {answer_text(answer)}",))


def checked(what: str, answer: object, *, may_skip: bool = False) -> Status:
    """A hook's Status; Error with upstream's prefix for a fault, for what is not a Status, and for one out of place."""
    if answer is _SUCCESS:
        return _SUCCESS
    if may_skip and answer is _SKIP:
        return _SKIP
    if not isinstance(answer, Status):
        return nonsense(what, answer)
    if answer.is_success or answer.is_rejected or (may_skip and answer.is_skip):
        return answer
    text = (
        answer.message
        if answer.code is Code.ERROR
        else f"returned {answer.code.value}, which this hook must not return"
    )
    return Status(Code.ERROR, (f"{what}: {text}",), answer.plugin)


def rejection_details(plugin: Plugin, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> tuple[str, ...]:
    """What a plugin says is behind its rejection of a node.

    Raises:
        PluginFault: explain_rejection failed.
    """
    if not plugin.defines("explain_rejection"):
        return ()
    what = f'running ExplainRejection plugin "{plugin.name}"'
    return _texts(what, plugin, state, lambda: plugin.explain_rejection(state, pod, node, status))


def alike_rejections(plugin: Plugin, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
    """(nodes,) numbers: nodes with the same one have the same details for the same reasons.

    Raises:
        PluginFault: explain_alike failed.
    """
    if not plugin.defines("explain_rejection"):
        return np.zeros(len(nodes), dtype=np.int64)
    if not plugin.defines("explain_alike"):
        return np.arange(len(nodes))
    what = f'running ExplainAlike plugin "{plugin.name}"'
    try:
        numbers: object = plugin.explain_alike(state, pod, nodes)
    except HOOK_FAULTS as error:
        raise PluginFault(fault(what, error).by(plugin.name)) from error
    if not isinstance(numbers, np.ndarray) or numbers.shape != (len(nodes),) or numbers.dtype.kind not in "iu":
        raise PluginFault(nonsense(what, numbers, f"{len(nodes)} integers, one per node").by(plugin.name))
    return numbers


def data_notes(plugin: Plugin, state: CycleState, pod: Pod) -> tuple[str, ...]:
    """What a plugin says about its data.

    Raises:
        PluginFault: explain_data failed.
    """
    if not plugin.defines("explain_data"):
        return ()
    what = f'running ExplainData plugin "{plugin.name}"'
    return _texts(what, plugin, state, lambda: plugin.explain_data(state, pod))


def _texts(what: str, plugin: Plugin, state: CycleState, ask: Callable[[], object]) -> tuple[str, ...]:
    if state.checkpoint is not None:
        state.checkpoint(plugin.name)
    try:
        answer = ask()
        details = (answer,) if isinstance(answer, str) else tuple(cast("Iterable[object]", answer))
    except HOOK_FAULTS as error:
        raise PluginFault(fault(what, error).by(plugin.name)) from error
    finally:
        if state.checkpoint is not None:
            state.checkpoint("")
    texts = tuple(detail for detail in details if isinstance(detail, str))
    if len(texts) < len(details):
        raise PluginFault(nonsense(what, details, "texts").by(plugin.name))
    return texts


def is_post_filter_answer(answer: object) -> TypeGuard[tuple[PostFilterResult | None, Status]]:
    """Whether PostFilter answered (PostFilterResult or None, Status)."""
    if not isinstance(answer, tuple) or len(answer) != 2 or not isinstance(answer[1], Status):
        return False
    return answer[0] is None or (isinstance(answer[0], PostFilterResult) and _holds(answer[0]))


def _holds(result: Any) -> bool:
    return (
        isinstance(result.nominated_node_name, str | None)
        and isinstance(result.victims, tuple)
        and all(isinstance(victim, PodInfo) for victim in result.victims)
    )


def as_verdicts(plugin: Plugin, answer: object, n_rows: int) -> Verdicts:
    """What filter_nodes returned, checked.

    Raises:
        TypeError: it is not one integer per row.
    """
    verdicts = answer if isinstance(answer, Verdicts) else None
    values = answer if verdicts is None else verdicts.values
    if not isinstance(values, np.ndarray) or values.shape != (n_rows,) or values.dtype.kind not in "iub":
        raise TypeError(f"filter_nodes must return {n_rows} integers, one per row; found {_shown(values)}")
    if values.dtype.kind == "b":
        values = values.astype(np.int16)
    return Verdicts(values, plugin.reasons) if verdicts is None else verdicts


def as_scores(plugin: Plugin, answer: object, n_rows: int) -> IntVector:
    """What score_nodes or normalize_score returned, checked.

    Raises:
        TypeError: it is not one integer per row.
    """
    if not isinstance(answer, np.ndarray) or answer.shape != (n_rows,) or answer.dtype.kind not in "iu":
        raise TypeError(f"{plugin.name} must score with {n_rows} integers, one per row; found {_shown(answer)}")
    return answer if answer.dtype == _INT64 else answer.astype(np.int64)


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    is_like_one = isinstance(value, Sequence)
    return f"{answer_text(value)}, which is not a NumPy array" if is_like_one else answer_text(value)
