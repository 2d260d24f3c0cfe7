"""The answer to a call of the extender, with its data for logs, metrics and `/inspect`."""

from collections.abc import Sequence

import msgspec

from kubesched.framework import Status
from kubesched.wire import utf8_text


class Answer(msgspec.Struct):
    """What goes back, and what is worth knowing of it.

    Attributes:
        pieces: the body.
        status: of HTTP; anything but 200 only where the protocol has no other way to report a failure.
        pod: namespace/name, as far as it is known.
        n_offered, n_kept: nodes in the request, and nodes that the answer lets through.
        error: why the request failed.
        plugin: the plugin that failed, if one did.
        is_late: whether the time was over.
    """

    pieces: Sequence[msgspec.Raw | bytes] = ()
    status: int = 200
    pod: str = ""
    n_offered: int = 0
    n_kept: int = 0
    error: str = ""
    plugin: str = ""
    is_late: bool = False


def reason_text(status: Status) -> str:
    """Return the reasons as an answer carries them, and where a plugin raised; empty if no reason has words."""
    return utf8_text(Status(status.code, tuple(reason for reason in status.reasons if reason.strip())).located)
