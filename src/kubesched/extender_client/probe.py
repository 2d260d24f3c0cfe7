"""Calls each verb of configured extenders with a body that concerns no real pod, to see whether they answer."""

import time
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from kubesched.config import ExtenderConfig
from kubesched.errors import ExtenderError
from kubesched.extender_client.client import ExtenderClient
from kubesched.wire import (
    BindingArgs,
    MetaPod,
    MetaVictims,
    binding_error,
    binding_request,
    meta_preemption_request,
    name_of,
    names_request,
    nodes_request,
    parse_filter_answer,
    parse_preemption_answer,
    parse_priorities,
    preemption_request,
)

_NAME: Final = "kubesched-probe"
_MAX_SCORE: Final = 10  # MaxExtenderPriority
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
        ("prioritize", config.prioritize_verb, nodes, _scored),
        ("preempt", config.preempt_verb, victims, _preempted),
        ("bind", config.bind_verb, binding, _bound),
    ]
    return [call for call in calls if call[1]]


# What an answer says. Each raises ExtenderError where kube-scheduler could not use such an answer for a pod.


def _filtered(body: bytes, config: ExtenderConfig) -> str:
    answer = parse_filter_answer(body)
    if answer.error:
        return _error_given(answer.error)
    has_names = config.node_cache_capable and answer.names is not None  # names count for such an extender alone
    if not has_names and answer.nodes is None and not answer.failed and not answer.unresolvable:
        if answer.names is not None:
            raise ExtenderError(
                "the answer has NodeNames and no Nodes; kube-scheduler does not read NodeNames without "
                "nodeCacheCapable: true, and finds no node left"
            )
        wanted = "neither NodeNames nor Nodes" if config.node_cache_capable else "no Nodes"
        raise ExtenderError(f"the answer has {wanted}, and no node in FailedNodes; kube-scheduler finds no node left")
    names = answer.names if has_names else [name_of(node) for node in answer.nodes or ()]
    _check_hosts(names or ())
    return f"{len(names or ())} of 1 node left"


def _scored(body: bytes) -> str:
    scores = parse_priorities(body)
    _check_hosts(one.host for one in scores)
    for one in scores:
        if not 0 <= one.score <= _MAX_SCORE:
            raise ExtenderError(f"the answer has a score of {one.score}; expected 0 to {_MAX_SCORE}")
    return f"a score of {scores[0].score}" if scores else "no score"


def _preempted(body: bytes) -> str:
    candidates = parse_preemption_answer(body)
    _check_hosts(candidates)
    return f"{len(candidates)} of 1 candidate left"


def _bound(body: bytes) -> str:
    error = binding_error(body)
    return _error_given(error) if error else "no error, though there is no such pod"


def _error_given(error: str) -> str:
    return f'the error "{error}"'


def _check_hosts(names: Iterable[str]) -> None:
    for name in names:
        if name != _NAME:
            raise ExtenderError(f'the answer has the node "{name}"; only "{_NAME}" was asked about')


async def _called(client: ExtenderClient, verb: str, name: str, body: bytes, read: Read) -> Probed:
    began = time.monotonic()
    answer = error = ""
    try:
        answer = read(await client.call(name, body))
    except ExtenderError as failure:
        error = str(failure)
    return Probed(verb=verb, url=client.url(name), seconds=time.monotonic() - began, answer=answer, error=error)
