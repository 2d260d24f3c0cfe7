"""The state that plugins keep between the hooks of one scheduling cycle."""

from collections.abc import Callable
from typing import Final, Never, TypeVar

import msgspec

from kubesched.framework.fault_texts import answer_text
from kubesched.state import PodInfo

DataT = TypeVar("DataT")

_NO_KEY: Final = (
    "state.{call}: the key is the class of the data, so define one: class Count, state.write(Count(1)), "
    "state.read(Count); found {found}"
)


class BindingNotes(msgspec.Struct):
    """What Reserve and PreBind add to the Binding.

    Attributes:
        annotations: written into the Binding object, which the API server copies to the pod. What Reserve wrote is on
            the assumed pod as soon as all Reserve plugins have succeeded.
    """

    annotations: dict[str, str] = {}


class CycleState(msgspec.Struct, eq=False):
    """Per-cycle data, filed under the class that it is of, and the incoming pod with its parts.

    A plugin defines a class for what it remembers, writes an object of it, and reads it back by that class.

    What-if copies share the objects: a plugin whose add_pods or remove_pods changes its data writes a new object.

    Attributes:
        pod: the incoming pod with its parts.
        binding: what the Binding gets from plugins.
        skip_filter, skip_score: plugins whose PreFilter (PreScore) said Skip.
        pods_to_activate: pods to be tried again right after this one; plugins fill it. Ignored in a run without a
            queue: behind a kube-scheduler, in `explain`, and where each pod is tried once.
        checkpoint: called with the name of a plugin before its hook, and after each node in a rule written per node;
            with an empty name after a hook outside of the steps of a cycle. It raises DeadlineExceeded when the time is
            over. None without a deadline or a probe that measures plugins.

    Example:
        class Wanted:
            def __init__(self, n_gpus):
                self.n_gpus = n_gpus

        def pre_filter(self, state, pod, nodes):
            state.write(Wanted(int(pod.labels.get("gpus", "0"))))
            return Status.SUCCESS

        def filter(self, state, pod, node):
            has_enough = node.allocatable.get("example.com/gpu", 0) >= state.read(Wanted).n_gpus
            return Status.SUCCESS if has_enough else Status.unschedulable("node(s) had too few GPUs")
    """

    pod: PodInfo
    binding: BindingNotes = msgspec.field(default_factory=BindingNotes)
    skip_filter: set[str] = set()
    skip_score: set[str] = set()
    pods_to_activate: dict[str, object] = {}
    checkpoint: Callable[[str], None] | None = None
    _data: dict[type, object] = {}
    _answers: dict[Callable[..., object], object] = {}  # of hooks that were asked before; or what they raised

    def write(self, data: object, *further: Never) -> None:
        """File an object under its class, in place of an earlier one.

        Raises:
            TypeError: there is a key, as in Go; the class of the object is the key.
        """
        if further:
            raise TypeError(_NO_KEY.format(call="write", found=f"{1 + len(further)} arguments"))
        self._data[data.__class__] = data

    def read(self, kind: type[DataT], missing: str = "") -> DataT:
        """The object that was filed under a class.

        Args:
            missing: the text of a RuntimeError to raise in place of the KeyError.
        Raises:
            KeyError: none was; the hook that writes it did not run.
            TypeError: it is not a class.
        """
        try:
            return self._data[kind]  # type: ignore[return-value]
        except KeyError:
            if not isinstance(kind, type):
                raise _not_a_class("read", kind) from None
            if missing:
                raise RuntimeError(missing) from None
            raise

    def find(self, kind: type[DataT]) -> DataT | None:
        """The object that was filed under a class, or None.

        Raises:
            TypeError: it is not a class.
        """
        found = self._data.get(kind)
        if found is None and not isinstance(kind, type):
            raise _not_a_class("find", kind)
        return found  # type: ignore[return-value]

    def clone(self) -> "CycleState":
        """A state for a what-if question: what is written to it does not reach this one."""
        return msgspec.structs.replace(
            self,
            skip_filter=set(self.skip_filter),
            skip_score=set(self.skip_score),
            pods_to_activate={},
            _data=dict(self._data),
        )


def _not_a_class(call: str, kind: object) -> TypeError:
    return TypeError(_NO_KEY.format(call=call, found=answer_text(kind)))
