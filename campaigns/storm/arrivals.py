"""Pods that fit: they come at a steady rate, and end some time later. Pods that are helped late get what they need."""

import time
from collections import deque
from random import Random

from benchmarks.scheduling.storms import Request

from campaigns.storm.account import Plan
from campaigns.storm.happenings import helping
from campaigns.storm.observer import Observer
from campaigns.storm.pods import Pools, arriving
from tests.integration.api_client import ApiClient

BETWEEN_SECONDS = 0.25  # two pods
PER_OPEN_NODE = 20  # pods, before the oldest ones end


class Arrivals:
    """What comes during a storm, in an order that the seed decides.

    Args:
        n_helped: pods of each kind that are helped.
    Attributes:
        created: when each pod was created, by name, in seconds since 1970.
        helped: when each pod that waited was helped.
    """

    def __init__(self, plan: Plan, pools: Pools, n_helped: int, random: Random) -> None:
        self.created: dict[str, float] = {}
        self.helped: dict[str, float] = {}
        n = int(60 * plan.minutes / BETWEEN_SECONDS)
        self._pods = arriving(n, pools, random)
        help_for = helping(n_helped, pools, random)
        steps = sorted(random.sample(range(n // 10, n * 9 // 10), len(help_for)))
        self._help = dict(zip(steps, help_for, strict=True))
        self._most = PER_OPEN_NODE * pools.n_open
        self._living: deque[str] = deque()

    def come(self, client: ApiClient, observer: Observer) -> None:
        """Let all of it come, in real time."""
        began = time.monotonic()
        for i, pod in enumerate(self._pods):
            time.sleep(max(began + i * BETWEEN_SECONDS - time.monotonic(), 0))
            name = pod["metadata"]["name"]
            self.created[name] = time.time()
            client.create(pod)
            if name.startswith("fitting-"):
                self._living.append(name)
            self._end_oldest(client, observer)
            if i in self._help:
                self._give(client, *self._help[i])

    def _end_oldest(self, client: ApiClient, observer: Observer) -> None:
        while len(self._living) > self._most and self._living[0] in observer.bound:
            client.delete("Pod", self._living.popleft())

    def _give(self, client: ApiClient, name: str, requests: list[Request]) -> None:
        self.helped[name] = time.time()
        for method, path, body in requests:
            client.call(method, path, body)
