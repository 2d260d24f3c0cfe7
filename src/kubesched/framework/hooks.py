"""The hooks by name: what the framework calls on a plugin, which names are misspelt, and what columns depend on."""

import enum
from typing import Final

HOOKS: Final[dict[str, tuple[str, ...]]] = {
    "preEnqueue": ("pre_enqueue",),
    "queueSort": ("sort_key", "less"),
    "preFilter": ("pre_filter",),
    "filter": ("filter", "filter_nodes"),
    "postFilter": ("post_filter",),
    "preScore": ("pre_score",),
    "score": ("score", "score_nodes"),
    "reserve": ("reserve", "unreserve"),
    "permit": ("permit",),
    "preBind": ("pre_bind",),
    "bind": ("bind",),
    "postBind": ("post_bind",),
}
"""Extension point as configuration files spell it -> the methods that make a class take part there."""

FURTHER_HOOKS: Final = (
    "start",
    "stop",
    "events_to_register",
    "add_pods",
    "remove_pods",
    "filter_part",
    "explain_rejection",
    "explain_alike",
    "explain_data",
    "score_part",
    "normalize_score",
    "pre_bind_pre_flight",
    "preempt",
)
"""Other methods that the framework calls; they do not make a class take part in an extension point."""
MAY_AWAIT: Final = ("start", "stop", "pre_bind", "bind", "post_bind")
"""Hooks that may be coroutines."""
ONE_FORM: Final = (("filter", "filter_nodes"), ("score", "score_nodes"), ("sort_key", "less"))
"""Hooks of which a class defines only one."""

_LETTERS: Final = {
    hook.replace("_", ""): hook for hook in (*(hook for forms in HOOKS.values() for hook in forms), *FURTHER_HOOKS)
} | {"queuesort": "sort_key"}
_OF_GO: Final = {
    "prefilterextensions": "define add_pods and remove_pods in the class",
    "scoreextensions": "define normalize_score in the class",
}
_ONLY_IN_GO: Final = {
    "Name": 'set name = "..." in the class',
    "AddPod": "define add_pods(state, pod, changes)",
    "RemovePod": "define remove_pods(state, pod, changes)",
    "SignPod": 'name what the hooks read of a pod in the class: equal_by = ("requests",)',
}
"""Names that are usual for helper methods in the spelling of Python."""
_LONG: Final = 6  # letters; another letter makes another word of a shorter name: score and store, bind and find


class DependsOn(enum.Enum):
    """What a column rule reads apart from the incoming pod; it decides how long a computed column is kept.

    Example:
        class FewPods(Plugin):
            depends_on = DependsOn.ROW
            reasons = (Status.unschedulable("node(s) had 10 pods"),)

            def filter_nodes(self, state, pod, nodes):
                return (nodes.n_pods >= 10).astype(int)

            def filter_part(self, state, pod):
                return None
    """

    NODE = "node"
    """The node object of the row, nothing else."""
    ROW = "row"
    """The node object and the pods on the row."""
    DEVICES = "devices"
    """The node object and the devices that ResourceSlices give the row, with what claims have of them."""
    CLUSTER = "cluster"
    """Relations between rows, which the state keeps; computed again for each pod, over all rows."""
    ANYTHING = "anything"
    """Anything: computed again for each pod, only on rows that passed the plugins before."""

    @property
    def is_of_rows(self) -> bool:
        """Whether each row is judged by what is on it, so that columns are kept while rows stay the same."""
        return self in (DependsOn.NODE, DependsOn.ROW, DependsOn.DEVICES)


def in_place_of_go(name: str) -> str:
    """What to do instead of a method that only plugins in Go have; "" for other names.

    Rule: the plugin interfaces of kube-scheduler v1.36.
    """
    return _ONLY_IN_GO.get(name) or _OF_GO.get(name.replace("_", "").lower(), "")


def meant_hook(name: str) -> tuple[str, bool]:
    """The hook whose name was spelt wrong, and whether its letters are all right, as in `preFilter`.

    Otherwise one letter is wrong, missing or too much, or two neighbours are swapped. A difference at the end makes
    another word (`filters`, `reserved`). Private names never count.

    Returns: an empty text for none.

    Example:
        assert meant_hook("preFilter") == ("pre_filter", True)
        assert meant_hook("pre_fliter") == ("pre_filter", False)
        assert meant_hook("score_of") == ("", False)
    """
    if name.startswith("_") or name.endswith("_"):
        return "", False
    letters = name.replace("_", "").lower()
    if letters in _LETTERS:
        return _LETTERS[letters], True
    return next((hook for meant, hook in _LETTERS.items() if _is_slip(letters, meant)), ""), False


def _is_slip(written: str, meant: str) -> bool:
    n_common = min(len(written), len(meant))
    start = next((i for i in range(n_common) if written[i] != meant[i]), n_common)
    a, b = written[start:], meant[start:]
    if len(a) > 1 and a[:2] == b[1::-1] and a[2:] == b[2:]:
        return True
    is_inside = len(meant) >= _LONG and len(a) > 1 and len(b) > 1
    return is_inside and (a[1:] == b[1:] or a[1:] == b or a == b[1:])
