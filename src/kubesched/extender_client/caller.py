"""Calls the extenders of a configuration for a scheduler."""

import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import AsyncExitStack

from kubesched.config import ExtenderConfig
from kubesched.errors import ExtenderError
from kubesched.extender_client.client import ExtenderClient
from kubesched.framework import ActionDone, CallExtender

_VERBS = {"filter": "filter_verb", "prioritize": "prioritize_verb", "preempt": "preempt_verb", "bind": "bind_verb"}


class ExtenderCaller:
    """Connections to the extenders of a configuration; to be used on one event loop.

    Args:
        on_called: gets the outcome of each call.
    Raises:
        ConfigError: a certificate, key, authority or address cannot be used.

    Example:
        configuration = load_configuration("scheduler.yaml")
        calls = ExtenderCaller(configuration.extenders)
        report = Simulator(load_snapshot("cluster.json"), configuration, extender_calls=calls).run()
    """

    def __init__(
        self, extenders: Iterable[ExtenderConfig], on_called: Callable[[ActionDone], None] = lambda done: None
    ) -> None:
        self._clients = {_connection(extender): ExtenderClient(extender) for extender in extenders}
        self._on_called = on_called

    async def call(self, action: CallExtender) -> ActionDone:
        """Send the request; the answer is the body of the response.

        Returns: with an error where there was no answer with status 200 in time.
        """
        began = time.monotonic()
        try:
            verb: str = getattr(action.extender, _VERBS[action.verb])
            client = self._clients[_connection(action.extender)]
            answer, error = await client.call(verb, action.body), ""
        except ExtenderError as failure:
            answer, error = b"", str(failure)
        done = ActionDone(action, error, answer, time.monotonic() - began)
        self._on_called(done)
        return done

    async def close(self) -> None:
        """Close the connections."""
        async with AsyncExitStack() as stack:  # closes them all, also when it is cancelled
            for client in self._clients.values():
                stack.push_async_callback(client.close)


def _connection(extender: ExtenderConfig) -> Hashable:
    """What a client needs of an extender: not the verbs, which a run can leave out (`without_bind`)."""
    return extender.url_prefix, extender.enable_https, extender.tls_config, extender.http_timeout
