"""Rules shared by several plugins: quantities, a pod's requests, selectors, tolerations, host ports (kube-scheduler
v1.36).

Everything works on the plain JSON dicts. An absent field and an explicit null mean the same.
"""

import math
import re
from fractions import Fraction
from functools import cache

SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{letter: Fraction(1000**i) for i, letter in enumerate("kMGTPE", 1)},
    **{letter + "i": Fraction(1024**i) for i, letter in enumerate("KMGTPE", 1)},
}
QUANTITY = re.compile(r"([+-]?[0-9]+\.?[0-9]*|[+-]?\.[0-9]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i|)")
MAX_INT64 = 2**63 - 1

LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
LABEL_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
DECIMAL = re.compile(r"[+-]?[0-9]+")

DEFAULT_REQUESTS = {"cpu": Fraction(1, 10), "memory": Fraction(200 * 1024 * 1024)}  # filled in for scoring


# --- quantities: exact fractions until the very end ---


@cache
def quantity(text: str | int | float) -> Fraction:
    """The exact value of a Kubernetes quantity: `100m`, `1.5Gi`, `1e3`, `.5`; below 1n is rounded up.

    Binary suffixes stop at the largest int64 (`9Ei`). Decimal amounts of 19 digits and more are not covered: beyond
    int64 they wrap around upstream.
    """
    match = QUANTITY.fullmatch(str(text))
    if not match:
        raise ValueError(f"not a quantity: {text!r}")
    number, suffix = match.groups()
    factor = SUFFIXES[suffix] if suffix in SUFFIXES else Fraction(10) ** int(suffix[1:])
    value = Fraction(number) * factor
    if suffix.endswith("i"):
        value = min(value, Fraction(MAX_INT64))
    return Fraction(math.ceil(value * 10**9), 10**9)


def units(name: str, amount: Fraction) -> int:
    """The integer the scheduler counts in: cpu in milli-CPU, everything else in whole units; rounded up; 0 beyond
    int64.
    """
    whole = math.ceil(amount * 1000 if name == "cpu" else amount)
    return whole if whole <= MAX_INT64 else 0


def is_extended(name: str) -> bool:
    return (
        "/" in name
        and "kubernetes.io/" not in name
        and not name.startswith("requests.")
        and is_qualified_name("requests." + name)
    )


def is_scalar(name: str) -> bool:
    """Whether the scheduler keeps a resource besides cpu, memory and ephemeral-storage."""
    return is_extended(name) or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name


def is_qualified_name(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return (
        bool(LABEL_NAME.fullmatch(name))
        and len(name) <= 63
        and (not slash or (bool(DNS_SUBDOMAIN.fullmatch(prefix)) and len(prefix) <= 253))
    )


# --- requests of a pod ---

Amounts = dict[str, Fraction]


def amounts(requests: dict | None) -> Amounts:
    return {name: quantity(text) for name, text in (requests or {}).items()}


def add(a: Amounts, b: Amounts) -> Amounts:
    return {name: a.get(name, Fraction(0)) + b.get(name, Fraction(0)) for name in a | b}


def larger(a: Amounts, b: Amounts) -> Amounts:
    """Per resource the larger one; a name that only one has is kept."""
    return {name: max(x[name] for x in (a, b) if name in x) for name in a | b}


def pod_requests(
    pod: dict, *, status: bool = False, pod_level: bool = True, defaults: Amounts | None = None
) -> Amounts:
    """What a pod asks for. `status`: count what a resized container still holds; `pod_level`: honour spec.resources;
    `defaults`: filled in per container where it has no request of that name."""
    spec = pod["spec"]
    total: Amounts = {}
    for container in spec["containers"]:
        total = add(total, container_requests(pod, container, "containerStatuses" if status else None, defaults))
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            held = container_requests(pod, container, "initContainerStatuses" if status else None, defaults)
            total, sidecars = add(total, held), add(sidecars, held)
        else:
            peak = larger(peak, add(container_requests(pod, container, None, defaults), sidecars))
    total = larger(total, peak)
    if pod_level:
        total = total | pod_level_requests(pod, status)
    return add(total, amounts(spec.get("overhead")))


def container_requests(pod: dict, container: dict, statuses: str | None, defaults: Amounts | None) -> Amounts:
    found = amounts((container.get("resources") or {}).get("requests"))
    for held in (pod.get("status") or {}).get(statuses) or () if statuses else ():
        if held["name"] == container["name"] and held.get("resources") is not None:
            found = resized(pod, found, held)
    return (defaults or {}) | found


def resized(pod: dict, wanted: Amounts, held: dict) -> Amounts:
    """In-place resize: the largest of what a container wants, was given and has; what it wants is left out while
    infeasible.
    """
    has = larger(amounts(held["resources"].get("requests")), amounts(held.get("allocatedResources")))
    pending = [c for c in (pod.get("status") or {}).get("conditions") or () if c["type"] == "PodResizePending"]
    return has if pending and pending[0].get("reason") == "Infeasible" else larger(wanted, has)


def pod_level_requests(pod: dict, status: bool = False) -> Amounts:
    """The requests of spec.resources that replace the containers' sum: cpu, memory and hugepages only."""
    wanted = amounts((pod["spec"].get("resources") or {}).get("requests"))
    wanted = {name: q for name, q in wanted.items() if name in ("cpu", "memory") or name.startswith("hugepages-")}
    held = pod.get("status") or {}
    if status and held.get("resources") is not None:
        actual = resized(pod, wanted, held)
        wanted = {name: actual.get(name, Fraction(0)) for name in wanted}
    return wanted


def non_zero_requests(pod: dict) -> Amounts:
    """What a pod on a node counts with in Fit's score: defaults where a container has no cpu or memory request.
    With pod-level
    requests only where the pod's whole request has none."""
    defaults = DEFAULT_REQUESTS
    if pod_level_requests(pod):
        requests = pod_requests(pod, status=True)
        defaults = {name: q for name, q in defaults.items() if name not in requests}
    return pod_requests(pod, status=True, defaults=defaults)


# --- labels ---


class ParseError(Exception):
    """A selector requirement that Kubernetes cannot parse."""


def labels_of(obj: dict) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def requirement_matches(requirement: dict, labels: dict[str, str]) -> bool:
    """One matchExpressions entry. Gt and Lt exist in node selectors only."""
    key, operator, values = requirement["key"], requirement["operator"], requirement.get("values") or []
    if operator in ("In", "NotIn"):
        valid = len(values) > 0
    elif operator in ("Exists", "DoesNotExist"):
        valid = not values
    elif operator in ("Gt", "Lt"):
        valid = len(values) == 1 and as_int64(values[0]) is not None
    else:
        valid = False
    if not valid or not is_qualified_name(key) or not all(is_label_value(v) for v in values):
        raise ParseError(f"{key} {operator} {values}")
    if operator == "In":
        return key in labels and labels[key] in values
    if operator == "NotIn":
        return key not in labels or labels[key] not in values
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    mine = as_int64(labels.get(key, ""))
    if mine is None:
        return False
    return mine > int(values[0]) if operator == "Gt" else mine < int(values[0])


def is_label_value(text: str) -> bool:
    return len(text) <= 63 and bool(LABEL_VALUE.fullmatch(text))


def as_int64(text: str) -> int | None:
    value = int(text) if DECIMAL.fullmatch(text) else None
    return value if value is not None and -MAX_INT64 - 1 <= value <= MAX_INT64 else None


def selector_matches(selector: dict | None, labels: dict[str, str]) -> bool:
    """A LabelSelector: null selects nothing, {} everything."""
    if selector is None:
        return False
    return all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()) and all(
        requirement_matches(r, labels) for r in selector.get("matchExpressions") or ()
    )


