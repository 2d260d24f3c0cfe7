"""New resource claims, and what kube-apiserver v1.36.3 says of each: the field and how its message begins; empty if
it takes the claim.
"""

from typing import Any

Document = dict[str, Any]
LABEL = "a lowercase RFC 1123 label must consist of"
ONE_FORM = "exactly one of `exactly` or `firstAvailable` is required"


def claim(*requests: Document, constraints: list[Document] | None = None) -> Document:
    devices: Document = {"requests": list(requests)}
    if constraints is not None:
        devices["constraints"] = constraints
    metadata = {"name": "c", "namespace": "default"}
    spec = {"devices": devices}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": spec}


def asks(**fields: Any) -> Document:
    return {"name": "r", "exactly": {"deviceClassName": "gpu", **fields}}


def alternatives(*listed: Document) -> Document:
    return {"name": "r", "firstAvailable": list(listed)}


def alternative(name: str) -> Document:
    return {"name": name, "deviceClassName": "gpu"}


def tolerates(**fields: Any) -> Document:
    return claim(asks(tolerations=[{"key": "a", **fields}]))


def many(n: int) -> list[Document]:
    return [{"name": f"r{i}", "exactly": {"deviceClassName": "gpu"}} for i in range(n)]


REQUEST, EXACTLY = "spec.devices.requests[0]", "spec.devices.requests[0].exactly"
CONSTRAINT = "spec.devices.constraints[0]"
CASES: list[tuple[Document, str]] = [
    (claim(asks()), ""),
    (claim(), ""),
    (claim(asks(count=33)), ""),
    (claim(asks(count=0)), ""),
    (claim(asks(allocationMode="All")), ""),
    (claim(alternatives(alternative("s"), alternative("t"))), ""),
    (claim(asks(tolerations=[{"operator": "Equal"}])), ""),
    (claim(asks(capacity={"requests": {"memory": "1Gi"}})), ""),
    (claim(asks(), constraints=[{"matchAttribute": "a.b/c"}]), ""),
    (claim(alternatives(alternative("s")), constraints=[{"requests": ["r/s"], "matchAttribute": "a.b/c"}]), ""),
    (claim({"exactly": {"deviceClassName": "gpu"}}), f'{REQUEST}.name: Invalid value: "": {LABEL}'),
    (claim({**asks(), "name": "R_1"}), f'{REQUEST}.name: Invalid value: "R_1": {LABEL}'),
    (claim({"name": "r"}), f"{REQUEST}: Required value: {ONE_FORM}"),
    (claim({**asks(), **alternatives(alternative("s"))}), f"{REQUEST}: Invalid value: null: {ONE_FORM}, but multiple"),
    (claim({"name": "r", "exactly": {}}), f"{EXACTLY}.deviceClassName: Required value"),
    (claim(asks(deviceClassName="Gpu_x")), f'{EXACTLY}.deviceClassName: Invalid value: "Gpu_x": a lowercase RFC 1123'),
    (claim(asks(count=-1)), f"{EXACTLY}.count: Invalid value: -1: must be greater than zero"),
    (claim(asks(allocationMode="All", count=2)), f"{EXACTLY}.count: Invalid value: 2: must not be specified when"),
    (
        claim(asks(allocationMode="Some")),
        f'{EXACTLY}.allocationMode: Unsupported value: "Some": supported values: "All',
    ),
    (claim(asks(), asks()), 'spec.devices.requests[1]: Duplicate value: "r"'),
    (claim(*many(33)), "spec.devices.requests: Too many: 33: must have at most 32 items"),
    (claim(asks(selectors=[{}])), f"{EXACTLY}.selectors[0].cel: Required value"),
    (claim(asks(selectors=[{"cel": {"expression": "true"}}] * 33)), f"{EXACTLY}.selectors: Too many: 33: must have at"),
    (
        tolerates(operator="In"),
        f'{EXACTLY}.tolerations[0].operator: Unsupported value: "In": supported values: "Equal"',
    ),
    (tolerates(operator="Exists", value="x"), f'{EXACTLY}.tolerations[0].value: Invalid value: "x": must be empty for'),
    (
        tolerates(effect="No"),
        f'{EXACTLY}.tolerations[0].effect: Unsupported value: "No": supported values: "NoExecute"',
    ),
    (claim(alternatives()), f"{REQUEST}: Required value: {ONE_FORM}"),
    (claim(alternatives(alternative(""))), f'{REQUEST}.firstAvailable[0].name: Invalid value: "": {LABEL}'),
    (claim(alternatives(*[alternative("s")] * 2)), f'{REQUEST}.firstAvailable[1]: Duplicate value: "s"'),
    (
        claim(alternatives(*[alternative(f"s{i}") for i in range(9)])),
        f"{REQUEST}.firstAvailable: Too many: 9: must have",
    ),
    (
        claim(asks(), constraints=[{"requests": ["r"]}]),
        f'{CONSTRAINT}: Required value: exactly one of "matchAttribute"',
    ),
    (claim(asks(), constraints=[{"matchAttribute": "numa"}]), f'{CONSTRAINT}.matchAttribute: Invalid value: "numa": a'),
    (
        claim(asks(), constraints=[{"requests": ["x"], "matchAttribute": "a.b/c"}]),
        f'{CONSTRAINT}.requests[0]: Invalid value: "x": must be the name of a request in the claim',
    ),
    (claim(asks(), constraints=[{"matchAttribute": "a.b/c"}] * 33), "spec.devices.constraints: Too many: 33: must"),
]
