"""The answer of a hook: a code, the reasons in the words that a user sees, and the plugin that returned it."""

import enum
from asyncio import CancelledError
from collections.abc import Awaitable
from typing import ClassVar, Final

import msgspec

from kubesched.framework.actions import Action
from kubesched.state import PodInfo

HOOK_FAULTS: Final = (Exception, SystemExit, CancelledError)
"""What a plugin that fails may raise. One that asks for the end of the process has failed; Ctrl-C has not.

A hook that is awaited may also be cancelled by its driver, which is not a fault.
"""


class Code(enum.Enum):
    """Status codes, in upstream's spelling.

    UNSCHEDULABLE may be helped by removing pods (preemption looks at such nodes); UNSCHEDULABLE_AND_UNRESOLVABLE may
    not. PENDING is for PreEnqueue and Permit-like gates whose plugin will report when to try again. SKIP switches
    off the plugin's later hooks.
    """

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    PENDING = "Pending"


_SUCCESS: Final = Code.SUCCESS  # in Python 3.11 a member takes ten times as long to read from its class
_SKIP: Final = Code.SKIP
_REJECTED: Final = (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING)


class FaultText(str):
    """The text of an exception in a plugin, equal to the same text as a string.

    Attributes:
        place: the file, line and function of the plugin that raised, such as `mem_head.py:12 in filter`; may be empty.
    """

    __slots__ = ("place",)
    place: str

    def __new__(cls, text: str, place: str = "") -> "FaultText":
        """A text with its place."""
        self = super().__new__(cls, text)
        self.place = place
        return self

    @property
    def located(self) -> str:
        """The text with its place, where there is one: for people, in messages, events and logs."""
        return f"{self} ({self.place})" if self.place else str(self)


_TEXTS: Final = (str, FaultText)


class Status(msgspec.Struct, frozen=True):
    """A verdict. Two statuses are equal if code, reasons and plugin are.

    Attributes:
        code: the kind of verdict.
        reasons: why, word for word as in events and conditions; a value that is not a string is converted to one. Half
            surrogate pairs, as Python reads odd file names, become escapes, because UTF-8 does not have them.
        plugin: the plugin that returned it; the framework sets it.
        is_undecided: whether the pod is rejected because kubesched cannot decide about it, while kube-scheduler can.
            Reports then say that it is not known where the pod would go.

    Raises:
        TypeError: the code is not a Code, or the reasons are not a tuple.

    Example:
        rejected = Status.unschedulable("node(s) had no free device")
        assert rejected.is_rejected and rejected.message == "node(s) had no free device"
        assert Status.SUCCESS.is_success
    """

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    is_undecided: bool = False

    SUCCESS: ClassVar["Status"]
    SKIP: ClassVar["Status"]

    def __post_init__(self) -> None:
        """Refuse an invalid status where it is created, in the plugin.

        Raises:
            TypeError: the code is not a Code, or the reasons are not a tuple.
        """
        code: object = self.code
        reasons: object = self.reasons
        if not isinstance(code, Code):
            raise TypeError(f"the code of a Status must be a Code, such as Code.UNSCHEDULABLE; found {code!r:.80}")
        if not isinstance(reasons, tuple):
            raise TypeError(f"the reasons of a Status must be a tuple of strings; found {reasons!r:.80}")
        for reason in reasons:
            if type(reason) not in _TEXTS or not reason.isascii():  # a __str__ that fails has to do so in the plugin
                msgspec.structs.force_setattr(self, "reasons", tuple(map(_utf8, reasons)))
                break

    @classmethod
    def unschedulable(cls, *reasons: str) -> "Status":
        """The pod does not fit; evicting other pods might help."""
        return cls(Code.UNSCHEDULABLE, reasons)

    @classmethod
    def unresolvable(cls, *reasons: str) -> "Status":
        """The pod does not fit, whatever pods are evicted."""
        return cls(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)

    @classmethod
    def undecided(cls, *reasons: str) -> "Status":
        """Kubesched cannot decide about the pod, while kube-scheduler can: rejected, whatever pods are evicted."""
        return cls(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons, is_undecided=True)

    @classmethod
    def error(cls, *reasons: str) -> "Status":
        """The plugin could not answer; the attempt ends as SchedulerError."""
        return cls(Code.ERROR, reasons)

    @classmethod
    def pending(cls, *reasons: str) -> "Status":
        """Rejected until the plugin reports that another try is worthwhile."""
        return cls(Code.PENDING, reasons)

    @property
    def is_success(self) -> bool:
        """Whether the code is SUCCESS."""
        return self.code is _SUCCESS

    @property
    def is_skip(self) -> bool:
        """Whether the plugin asks not to be called again for this pod."""
        return self.code is _SKIP

    @property
    def is_rejected(self) -> bool:
        """Whether the pod was rejected, as opposed to a fault."""
        return self.code in _REJECTED

    @property
    def message(self) -> str:
        """The reasons in one line."""
        return ", ".join(self.reasons)

    @property
    def place(self) -> str:
        """Where a plugin raised, such as `mem_head.py:12 in filter`; empty where none did."""
        return next((reason.place for reason in self.reasons if isinstance(reason, FaultText)), "")

    @property
    def located(self) -> str:
        """The message for people, with the place where a plugin raised."""
        return FaultText(self.message, self.place).located

    def by(self, plugin: str) -> "Status":
        """The same verdict under a plugin's name, unless it has one."""
        return self if self.plugin else Status(self.code, self.reasons, plugin, self.is_undecided)


