"""The lists that a pod's author writes: for each, a pod that has so many entries of it and nothing else that is long.

A list is a function of the number of entries and of a word that no other pod's entries contain, so that nothing that
was computed for one pod serves the next. It returns what the pod has in addition, and the objects that it needs.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.lists.cluster import HOST, N_LABELS, ZONE, Object, container

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)


@dataclass
class Long:
    """A pod with a long list.

    Attributes:
        spec, labels, metadata: what it has.
        objects: what has to exist.
    """

    spec: Object = field(default_factory=dict)
    labels: Object = field(default_factory=dict)
    metadata: Object = field(default_factory=dict)
    objects: list[Object] = field(default_factory=list)


Write = Callable[[int, str], Long]

# --- topology spread ---


def spread(action: str, key: Callable[[int, str], str], **more: Any) -> Write:
    def write(n: int, word: str) -> Long:
        constraints = [_constraint(action, key(i, word), {"app": f"{word}-{i}"}, **more) for i in range(n)]
        return Long({"topologySpreadConstraints": constraints})

    return write


def _constraint(action: str, key: str, labels: Object, **more: Any) -> Object:
    selector = {"matchLabels": labels}
    return {"maxSkew": 5, "topologyKey": key, "whenUnsatisfiable": action, "labelSelector": selector, **more}


def spread_label_keys(n: int, word: str) -> Long:
    labels = {f"{word}-{i}": "x" for i in range(n)}
    return Long({"topologySpreadConstraints": [_both(ZONE, {"app": "web"}, matchLabelKeys=list(labels))]}, labels)


def _both(key: str, labels: Object, **more: Any) -> Object:
    return _constraint("ScheduleAnyway", key, labels, **more)


def spread_selector(n: int, word: str) -> Long:
    return Long({"topologySpreadConstraints": [{**_both(ZONE, {}), "labelSelector": expressions(n, word)}]})


def spread_values(n: int, word: str) -> Long:
    return Long({"topologySpreadConstraints": [{**_both(ZONE, {}), "labelSelector": one_expression(n, word)}]})


# --- selectors ---


def expressions(n: int, word: str) -> Object:
    """So many expressions, which a pod without these labels satisfies, so that all are looked at."""
    return {"matchExpressions": [{"key": f"{word}-{i}", "operator": "DoesNotExist"} for i in range(n)]}


def one_expression(n: int, word: str) -> Object:
    return {"matchExpressions": [{"key": "n", "operator": "NotIn", "values": [f"{word}-{i}" for i in range(n)]}]}


# --- affinity between pods ---


def pod_terms(kind: str, key: Callable[[int, str], str], *, required: bool = True) -> Write:
    def write(n: int, word: str) -> Long:
        return _with_terms(kind, required, [_term(key(i, word), {"app": f"{word}-{i}"}) for i in range(n)])

    return write


def matching_terms(kind: str, *, required: bool = True) -> Write:
    """Terms that differ and that match running pods."""

    def write(n: int, word: str) -> Long:
        selectors = [
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", f"{word}-{i}"]}]} for i in range(n)
        ]
        return _with_terms(kind, required, [{"topologyKey": ZONE, "labelSelector": one} for one in selectors])

    return write


def _term(key: str, labels: Object, **more: Any) -> Object:
    return {"topologyKey": key, "labelSelector": {"matchLabels": labels}, **more}


def _with_terms(kind: str, required: bool, terms: list[Object]) -> Long:
    written: Object = {REQUIRED: terms}
    if not required:
        written = {PREFERRED: [{"weight": 1 + i % 100, "podAffinityTerm": term} for i, term in enumerate(terms)]}
    return Long({"affinity": {kind: written}})


def anti_namespaces(n: int, word: str) -> Long:
    return _with_terms(
        "podAntiAffinity", True, [_term(HOST, {"app": word}, namespaces=[f"{word}-{i}" for i in range(n)])]
    )


def anti_namespace_selector(n: int, word: str) -> Long:
    return _with_terms("podAntiAffinity", True, [_term(HOST, {"app": word}, namespaceSelector=expressions(n, word))])


def namespace_selectors(n: int, word: str) -> Long:
    terms = [_term(HOST, {"app": word}, namespaceSelector={"matchLabels": {"team": f"{word}-{i}"}}) for i in range(n)]
    return _with_terms("podAntiAffinity", True, terms)


def anti_selector(n: int, word: str) -> Long:
    return _with_terms("podAntiAffinity", True, [{"topologyKey": HOST, "labelSelector": expressions(n, word)}])


def anti_values(n: int, word: str) -> Long:
    return _with_terms("podAntiAffinity", True, [{"topologyKey": HOST, "labelSelector": one_expression(n, word)}])


# --- affinity to nodes ---


def _node_affinity(terms: list[Object]) -> Long:
    return Long({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}})


def node_terms(n: int, word: str) -> Long:
    return _node_affinity(
        [{"matchExpressions": [_in(f"l{i % N_LABELS}", f"{word}-{i}")]} for i in range(n - 1)] + [ANY]
    )


ANY = {"matchExpressions": [{"key": HOST, "operator": "Exists"}]}


def _in(key: str, *values: str) -> Object:
    return {"key": key, "operator": "In", "values": list(values)}


def node_terms_absent(n: int, word: str) -> Long:
    return _node_affinity([{"matchExpressions": [_in(f"{word}-{i}", "x")]} for i in range(n - 1)] + [ANY])


def node_expressions(n: int, word: str) -> Long:
    absent = [{"key": f"{word}-{i}", "operator": "DoesNotExist"} for i in range(n // 2)]
    known = [{**_in(f"l{i % N_LABELS}", f"{word}-{i}"), "operator": "NotIn"} for i in range(n - n // 2)]
    return _node_affinity([{"matchExpressions": absent + known}])


def node_numbers(n: int, word: str) -> Long:
    found = [{"key": f"l{i % N_LABELS}", "operator": "Gt", "values": [str(i)]} for i in range(n)]
    return _node_affinity([{"matchExpressions": [one]} for one in found] + [ANY])


def node_values(n: int, word: str) -> Long:
    names = [f"node-{i:05}" for i in range(n // 2)] + [f"{word}-{i}" for i in range(n - n // 2)]
    return _node_affinity([{"matchExpressions": [{**_in(HOST, *names), "operator": "NotIn"}]}])


def node_names(n: int, word: str) -> Long:
    fields = [{"key": "metadata.name", "operator": "In", "values": [f"node-{i:05}"]} for i in range(n)]
    return _node_affinity([{"matchFields": [one], **ANY} for one in fields])


def node_preferred(n: int, word: str) -> Long:
    terms = [{"matchExpressions": [_in(f"l{i % N_LABELS}", "v1", f"{word}-{i}")]} for i in range(n)]
    weighted = [{"weight": 1 + i % 100, "preference": term} for i, term in enumerate(terms)]
    return Long({"affinity": {"nodeAffinity": {PREFERRED: weighted}}})


def node_selector(n: int, word: str) -> Long:
    return Long({"nodeSelector": {ZONE: "zone-0", **{f"{word}-{i}": "x" for i in range(n - 1)}}})


# --- what the pod is made of ---


def tolerations(n: int, word: str) -> Long:
    return Long({"tolerations": [{"key": f"{word}-{i}", "operator": "Exists"} for i in range(n)]})


def near_tolerations(n: int, word: str) -> Long:
    """All of them have the key of a taint that some node has, and another value."""
    return Long({"tolerations": [{"key": f"t{i}", "value": word, "effect": "PreferNoSchedule"} for i in range(n)]})


def containers(field_name: str, **more: Any) -> Write:
    def write(n: int, word: str) -> Long:
        some = [container(f"{word}-{i}", "1m", **more) for i in range(n)]
        return Long({"containers": [container()], field_name: some})

    return write


def images(n: int, word: str) -> Long:
    some = [{"name": f"{word}-{i}", "image": f"images/{i}:v1"} for i in range(n)]
    return Long({"containers": some})


def ports(n: int, word: str) -> Long:
    some = [{"containerPort": 1 + i, "hostPort": 1 + i} for i in range(n)]
    return Long({"containers": [container(word, ports=some)]})


def resources(n: int, word: str) -> Long:
    amounts = {"cpu": "1m", **{f"example.com/{word}-{i}": "1" for i in range(n)}}
    return Long({"containers": [container(word, resources={"requests": amounts, "limits": amounts})]})


def container_resources(n: int, word: str) -> Long:
    """Every container requests something that no other one does."""
    wanted = [{f"example.com/{word}-{i}": "1"} for i in range(n)]
    return Long(
        {"containers": [container(f"{word}-{i}", resources={"requests": r, "limits": r}) for i, r in enumerate(wanted)]}
    )


def gates(n: int, word: str) -> Long:
    return Long({"schedulingGates": [{"name": f"example.com/{word}-{i}"} for i in range(n)]})


def resource_claims(n: int, word: str) -> Long:
    return Long({"resourceClaims": [{"name": f"{word}-{i}", "resourceClaimName": f"{word}-{i}"} for i in range(n)]})


def labels(n: int, word: str) -> Long:
    return Long(labels={f"{word}-{i}": "x" for i in range(n)})


def owners(n: int, word: str) -> Long:
    some = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{word}-{i}", "uid": f"{word}-{i}"} for i in range(n)
    ]
    return Long(metadata={"ownerReferences": some})


# --- volumes ---


def _volumes(n: int, word: str, source: Callable[[str], Object], objects: Callable[[str], list[Object]]) -> Long:
    names = [f"{word}-{i}" for i in range(n)]
    volumes = [{"name": name, **source(name)} for name in names]
    return Long({"volumes": volumes}, objects=[one for name in names for one in objects(name)])


def plain_volumes(n: int, word: str) -> Long:
    return _volumes(n, word, lambda name: {"emptyDir": {}}, lambda name: [])


def image_volumes(n: int, word: str) -> Long:
    return _volumes(n, word, lambda name: {"image": {"reference": f"images/{name[-2:]}:v1"}}, lambda name: [])


def disks(n: int, word: str) -> Long:
    return _volumes(n, word, lambda name: {"awsElasticBlockStore": {"volumeID": name}}, lambda name: [])


def bound_claims(n: int, word: str) -> Long:
    return _volumes(n, word, _claim_source, lambda name: [_claim(name, f"pv-{name}"), _volume(name)])


def delayed_claims(n: int, word: str) -> Long:
    return _volumes(n, word, _claim_source, lambda name: [_claim(name)])


def static_claims(n: int, word: str) -> Long:
    """As many volumes are free as there are claims."""
    return _volumes(n, word, _claim_source, lambda name: [_claim(name), _volume(name, is_free=True)])


def _claim_source(name: str) -> Object:
    return {"persistentVolumeClaim": {"claimName": name}}


def _claim(name: str, volume: str = "") -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "late"}
    metadata: Object = {"name": name, "namespace": "default", "uid": name}
    status = {"phase": "Pending"}
    if volume:
        spec["volumeName"], status["phase"] = volume, "Bound"
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": status}


def _volume(name: str, *, is_free: bool = False) -> Object:
    where = {"nodeSelectorTerms": [{"matchExpressions": [_in(ZONE, "zone-0", "zone-1")]}]}
    spec: Object = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "csi.example.com", "volumeHandle": name},
        "storageClassName": "late",
        "nodeAffinity": {"required": where},
    }
    if not is_free:
        spec["claimRef"] = {"namespace": "default", "name": name, "uid": name}
    status = {"phase": "Available" if is_free else "Bound"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}"},
        "spec": spec,
        "status": status,
    }


STORAGE_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "late"},
    "provisioner": "csi.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}


# --- several at once ---


def together(*writes: Write) -> Write:
    """All lists of these in one pod."""

    def write(n: int, word: str) -> Long:
        whole = Long()
        for one in writes:
            part = one(n, word)
            _merge(whole.spec, part.spec)
            whole.labels |= part.labels
            whole.metadata |= part.metadata
            whole.objects += part.objects
        return whole

    return write


def _merge(into: Object, more: Object) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and key in into:
            _merge(into[key], value)
        elif isinstance(value, list) and key in into:
            into[key] = into[key] + value
        else:
            into[key] = value


def _absent(i: int, word: str) -> str:
    return f"{word}-{i}"


def _host(i: int, word: str) -> str:
    return HOST


def _zone(i: int, word: str) -> str:
    return ZONE


LISTS: dict[str, Write] = {
    "spread-soft": spread("ScheduleAnyway", _absent),
    "spread-hard": spread("DoNotSchedule", _absent),
    "spread-hard-taints": spread("DoNotSchedule", _absent, nodeTaintsPolicy="Honor"),
    "spread-soft-host": spread(
        "ScheduleAnyway", _host
    ),  # refused by an API server: one constraint for a key and action
    "spread-soft-zone": spread("ScheduleAnyway", _zone),
    "spread-hard-host": spread("DoNotSchedule", _host),
    "spread-hard-zone": spread("DoNotSchedule", _zone),
    "spread-label-keys": spread_label_keys,
    "spread-selector": spread_selector,
    "spread-values": spread_values,
    "affinity": pod_terms("podAffinity", _host),
    "affinity-absent": pod_terms("podAffinity", _absent),
    "affinity-matching": matching_terms("podAffinity"),
    "affinity-preferred": pod_terms("podAffinity", _host, required=False),
    "affinity-preferred-matching": matching_terms("podAffinity", required=False),
    "affinity-preferred-absent": pod_terms("podAffinity", _absent, required=False),
    "anti-affinity": pod_terms("podAntiAffinity", _host),
    "anti-affinity-absent": pod_terms("podAntiAffinity", _absent),
    "anti-affinity-matching": matching_terms("podAntiAffinity"),
    "anti-affinity-preferred": matching_terms("podAntiAffinity", required=False),
    "anti-affinity-namespaces": anti_namespaces,
    "anti-affinity-namespace-expressions": anti_namespace_selector,
    "anti-affinity-namespace-selectors": namespace_selectors,
    "anti-affinity-selector": anti_selector,
    "anti-affinity-values": anti_values,
    "node-terms": node_terms,
    "node-terms-absent": node_terms_absent,
    "node-expressions": node_expressions,
    "node-numbers": node_numbers,
    "node-values": node_values,
    "node-names": node_names,
    "node-preferred": node_preferred,
    "node-selector": node_selector,
    "tolerations": tolerations,
    "tolerations-near": near_tolerations,
    "containers": containers("containers"),
    "init-containers": containers("initContainers"),
    "sidecars": containers("initContainers", restartPolicy="Always"),
    "ephemeral-containers": containers("ephemeralContainers"),
    "images": images,
    "host-ports": ports,
    "resources": resources,
    "container-resources": container_resources,
    "gates": gates,
    "resource-claims": resource_claims,
    "labels": labels,
    "owners": owners,
    "volumes": plain_volumes,
    "image-volumes": image_volumes,
    "disks": disks,
    "bound-claims": bound_claims,
    "delayed-claims": delayed_claims,
    "static-claims": static_claims,
    "together": together(
        spread("ScheduleAnyway", _absent),
        matching_terms("podAffinity", required=False),
        pod_terms("podAntiAffinity", _host),
        node_terms,
        node_preferred,
        tolerations,
        containers("initContainers"),
        ports,
        labels,
        plain_volumes,
    ),
}
"""By name, in the order of the table."""
