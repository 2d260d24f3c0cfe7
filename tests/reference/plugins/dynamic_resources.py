"""kube-scheduler v1.36 DynamicResources, with its gates at their defaults, up to what Reserve would take.

Not covered: PostFilter, what PreBind writes, and claims whose devices failed to bind.
"""

from collections.abc import Iterator

from tests.reference.allocation import AllocationError, Choice, Search, alternatives
from tests.reference.devices import devices_in_use
from tests.reference.framework import SKIP, Code, Plugin, PreFilter, Status, default_normalize
from tests.reference.objects import container_requests, full_name, node_selector_matches, quantity

SPECIAL = "resource.kubernetes.io/extended-resource-claim"
IMPLICIT = "deviceclass.resource.kubernetes.io/"
Amounts = dict[str, int]


class ClaimError(Exception):
    """Why a pod has to wait for a claim."""


class DynamicResources(Plugin):
    """Every claim of the pod must have its devices on the node, or find them there. The score likes the alternatives
    that requests list first.
    """

    name = "DynamicResources"

    def __init__(self, args: dict | None = None):
        super().__init__(args)
        self.claims: list[dict] = []
        self.chosen: dict[str, list[list[Choice]]] = {}  # by node, the devices of each claim that is allocated there

    def pre_enqueue(self, pod: dict, cluster) -> Status | None:
        try:
            list(claims_of(pod, cluster))
        except ClaimError as error:
            return self.unresolvable(str(error))
        return None

    def pre_filter(self, pod: dict, cluster) -> PreFilter:
        try:
            self.claims = list(claims_of(pod, cluster))
        except ClaimError as error:
            return PreFilter(status=self.unresolvable(str(error)))
        classes = class_of_resources(cluster)
        wanted = {name for container in containers(pod) for name in amounts(pod, container)}
        self.served = {name: classes[name] for name in sorted(wanted & classes.keys())}
        if not self.claims and not self.served:
            return SKIP
        self.waiting = [claim for claim in self.claims if not allocation_of(claim)]
        for claim in self.waiting:
            for request in claim["spec"]["devices"].get("requests") or ():
                for name, body in alternatives(request):
                    if cluster.get("DeviceClass", body["deviceClassName"]) is None:
                        text = f"request {name}: device class {body['deviceClassName']} does not exist"
                        return PreFilter(status=self.unresolvable(text))
        self.is_left_over = bool(self.served) and any(is_special(c) and is_made_for(c, pod) for c in claims(cluster))
        return PreFilter()

    def filter(self, pod: dict, node) -> Status | None:
        if self.is_left_over:
            return self.unresolvable("cannot schedule extended resource claim")
        claims_to_allocate = self.to_allocate(pod, node)
        if claims_to_allocate:
            search = Search(node.cluster, node, claims_to_allocate, devices_in_use(claims(node.cluster)))
            try:
                chosen = search.run()
            except AllocationError as error:
                return Status(Code.ERROR, (f'running "DynamicResources" filter plugin: {error}',), self.name)
            if chosen is None:
                is_invalid = any(not pool.is_valid for pool in search.pools)
                text = "invalid resource pools were encountered" if is_invalid else "cannot allocate all claims"
                return self.unresolvable(text)
            self.chosen[node.name] = chosen
        selectors = [allocation_of(claim).get("nodeSelector") for claim in self.claims]
        if not all(one is None or node_selector_matches(one, node.name, node.labels) for one in selectors):
            return self.unresolvable("resourceclaim not available on the node")
        return None

    def to_allocate(self, pod: dict, node) -> list[dict]:
        """The claims without devices, and last the one that would be made for extended resources. Beside others it is
        allocated even if it asks for nothing.
        """
        here = {name: of for name, of in self.served.items() if node.allocatable.get(name, 0) <= 0}
        if not here and not (self.served and self.waiting):
            return self.waiting
        metadata = {"namespace": pod["metadata"]["namespace"], "name": "<extended-resources>"}
        special = {"metadata": metadata, "spec": {"devices": {"requests": special_requests(pod, here)}}}
        return [*self.waiting, special]

    def reserved(self, pod: dict, node) -> dict[str, dict]:
        """What Reserve takes on a node that Filter accepted, by claim."""
        names = map(full_name, self.to_allocate(pod, node))
        chosen = self.chosen.get(node.name, [])
        return {name: written(node, choices) for name, choices in zip(names, chosen, strict=True)}

    def pre_score(self, pod: dict, cluster, feasible: list) -> bool:
        return False

    def score(self, pod: dict, node) -> int:
        chosen = iter(self.chosen.get(node.name, ()))
        total = 0
        for claim in self.claims if self.chosen.get(node.name) else ():
            allocated = allocation_of(claim)
            if allocated:
                names = {result["request"] for result in allocated["devices"].get("results") or ()}
            else:
                names = {choice.ask.name for choice in next(chosen)}
            total += sum(points(request, names) for request in claim["spec"]["devices"].get("requests") or ())
        return total

    def normalize(self, scores: dict[str, int]) -> None:
        default_normalize(scores)


def points(request: dict, names: set[str]) -> int:
    """Eight for the first alternative, seven for the second, ..., nothing for a request without."""
    subrequests = [f"{request['name']}/{one['name']}" for one in request.get("firstAvailable") or ()]
    return sum(8 - i for i, name in enumerate(subrequests) if name in names)


# --- the claims of a pod ---


