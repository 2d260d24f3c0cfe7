"""Resource claims of scripts: what is true of them, which pods wait for theirs, and the controller that makes them.

The controller is kube-controller-manager's, played one step at a time: it makes the claims of templates, and gives back
what no pod uses any more.
"""

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

from kubesched.testing import make_object
from tests.integration.api_client import ApiClient, ApiError, Document

GUARD: Final = "resource.kubernetes.io/delete-protection"
ENTRY: Final = "resource.kubernetes.io/pod-claim-name"
_SPECIAL: Final = re.compile(r"(-extended-resources)-\w{5}\b")

Claims = Mapping[str, Document]
"""Claims of the namespace `default` by name."""


def plain(text: str) -> str:
    """A text without the random part of the names of claims for extended resources."""
    return _SPECIAL.sub(r"\1", text)


def names_of(pod: Document) -> Iterator[str]:
    """The claims of a pod that its spec and its status name."""
    made = {one["name"]: one.get("resourceClaimName", "") for one in pod["status"].get("resourceClaimStatuses") or ()}
    for entry in pod["spec"].get("resourceClaims") or ():
        name = entry.get("resourceClaimName") or made.get(entry["name"], "")
        if name:
            yield name
    if extended := pod["status"].get("extendedResourceClaimStatus"):
        yield extended["resourceClaimName"]


# --- what is true ---


def facts(claims: Claims, pods: Iterable[Document]) -> dict[str, Counter[Hashable]]:
    """What each claim says, and which claim each pod has for extended resources; no times, uids and random names."""
    found: dict[str, Counter[Hashable]] = {}
    for name, claim in claims.items():
        found.setdefault(plain(name), Counter())[json.dumps(_shape(claim), sort_keys=True)] += 1
    for pod in pods:
        if extended := pod["status"].get("extendedResourceClaimStatus"):
            found[f"pod {pod['metadata']['name']}"] = Counter([plain(json.dumps(extended, sort_keys=True))])
    return found


def _shape(claim: Document) -> Document:
    metadata, status = claim["metadata"], claim.get("status", {})
    allocation = dict(status.get("allocation") or {})
    if "allocationTimestamp" in allocation:
        allocation["allocationTimestamp"] = "set"
    if devices := allocation.get("devices"):
        allocation["devices"] = {**devices, "results": [_result(one) for one in devices.get("results", ())]}
    return {
        "annotations": metadata.get("annotations", {}),
        "finalizers": metadata.get("finalizers", []),
        "owners": [one["name"] for one in metadata.get("ownerReferences", ())],
        "isDeleted": "deletionTimestamp" in metadata,
        "spec": claim["spec"],
        "allocation": allocation,
        "users": [one["name"] for one in status.get("reservedFor") or ()],
        "devices": [_result(one) for one in status.get("devices") or ()],
    }


def _result(result: Document) -> Document:
    return {**result, **({"shareID": "set"} if "shareID" in result else {})}


# --- which pods wait ---


def are_missing(pod: Document, claims: Claims) -> bool:
    """Whether a pod is not tried because of its claims: it gets no condition then."""
    entries = [one for one in pod["spec"].get("resourceClaims") or () if "resourceClaimTemplateName" in one]
    made = {one["name"]: one.get("resourceClaimName", "") for one in pod["status"].get("resourceClaimStatuses") or ()}
    if any(one["name"] not in made for one in entries):
        return True
    own = {made[one["name"]] for one in entries}
    for name in names_of(pod):
        claim = claims.get(name)
        if claim is None or "deletionTimestamp" in claim["metadata"]:
            return True
        owners = claim["metadata"].get("ownerReferences", ())
        if name in own and not any(one["uid"] == pod["metadata"]["uid"] for one in owners):
            return True
    return False


def are_reported(pod: Document, claims: Claims) -> bool:
    """Whether drivers have reported anything of the devices of a pod that waits to be bound."""
    if pod["spec"].get("nodeName") or not pod["status"].get("nominatedNodeName"):
        return False
    return any(claims.get(name, {}).get("status", {}).get("devices") for name in names_of(pod))


# --- the controller ---


def control(client: ApiClient) -> bool:
    """Do what the controller would do now. Returns: whether there was anything to do."""
    pods = client.read_all("Pod", "default")
    return any([*(_make_claims(client, pod) for pod in pods), *_give_back(client, pods)])


def _make_claims(client: ApiClient, pod: Document) -> bool:
    statuses = list(pod["status"].get("resourceClaimStatuses") or ())
    made = {one["name"] for one in statuses}
    n_before = len(statuses)
    for entry in pod["spec"].get("resourceClaims") or ():
        if entry["name"] in made or "resourceClaimTemplateName" not in entry:
            continue
        try:
            template = client.get("ResourceClaimTemplate", entry["resourceClaimTemplateName"])
        except ApiError:
            continue
        name = f"{pod['metadata']['name']}-{entry['name']}"
        claim = _claim_from(template, name, entry["name"], pod)
        try:
            client.create(claim)
        except ApiError as error:
            if error.status != 409:
                raise
        statuses.append({"name": entry["name"], "resourceClaimName": name})
    if len(statuses) == n_before:
        return False
    client.patch("Pod", pod["metadata"]["name"], {"status": {"resourceClaimStatuses": statuses}}, part="status")
    return True


def _claim_from(template: Document, name: str, entry: str, pod: Document) -> Any:
    about, metadata = pod["metadata"], template["spec"].get("metadata", {})
    owner = {"apiVersion": "v1", "kind": "Pod", "name": about["name"], "uid": about["uid"], "controller": True}
    annotations = {**metadata.get("annotations", {}), ENTRY: entry}
    owned = {"ownerReferences": [owner]}
    return make_object("ResourceClaim", name, annotations=annotations, metadata=owned, spec=template["spec"]["spec"])


def _give_back(client: ApiClient, pods: Iterable[Document]) -> Iterator[bool]:
    """Free the claims of pods that are gone, and delete those that belong to such a pod."""
    there = {pod["metadata"]["uid"] for pod in pods}
    for claim in client.read_all("ResourceClaim", "default"):
        name, metadata, status = claim["metadata"]["name"], claim["metadata"], claim.get("status", {})
        users = status.get("reservedFor") or []
        left = [one for one in users if one["uid"] in there]
        owners = metadata.get("ownerReferences", ())
        is_orphan = bool(owners) and not any(one["uid"] in there for one in owners)
        is_free = not left and (is_orphan or len(left) < len(users) or "deletionTimestamp" in metadata)
        if len(left) < len(users) or (is_free and status.get("allocation")):
            changes: Document = {"reservedFor": left or None}
            if is_free:
                changes |= {"allocation": None, "devices": None}
            client.patch("ResourceClaim", name, {"status": changes}, part="status")
            yield True
        if is_free and metadata.get("finalizers"):
            client.patch("ResourceClaim", name, {"metadata": {"finalizers": None}})
            yield True
        if is_orphan and "deletionTimestamp" not in metadata:
            client.delete("ResourceClaim", name)
            yield True
