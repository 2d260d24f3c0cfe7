"""Watches all kinds that a scheduler reads, for one listener."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Final

from kubesched.api import WATCHED_KINDS, kind_named
from kubesched.cluster.api_client import ApiClient
from kubesched.cluster.reflector import SILENCE_SECONDS, Reflector, Sink
from kubesched.cluster.resources import FIELD_SELECTORS
from kubesched.errors import ClusterError

_NO_READERS: Final[Mapping[str, tuple[str, ...]]] = {}


class ClusterWatch:
    """A reflector for each kind, all with one sink, on the event loop's thread.

    Events of one kind come in the server's order. Kinds are independent of each other: a pod may come before its node.
    A kind that is optional and that the server does not have, or does not let this client list, counts as listed: there
    is nothing of it until there is. So does one that a plugin names and does without, after some seconds.

    Args:
        sink: what it raises ends `run`.
        kinds: as `kind_named` takes them; by default those that every scheduler watches.
        wants_raw: the kinds whose objects keep their JSON.
        silence: as for Reflector.
        readers: the names of the plugins that read a kind, by its key.
    Attributes:
        reflectors: by the key of the kind.
    """

    def __init__(
        self,
        client: ApiClient,
        sink: Sink,
        *,
        kinds: Collection[str] = WATCHED_KINDS,
        wants_raw: Collection[str] = (),
        silence: float = SILENCE_SECONDS,
        readers: Mapping[str, tuple[str, ...]] = _NO_READERS,
    ) -> None:
        self._timing = client.timing
        reflectors = [
            Reflector(
                client,
                kind,
                sink,
                field_selector=FIELD_SELECTORS.get(kind, ""),
                keep_source=kind in wants_raw,
                silence=silence,
                readers=readers.get(kind_named(kind).key, ()),
            )
            for kind in kinds
        ]
        self.reflectors = {reflector.kind: reflector for reflector in reflectors}

    async def run(self) -> None:
        """Watch until cancelled. Run it as a task of a group, and cancel the task to stop."""
        async with asyncio.TaskGroup() as group:
            for reflector in self.reflectors.values():
                group.create_task(reflector.run(), name=f"watch {reflector.kind}")

    async def synced(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109 - its error names what is missing
        """Wait until the sink has been sent everything that exists.

        Raises:
            ClusterError: that took too long; the message has the missing kinds and the reasons.
        """
        try:
            async with asyncio.timeout(timeout):
                for reflector in self.reflectors.values():
                    await reflector.synced.wait()
        except TimeoutError:
            missing = [r for r in self.reflectors.values() if not r.synced.is_set()]
            reasons = "; ".join(f"{r.kind}: {r.last_error or 'still in progress'}" for r in missing)
            raise ClusterError(f"not all kinds could be listed within {timeout:g} s: {reasons}") from None

    def age(self) -> float:
        """Seconds since the API server was last heard, of the kind for which that is longest; infinite before.

        A server that is well sends a bookmark about every minute when nothing happens.
        """
        heard = [reflector.last_contact for reflector in self.reflectors.values()]
        now = self._timing.monotonic()
        return max((float("inf") if contact is None else now - contact for contact in heard), default=0.0)
