"""Allocates the devices of a node to claims, all claims or none: the first assignment in a fixed order (kube-scheduler
v1.36 DynamicResources).
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from tests.reference import cel
from tests.reference.cluster import Cluster, Node
from tests.reference.devices import Device, DeviceId, Pool, Use, pools_on
from tests.reference.objects import quantity

MOST_DEVICES = 32
MOST_STEPS = 100_000


class AllocationError(Exception):
    """A fault that ends the attempt; the message is upstream's text."""


class TooLongError(Exception):
    """The search takes so long that nobody wants to wait for it."""


@dataclass(frozen=True)
class Ask:
    """A request or subrequest of a claim. `name` is the one in results, `number` the place of the request."""

    claim: int
    number: int
    name: str
    body: dict

    @property
    def key(self) -> tuple[int, str]:
        return self.claim, self.name

    @property
    def short_name(self) -> str:
        return self.name.rpartition("/")[2]

    @property
    def is_for_all(self) -> bool:
        return self.body["allocationMode"] == "All"

    @property
    def is_admin(self) -> bool:
        return bool(self.body.get("adminAccess"))

    @property
    def amounts(self) -> dict[str, Fraction]:
        asked = (self.body.get("capacity") or {}).get("requests") or {}
        return {name: quantity(text) for name, text in asked.items()}


@dataclass(frozen=True)
class Choice:
    """A device for a request; of a shared one so much of each capacity."""

    ask: Ask
    device: Device
    consumed: dict[str, Fraction]


def alternatives(request: dict) -> list[tuple[str, dict]]:
    """What a request asks for, in order of preference, with the names that results have."""
    if "exactly" in request:
        return [(request["name"], request["exactly"])]
    return [(f"{request['name']}/{one['name']}", one) for one in request["firstAvailable"]]


