"""What may happen to a request on its way to the API server, and which requests it happens to."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass
class Call:
    """A request that came.

    Attributes:
        at: when, in seconds since 1970.
        verb: list, watch, get, create, update, patch or delete.
        resource: such as `pods`, or with its subresource: `pods/binding`.
        name: of the object; empty for a list, a watch, and most of what is created.
        status: of the answer; 0 before, and where none came.
    """

    at: float
    verb: str
    resource: str
    name: str
    status: int = 0


@dataclass
class Fault:
    """What happens to the requests that it matches: a delay, then an answer of its own, none, or another one.

    Attributes:
        verb, resource, name: as of a Call; empty for any.
        times: how many requests meet it; 0 for all.
        share: of the requests that match.
        delay: seconds before anything else.
        status, headers, body: of the answer in place of that of the API server; a Status where there is no body. A
            watch that is answered in this way ends after its body.
        is_lost: whether the connection breaks in place of an answer.
        is_done: whether the API server carries the request out before that.
        change: makes another body of that of the API server; of some whole lines, where it is a watch.
        made: how many requests met it.
    """

    verb: str = ""
    resource: str = ""
    name: str = ""
    times: int = 0
    share: float = 1.0
    delay: float = 0.0
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    is_lost: bool = False
    is_done: bool = False
    change: Callable[[bytes], bytes] | None = None
    made: int = 0

    def matches(self, call: Call) -> bool:
        """Whether it happens to this request."""
        pairs = ((self.verb, call.verb), (self.resource, call.resource), (self.name, call.name))
        return all(wanted in ("", found) for wanted, found in pairs)

    @property
    def label(self) -> str:
        """What it is, for counts."""
        made = (f"answered {self.status}" if self.status else "", self.is_lost and "lost", self.change and "changed")
        what = next(filter(None, made), "slow")
        return f"{self.verb or 'any verb'} {self.resource or 'of anything'} {what}"


def called(method: str, path: str, *, is_watch: bool) -> Call:
    """The request that a method and a path are."""
    parts = path.strip("/").split("/")
    parts = parts[{"api": 2, "apis": 3}.get(parts[0], 0) :]  # after the version; whole for paths such as /version
    if len(parts) > 2 and parts[0] == "namespaces":
        parts = parts[2:]
    resource, name, subresource = (*parts, "", "", "")[:3]
    verb = VERBS.get(method) or ("watch" if is_watch else "get" if name else "list")
    return Call(time.time(), verb, f"{resource}/{subresource}" if subresource else resource, name)