def _utf8(reason: object) -> str:
    text = str(reason).encode(errors="backslashreplace").decode()
    return FaultText(text, reason.place) if isinstance(reason, FaultText) else text


Status.SUCCESS = Status(Code.SUCCESS)
Status.SKIP = Status(Code.SKIP)


class PluginFault(Exception):
    """A hook failed; carries the status that ends the cycle."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


class PreFilterResult(msgspec.Struct, frozen=True):
    """An answer of PreFilter: success, and only these nodes can fit.

    Attributes:
        node_names: the names of the nodes; names that do not exist are ignored.

    Example:
        def pre_filter(self, state, pod, nodes):
            return PreFilterResult(frozenset(node.name for node in nodes if "example.com/gpu" in node.labels))
    """

    node_names: frozenset[str]


class PostFilterResult(msgspec.Struct, frozen=True):
    """What PostFilter returns with its status.

    Attributes:
        nominated_node_name: where the pod should go next; "" clears a nomination; None leaves it as it is.
        victims: pods to evict for it, most important first.
        n_pdb_violations: how many of them a disruption budget protects.
        writes: what else is to be written, such as a claim that is given back.

    Example:
        def post_filter(self, state, pod, diagnosis):
            return PostFilterResult("n1"), Status.SUCCESS
    """

    nominated_node_name: str | None = None
    victims: tuple[PodInfo, ...] = ()
    n_pdb_violations: int = 0
    writes: tuple[Action, ...] = ()


PostFiltered = tuple[PostFilterResult | None, Status]
"""What came of PostFilter."""
PostFilterAnswer = PostFiltered | Awaitable[PostFiltered]
"""What the hook gives: DefaultPreemption has to wait where extenders are asked."""


class VictimsOf(msgspec.Struct, frozen=True):
    """The pods that would have to leave one node.

    Attributes:
        pods: the most important first.
        n_pdb_violations: how many of them a disruption budget protects.
    """

    pods: tuple[PodInfo, ...]
    n_pdb_violations: int = 0


class Wait(msgspec.Struct, frozen=True):
    """An answer of Permit: the pod waits until a plugin allows or rejects it.

    Attributes:
        seconds: time after which the pod is rejected; kube-scheduler caps it at 15 minutes.

    Example:
        def permit(self, state, pod, node_name):
            return Wait(60.0)
    """

    seconds: float
