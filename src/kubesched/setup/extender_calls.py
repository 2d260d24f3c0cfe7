"""How drivers answer a scheduling cycle, which asks for nothing but calls of extenders.

A driver gives the `extenders` of its Setup to the Scheduler, and runs its `attempt` with the Setup's `answer_cycle`.
Without calls, the Scheduler gets no extenders and asks nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Protocol

import msgspec

from kubesched.config import ExtenderConfig
from kubesched.framework import Action, ActionDone, CallExtender
from kubesched.scheduler import Request, Together


class ExtenderCalls(Protocol):
    """Calls the extenders of a configuration, such as `extender_client.ExtenderCaller`."""

    async def call(self, action: CallExtender) -> ActionDone:
        """Send the request; the answer is the body of the response."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def answering_calls(calls: ExtenderCalls | None) -> Callable[[Request], Awaitable[Any]]:
    """What `drive` asks for a scheduling cycle. It refuses what a hook asks for beside extenders."""

    def answer(request: Request) -> Awaitable[Any]:
        if isinstance(request, Together):
            return asyncio.gather(*map(answer, request.actions))
        if calls is not None and isinstance(request, CallExtender):
            return calls.call(request)
        if isinstance(request, Action):
            raise RuntimeError(f"this run cannot perform actions: {request!r}")
        raise RuntimeError("this run cannot wait for conditions")

    return answer


def sent_kinds(extenders: Iterable[ExtenderConfig]) -> frozenset[str]:
    """The kinds whose objects extenders are sent as they came in."""
    kinds = set()
    for extender in extenders:
        if extender.filter_verb or extender.prioritize_verb or extender.preempt_verb:
            kinds.add("Pod")
        if not extender.node_cache_capable and (extender.filter_verb or extender.prioritize_verb):
            kinds.add("Node")
    return frozenset(kinds)


def without_bind(extenders: Iterable[ExtenderConfig]) -> tuple[ExtenderConfig, ...]:
    """The same extenders, none of which binds: for runs that leave the cluster alone."""
    return tuple(msgspec.structs.replace(extender, bind_verb="") for extender in extenders)