def claims(cluster) -> list[dict]:
    return cluster.list("ResourceClaim")


def claims_of(pod: dict, cluster) -> Iterator[dict]:
    namespace, key = pod["metadata"]["namespace"], full_name(pod)
    made = {one["name"]: one.get("resourceClaimName") for one in pod["status"].get("resourceClaimStatuses") or ()}
    for entry in pod["spec"].get("resourceClaims") or ():
        name, is_generated = entry.get("resourceClaimName"), False
        if not name:
            is_generated = bool(entry.get("resourceClaimTemplateName"))
            if not is_generated:
                text = "none of the supported fields are set"
                raise ClaimError(f'pod "{key}", spec.resourceClaim "{entry["name"]}": {text}')
            if entry["name"] not in made:
                raise ClaimError(f'pod "{key}": ResourceClaim not created yet')
            name = made[entry["name"]]
            if not name:
                continue
        claim = cluster.get("ResourceClaim", name, namespace)
        if claim is None:
            raise ClaimError(f'could not find ResourceClaim "{namespace}/{name}"')
        if is_generated and not is_made_for(claim, pod):
            raise ClaimError(f"ResourceClaim {namespace}/{name} was not created for Pod {key} (Pod is not owner)")
        if claim["metadata"].get("deletionTimestamp"):
            raise ClaimError(f'resourceclaim "{name}" is being deleted')
        yield claim


def allocation_of(claim: dict) -> dict:
    return (claim.get("status") or {}).get("allocation") or {}


def is_made_for(claim: dict, pod: dict) -> bool:
    owners = claim["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") and owner["uid"] == pod["metadata"]["uid"] for owner in owners)


def is_special(claim: dict) -> bool:
    return (claim["metadata"].get("annotations") or {}).get(SPECIAL) == "true"


def written(node, choices: list[Choice]) -> dict:
    """The part of an allocation that golden vectors have, with amounts as numbers."""
    devices, n_shares = [], 0
    for choice in choices:
        result = {"request": choice.ask.name, "device": "/".join(choice.device.id)}
        if choice.ask.is_admin:
            result["adminAccess"] = True
        if choice.device.is_shareable:
            n_shares += 1
            result["share"] = n_shares
            if choice.consumed:
                result["consumedCapacity"] = choice.consumed
        devices.append(result)
    selector = selector_of(node, choices)
    return {"devices": devices} | ({"nodeSelector": {"nodeSelectorTerms": [selector]}} if selector else {})


def selector_of(node, choices: list[Choice]) -> dict[str, list]:
    """The term for the nodes on which all the devices are; empty for every node."""
    merged: dict[str, list] = {}
    for choice in choices:
        device = choice.device
        where = device.spec if device.slice.get("perDeviceNodeSelection") else device.slice
        if where.get("nodeName") or device.spec.get("bindsToNode"):
            return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node.name]}]}
        for term in (where.get("nodeSelector") or {}).get("nodeSelectorTerms") or ():
            for key, requirements in term.items():
                known = merged.setdefault(key, [])
                known += [one for one in requirements if one not in known]
    return merged


# --- extended resources that device classes serve ---


def class_of_resources(cluster) -> dict[str, str]:
    """The class of each extended resource: of several the newest, of equals the first by name."""
    by_name = sorted(cluster.list("DeviceClass"), key=lambda one: one["metadata"]["name"], reverse=True)
    by_age = sorted(by_name, key=lambda one: one["metadata"].get("creationTimestamp") or "")
    serving = {(one.get("spec") or {}).get("extendedResourceName"): one["metadata"]["name"] for one in by_age}
    implicit = {IMPLICIT + one["metadata"]["name"]: one["metadata"]["name"] for one in by_name}
    return {name: of for name, of in (serving | implicit).items() if name}


def containers(pod: dict) -> list[dict]:
    return [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]


def amounts(pod: dict, container: dict) -> Amounts:
    requests = container_requests(pod, container, None, None)
    return {name: int(amount) for name, amount in sorted(requests.items()) if amount > 0}


def special_requests(pod: dict, classes: dict[str, str]) -> list[dict]:
    """The requests of the claim for extended resources. Containers are numbered from the first init container on, and
    resources by their place among all of the container.
    """
    requests = []
    for resource, class_name in classes.items():
        for name, count in counts(pod, resource):
            exactly = {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count}
            requests.append({"name": name, "exactly": exactly})
    return sorted(requests, key=lambda request: request["name"])


def counts(pod: dict, resource: str) -> Iterator[tuple[str, int]]:
    """Request by request: one for each sidecar and each container, and one for all other init containers, as far as
    these do not find enough in the requests of those that come later.
    """
    n_init = len(pod["spec"].get("initContainers") or ())
    shares = []  # (number of the container, whether it stays, name, amount)
    for i, container in enumerate(containers(pod)):
        of_all = (container.get("resources") or {}).get("requests") or {}
        amount = int(quantity(of_all[resource])) if resource in of_all else 0
        if amount > 0:
            stays = i >= n_init or container.get("restartPolicy") == "Always"
            shares.append((i, stays, f"container-{i}-request-{sorted(of_all).index(resource)}", amount))
    missing = []
    for i, stays, name, amount in shares:
        if stays:
            yield name, amount
        else:
            missing.append((amount - sum(n for j, lasts, _, n in shares if lasts and j > i), name))
    most = max((n for n, _ in missing), default=0)
    if most > 0:
        yield next(name for n, name in missing if n == most), most
