"""The requests of scheduling and binding cycles to their driver, independent of any event loop.

A cycle is a coroutine. Where it has to wait it yields a request; the driver sends the answer back when there is
one: the live scheduler from asyncio, the simulator from its calendar.
"""

import math
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from typing import Any, TypeVar

import msgspec

from kubesched.api import kind_named
from kubesched.framework import Action, ActionDone, ObjectName, ReadObjects

T = TypeVar("T")


class WaitRequest(msgspec.Struct, frozen=True, eq=False):
    """Go on when the condition holds or the time is over; the answer says whether it holds.

    Attributes:
        reads: what the condition depends on; empty for anything. It is looked at when one of these changed. A function
            is asked each time that the condition was looked at and did not hold.
    """

    condition: Callable[[], object]
    seconds: float
    reads: tuple[ObjectName, ...] | Callable[[], tuple[ObjectName, ...]] = ()

    def names(self) -> tuple[ObjectName, ...]:
        """What the condition depends on as things are now."""
        return self.reads() if callable(self.reads) else self.reads


class PermitRequest(msgspec.Struct, frozen=True, eq=False):
    """Go on when the waiting pod with this uid was allowed, rejected or timed out; the answer is the Status."""

    uid: str


class Together(msgspec.Struct, frozen=True, eq=False):
    """Carry out several actions at once; the answer is the list of their outcomes, in this order."""

    actions: tuple[Action, ...]


Request = Action | Together | WaitRequest | PermitRequest


@types.coroutine
def suspend(request: Request | None) -> Generator[Request | None, Any, Any]:
    """Yield a request to the driver; gives its answer. None asks for nothing but the next `send`."""
    return (yield request)


def begun(cycle: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    """Send a coroutine to its first `suspend(None)`, so that closing it from then on runs its `finally`."""
    cycle.send(None)
    return cycle


@types.coroutine
def perform(action: Action) -> Generator[Request, Any, ActionDone]:
    """Have an action carried out and wait for its outcome."""
    done: ActionDone = yield action
    return done


async def perform_all(actions: Iterable[Action]) -> list[ActionDone]:
    """Have several actions carried out at once and wait for all outcomes, in the order of the actions."""
    together = tuple(actions)
    if len(together) == 1:  # a driver may make a task of each action, which one alone does not need
        return [await perform(together[0])]
    done: list[ActionDone] = await suspend(Together(together))
    return done


def straight(cycle: Coroutine[Any, Any, T]) -> T:
    """Run a cycle that has nothing to wait for.

    Raises:
        RuntimeError: it waits.
    """
    try:
        cycle.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    cycle.close()
    raise RuntimeError("this cycle waits for an answer, such as an extender's; its driver has to give it")


async def wait(condition: Callable[[], object], seconds: float, reads: ReadObjects = ()) -> bool:
    """Wait until a condition on the cluster state holds; see `Handle.wait`.

    Raises:
        TypeError, ValueError: `seconds` is not a finite number from 0, or `reads` is not a list of names.
        InputError: there is no such kind.
    """
    if not 0 <= seconds < math.inf:
        raise ValueError(f"seconds: found {seconds}; expected a finite number, 0 or more")
    if callable(reads):
        name_them = reads
        return bool(await suspend(WaitRequest(condition, seconds, lambda: _stored_names(name_them()))))
    return bool(await suspend(WaitRequest(condition, seconds, _stored_names(reads))))


def _stored_names(reads: Iterable[ObjectName]) -> tuple[ObjectName, ...]:
    if isinstance(reads, str):
        raise TypeError(f"reads: found {reads!r}; expected a list of names")
    return tuple(dict.fromkeys(map(_stored_under, reads)))


def _stored_under(name: ObjectName) -> ObjectName:
    """The name of objects with the kind as the cluster state has it."""
    return kind_named(name).key if isinstance(name, str) else (kind_named(name[0]).key, name[1])


async def drive(
    cycle: Coroutine[Any, Any, T],
    answer: Callable[[Request], Awaitable[Any]],
    gate: Callable[[], Awaitable[None]] | None = None,
) -> T:
    """Run a cycle to its end, for drivers that have an event loop.

    `answer` gets the requests of the cycle. The event loop answers everything else that it awaits, such as a connection
    of the plugin. With a `gate`, the cycle goes on only when that returns.
    """
    reply: Any = None
    failed: BaseException | None = None
    while True:
        try:
            request = cycle.send(reply) if failed is None else cycle.throw(failed)
        except StopIteration as done:
            result: T = done.value
            return result
        reply, failed = None, None
        try:
            is_ours = isinstance(request, Request)
            reply = await (answer(request) if is_ours else suspend(request))
        except BaseException as error:
            failed = error
        if gate is not None:
            try:
                await gate()
            except BaseException as error:
                failed = error
