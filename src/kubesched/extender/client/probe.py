"""Calls each verb of configured extenders with a body that concerns no real pod, to see whether they answer."""

import time
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from kubesched.config import ExtenderConfig
from kubesched.errors import ExtenderError
from kubesched.extender.client.client import ExtenderClient
from kubesched.extender.wire import (
    BindingArgs,
    MetaPod,
    MetaVictims,
    binding_error,
    binding_request,
    meta_preemption_request,
    names_request,
    nodes_request,
    parse_filter_answer,
    parse_preemption_answer,
    parse_priorities,
    preemption_request,
)

__all__ = ["Probed", "probe"]

_NAME: Final = "kubesched-probe"
_UID: Final = "00000000-0000-0000-0000-000000000000"
_OBJECT: Final = b'{"metadata":{"name":"%b"},"spec":{},"status":{}}'
_POD: Final = (
    b'{"metadata":{"name":"kubesched-probe","namespace":"default","uid":"%b"},'
    b'"spec":{"containers":[{"name":"probe","resources":{}}]},"status":{}}' % _UID.encode()
)


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one call.

    Attributes:
        seconds: until the answer, or until there was none.
        answer: what it said, in words; empty where there was no valid answer.
        error: why there was no valid answer; empty where there was one.
    """

    verb: str
    url: str
    seconds: float
    answer: str = ""
    error: str = ""


async def probe(extenders: Iterable[ExtenderConfig]) -> list[Probed]:
    """Call every verb of every extender, one after another.

    Raises:
        ConfigError: an extender's certificates or address cannot be used.
    """
    probed = []
    for config in extenders:
        async with ExtenderClient(config) as client:
            for verb, name, body, read in _calls(config):
                probed.append(await _called(client, verb, name, body, read))
    return probed


Read = Callable[[bytes], str]


def _calls(config: ExtenderConfig) -> list[tuple[str, str, bytes, Read]]:
    """The verbs that it has: (verb, its name in the URL, body, what the answer says)."""
    if config.node_cache_capable:
        nodes = names_request(_POD, [_NAME])
        victims = meta_preemption_request(_POD, {_NAME: MetaVictims((MetaPod(_UID),))})
    else:
        nodes = nodes_request(_POD, [_OBJECT % _NAME.encode()])
        victims = preemption_request(_POD, {_NAME: ([_POD], 0)})
    binding = binding_request(BindingArgs(_NAME, "default", _UID, _NAME))
    calls: list[tuple[str, str, bytes, Read]] = [
        ("filter", config.filter_verb, nodes, lambda body: _filtered(body, config)),
        ("prioritize", config.prioritize_verb, nodes, lambda body: f"{len(parse_priorities(body))} scores"),
        ("preempt", config.preempt_verb, victims, lambda body: f"{len(parse_preemption_answer(body))} candidates"),
        ("bind", config.bind_verb, binding, lambda body: binding_error(body) or "no error"),
    ]
    return [call for call in calls if call[1]]


def _filtered(body: bytes, config: ExtenderConfig) -> str:
    answer = parse_filter_answer(body)
    if answer.error:
        return answer.error
    has_names = config.node_cache_capable and answer.names is not None  # names count for such an extender alone
    survivors = answer.names if has_names else answer.nodes
    return f"{len(survivors or ())} of 1 node left"


async def _called(client: ExtenderClient, verb: str, name: str, body: bytes, read: Read) -> Probed:
    began = time.monotonic()
    answer = error = ""
    try:
        answer = read(await client.call(name, body))
    except ExtenderError as failure:
        error = str(failure)
    return Probed(verb=verb, url=client.url(name), seconds=time.monotonic() - began, answer=answer, error=error)