class Search:
    """One search on one node. `run` gives the choices by claim, or None."""

    def __init__(self, cluster: Cluster, node: Node, claims: list[dict], use: Use):
        self.cluster, self.claims, self.use = cluster, claims, use
        self.pools = pools_on(node, cluster)
        usable = [pool for pool in self.pools if pool.is_complete and pool.is_valid]
        self.places = [(pool, device) for pool in usable for device in pool.devices]
        self.all_places: dict[tuple[int, str], list[tuple[Pool, Device]]] = {}
        self.chosen: list[list[Choice]] = [[] for _ in claims]
        self.users: dict[DeviceId, list[Choice]] = {}
        self.distinct: dict[tuple[int, int], dict[str, object]] = {}  # by claim and constraint, then by request
        self.selected: dict[tuple[tuple[int, str], DeviceId], bool] = {}
        self.steps = 0
        self.asks = [
            [
                [Ask(i, number, *one) for one in alternatives(request)]
                for number, request in enumerate(claim["spec"]["devices"].get("requests") or ())
            ]
            for i, claim in enumerate(claims)
        ]

    def run(self) -> list[list[Choice]] | None:
        for i in range(len(self.claims)):
            self.check(i)
        return self.chosen if self.request(0, 0) else None

    # --- before the search: limits, and which devices "all" are ---

    def check(self, claim: int) -> None:
        total = 0
        for i, constraint in enumerate(self.constraints(claim)):
            if not ({"matchAttribute", "distinctAttribute"} & constraint.keys()):
                text = "empty constraint (unsupported constraint type?)"
                raise AllocationError(f"claim {self.name(claim)}, constraint #{i}: {text}")
        for asks in self.asks[claim]:
            for ask in asks:
                if ask.is_for_all:
                    self.all_places[ask.key] = list(self.all_devices(ask))
            total += min(map(self.count, asks))
        if total > MOST_DEVICES:
            limit = f"exceeds the claim limit of {MOST_DEVICES}"
            raise AllocationError(f"claim {self.name(claim)}: number of requested devices {total} {limit}")

    def all_devices(self, ask: Ask) -> Iterator[tuple[Pool, Device]]:
        for pool in self.pools:
            if not (pool.is_complete and pool.is_valid):
                state = "invalid" if pool.is_complete else "being updated"
                what = f"asks for all devices, but resource pool {pool.driver}/{pool.name} is currently {state}"
                raise AllocationError(f"claim {self.name(ask.claim)}, request {ask.short_name}: {what}")
            for device in pool.devices:
                others = self.use.shared.get(device.id) or Counter()
                if self.is_selected(ask, device) and self.consumption(ask, device, others) is not None:
                    yield pool, device

    def count(self, ask: Ask) -> int:
        return len(self.all_places[ask.key]) if ask.is_for_all else ask.body["count"]

    # --- the search: claim by claim, request by request, device by device ---

    def request(self, claim: int, number: int) -> bool:
        if claim == len(self.claims):
            return True
        if number == len(self.asks[claim]):
            return self.request(claim + 1, 0)
        for ask in self.asks[claim][number]:
            n = self.count(ask)
            if 0 < n <= MOST_DEVICES - len(self.chosen[claim]) and self.devices(ask, n, 0):
                return True
        return False

    def devices(self, ask: Ask, missing: int, start: int) -> bool:
        """Choose so many more devices for a request, each behind the one before."""
        if not missing:
            return self.request(ask.claim, ask.number + 1)
        places, end = self.places, len(self.places)
        if ask.is_for_all:
            places, end = self.all_places[ask.key], start + 1
        for i in range(start, end):
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise TooLongError
            choice = self.choice(ask, *places[i])
            if choice is None:
                continue
            self.take(choice)
            if self.devices(ask, missing - 1, i + 1):
                return True
            self.take_back(choice)
        return False

    def take(self, choice: Choice) -> None:
        self.chosen[choice.ask.claim].append(choice)
        self.users.setdefault(choice.device.id, []).append(choice)
        for key, attribute in self.concerned(choice.ask, "distinctAttribute"):
            self.distinct.setdefault(key, {})[choice.ask.name] = choice.device.attribute(attribute)

    def take_back(self, choice: Choice) -> None:
        """Upstream remembers one value per request, and forgets it when a device of the request is taken back."""
        self.chosen[choice.ask.claim].pop()
        self.users[choice.device.id].pop()
        for key, _ in self.concerned(choice.ask, "distinctAttribute"):
            self.distinct[key].pop(choice.ask.name, None)

    # --- whether a request may have a device ---

    def choice(self, ask: Ask, pool: Pool, device: Device) -> Choice | None:
        if not self.is_free(ask, device):
            return None
        if not ask.is_for_all and not self.is_selected(ask, device):
            return None
        consumed = self.consumption(ask, device, self.consumed_of(device))
        if consumed is None or not device.is_tolerated(ask.body.get("tolerations") or []):
            return None
        if not self.has_counters(pool, device):
            return None
        if not self.is_allowed_by_constraints(ask, device):
            if ask.is_for_all:
                text = f"cannot add device {'/'.join(device.id)} because a claim constraint would not be satisfied"
                raise AllocationError(f"claim {self.name(ask.claim)}, request {ask.short_name}: {text}")
            return None
        return Choice(ask, device, consumed)

    def is_free(self, ask: Ask, device: Device) -> bool:
        users = [choice.ask for choice in self.users.get(device.id, ())]
        if device.is_shareable:
            is_mine = any((user.claim, user.number) == (ask.claim, ask.number) for user in users)
            return not is_mine and (ask.is_admin or device.id not in self.use.taken)
        if any(user.claim == ask.claim for user in users):
            return False
        return ask.is_admin or not (users or device.id in self.use.taken or device.id in self.use.shared)

    def is_selected(self, ask: Ask, device: Device) -> bool:
        key = ask.key, device.id
        if key not in self.selected:
            self.selected[key] = all(self.evaluated(*one, device) for one in self.selectors(ask))
        return self.selected[key]

    def selectors(self, ask: Ask) -> Iterator[tuple[str, str]]:
        """The expressions of a request, each with the words for where it is."""
        class_name = ask.body["deviceClassName"]
        of_class = self.cluster.get("DeviceClass", class_name).get("spec") or {}
        for owner, spec in ((f"class {class_name}", of_class), (f"claim {self.name(ask.claim)}", ask.body)):
            for i, selector in enumerate(spec.get("selectors") or ()):
                yield f"{owner}: selector #{i}", selector["cel"]["expression"]

    @staticmethod
    def evaluated(where: str, expression: str, device: Device) -> bool:
        try:
            return cel.matches(expression, device.seen_by_cel)
        except cel.CelError as error:
            raise AllocationError(f"{where}: CEL runtime error: {error}") from error

    @staticmethod
    def consumption(ask: Ask, device: Device, used: Counter[str]) -> dict[str, Fraction] | None:
        """What a request takes of each capacity of a shared device, nothing of another; None for too much."""
        asked = ask.amounts
        if any(amount > device.capacity.get(name, -1) for name, amount in asked.items()):
            return None
        if not device.is_shareable:
            return {}
        consumed = {}
        for name, capacity in (device.spec.get("capacity") or {}).items():
            amount = consumed_amount(capacity, asked.get(name))
            if amount is None or used[name] + amount > device.capacity[name]:
                return None
            consumed[name] = amount
        return consumed

    def consumed_of(self, device: Device) -> Counter[str]:
        used = Counter(self.use.shared.get(device.id) or {})
        for choice in self.users.get(device.id, ()):
            used.update(choice.consumed)
        return used

    def is_allowed_by_constraints(self, ask: Ask, device: Device) -> bool:
        for key, attribute in self.concerned(ask, "matchAttribute"):
            value = device.attribute(attribute)
            others = [one for one in self.chosen[ask.claim] if key in dict(self.concerned(one.ask, "matchAttribute"))]
            if value is None or any(one.device.attribute(attribute) != value for one in others):
                return False
        for key, attribute in self.concerned(ask, "distinctAttribute"):
            value = device.attribute(attribute)
            if value is None or value in self.distinct.get(key, {}).values():
                return False
        return True

    def has_counters(self, pool: Pool, device: Device) -> bool:
        """A device that is shared already uses no more counters."""
        if not device.counters or (device.is_shareable and (self.users.get(device.id) or device.id in self.use.shared)):
            return True
        used = self.use.counters(pool)
        for one in self.chosen_of(pool):
            used.update(one.counters)
        return all(used[counter] + amount <= pool.counters[counter] for counter, amount in device.counters.items())

    def chosen_of(self, pool: Pool) -> Iterator[Device]:
        """The devices of a pool that were chosen so far and use counters; one that is shared uses them once."""
        for (driver, name, _), choices in self.users.items():
            if (driver, name) == (pool.driver, pool.name) and choices:
                device = choices[0].device
                if not device.is_shareable:
                    yield from (choice.device for choice in choices)
                elif device.id not in self.use.shared:
                    yield device

    # --- small questions ---

    def name(self, claim: int) -> str:
        metadata = self.claims[claim]["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"

    def constraints(self, claim: int) -> list[dict]:
        return self.claims[claim]["spec"]["devices"].get("constraints") or []

    def concerned(self, ask: Ask, kind: str) -> Iterator[tuple[tuple[int, int], str]]:
        """The constraints of a kind that a request is subject to: claim and place, and the attribute."""
        for i, constraint in enumerate(self.constraints(ask.claim)):
            names = constraint.get("requests")
            if kind in constraint and (not names or ask.name in names or ask.name.partition("/")[0] in names):
                yield (ask.claim, i), constraint[kind]


def consumed_amount(capacity: dict, asked: Fraction | None) -> Fraction | None:
    """What a request consumes of one capacity of a shared device; None where the policy does not allow it."""
    policy = capacity.get("requestPolicy") or {}
    if asked is None:
        return quantity(policy.get("default", capacity["value"]))
    if "validValues" in policy:
        return min((value for value in map(quantity, policy["validValues"]) if value >= asked), default=None)
    if "validRange" not in policy:
        return asked
    limits = policy["validRange"]
    least = quantity(limits["min"])
    amount = max(asked, least)
    if "step" in limits:
        step = quantity(limits["step"])
        amount = least + math.ceil((amount - least) / step) * step
    return None if "max" in limits and amount > quantity(limits["max"]) else amount