def is_empty_selector(selector: dict | None) -> bool:
    """{} is empty; null is not ("nothing")."""
    return selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions")


# --- node affinity ---


def node_term_matches(term: dict, node_name: str, labels: dict[str, str]) -> bool:
    """One NodeSelectorTerm; an empty one matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    results = [requirement_matches(r, labels) for r in expressions]  # all of them: any may be a ParseError
    results += [field_matches(r, node_name) for r in fields]
    return all(results)


def field_matches(requirement: dict, node_name: str) -> bool:
    values = requirement.get("values") or []
    if requirement["operator"] not in ("In", "NotIn") or len(values) != 1:
        raise ParseError(f"field {requirement['key']}")
    actual = node_name if requirement["key"] == "metadata.name" else ""
    return (actual == values[0]) == (requirement["operator"] == "In")


def node_selector_matches(selector: dict, node_name: str, labels: dict[str, str]) -> bool:
    """A NodeSelector: its terms are ORed, and one that does not parse matches nothing."""
    for term in selector.get("nodeSelectorTerms") or ():
        try:
            if node_term_matches(term, node_name, labels):
                return True
        except ParseError:
            pass
    return False


def node_affinity(pod: dict) -> dict:
    return (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}


def required_node_affinity_matches(pod: dict, node_name: str, labels: dict[str, str]) -> bool:
    """spec.nodeSelector and the required node affinity terms."""
    if any(labels.get(key) != value for key, value in (pod["spec"].get("nodeSelector") or {}).items()):
        return False
    required = node_affinity(pod).get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or node_selector_matches(required, node_name, labels)


# --- taints ---


def tolerates(toleration: dict, taint: dict) -> bool:
    effect, key, operator = toleration.get("effect"), toleration.get("key"), toleration.get("operator") or "Equal"
    if (effect and effect != taint["effect"]) or (key and key != taint["key"]):
        return False
    return operator == "Exists" or (
        operator == "Equal" and (toleration.get("value") or "") == (taint.get("value") or "")
    )


def is_tolerated(tolerations: list[dict], taint: dict) -> bool:
    return any(tolerates(t, taint) for t in tolerations)


def tolerations_of(pod: dict) -> list[dict]:
    return pod["spec"].get("tolerations") or []


def has_untolerated_taint(pod: dict, taints: list[dict]) -> bool:
    """Whether a NoSchedule or NoExecute taint keeps the pod away."""
    return any(t["effect"] in ("NoSchedule", "NoExecute") and not is_tolerated(tolerations_of(pod), t) for t in taints)


# --- host ports ---


def host_ports(pod: dict) -> list[tuple[str, str, int]]:
    """(ip, protocol, port) of app containers and sidecars."""
    sidecars = [c for c in pod["spec"].get("initContainers") or () if c.get("restartPolicy") == "Always"]
    return [
        (p.get("hostIP") or "0.0.0.0", p.get("protocol") or "TCP", p["hostPort"])
        for c in sidecars + pod["spec"]["containers"]
        for p in c.get("ports") or ()
        if p.get("hostPort", 0) > 0
    ]


# --- other facts of a pod ---


def priority_of(pod: dict) -> int:
    return pod["spec"].get("priority") or 0


def namespace_of(pod: dict) -> str:
    return pod["metadata"]["namespace"]


def full_name(pod: dict) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def is_terminating(pod: dict) -> bool:
    return pod["metadata"].get("deletionTimestamp") is not None
