"""Features of `--more` about pods and nodes: resources, labels and selectors, ports, priorities, images."""

import collections

from campaigns.oracle.world import World, add_volume, containers_of, namespace_of, requests_of

HOST, ZONE, REGION = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
APPS, TEAMS = ("web", "db", "cache", "batch"), ("red", "blue")
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
CPUS = (
    "0.1",
    "100001u",
    "1500u",
    "1e-1",
    "250000000n",
    ".25",
    "2.",
    "+0.3",
    "1",
    1,
    0.5,
    "999999n",
    "0",
    "1e0",
    "0.0005",
)
MEMORIES = (
    "0.5Gi",
    "1e9",
    "1.5e8",
    "123456789",
    "0.1Gi",
    "500k",
    "1G",
    "1E6",
    "0.3Mi",
    "1Ki",
    "128974848000m",
    1048576,
    "0",
    "2.5e8",
    "1500u",
)


# --- resources ---


def pod_level(w: World) -> None:
    """spec.resources: replaces the containers' sum in some places and not in others."""
    for pod in w.some(w.pods, 0.2):
        requests = {}
        if w.chance(0.7):
            requests["cpu"] = w.r.choice(["100m", "700m", "2", "3500m"])
        if w.chance(0.6):
            requests["memory"] = w.r.choice(["100Mi", "1Gi", "5Gi"])
        if w.chance(0.1):
            requests["hugepages-2Mi"] = "64Mi"
        pod["spec"]["resources"] = {"requests": requests} if requests else {"limits": {"cpu": "2"}}
        if w.chance(0.4):
            for container in containers_of(pod):
                container["resources"] = {}


def sidecars(w: World) -> None:
    """Sidecars and ordinary init containers in any order, overhead, explicit zeros."""
    for pod in w.some(w.pods, 0.25):
        pod["spec"]["initContainers"] = [init_container(w, i) for i in range(w.r.choice([1, 2, 3, 4]))]
    for pod in w.some(w.pods, 0.15):
        pod["spec"]["overhead"] = w.r.choice([{"memory": "50Mi"}, {"cpu": "10m"}, {"cpu": "0.25", "memory": "1Gi"}, {}])
    for pod in w.some(w.pods, 0.1):
        requests_of(w.r.choice(containers_of(pod))).update(
            w.r.choice([{"cpu": "0"}, {"memory": "0"}, {"example.com/gpu": "0"}])
        )


def init_container(w: World, i: int) -> dict:
    requests = {"cpu": w.r.choice(["0", "30m", "600m", "1500m"]), "memory": w.r.choice(["10Mi", "700Mi", "2Gi"])}
    if w.chance(0.3):
        requests.pop(w.r.choice(["cpu", "memory"]))
    container = {"name": f"more-init{i}", "image": "registry.example/app/3:v1", "resources": {"requests": requests}}
    if w.chance(0.5):
        container["restartPolicy"] = "Always"
    if w.chance(0.2):
        container["ports"] = [{"containerPort": 81, "hostPort": 8080}]
    return container


def quantities(w: World) -> None:
    """Spellings of quantities that few people use."""
    for pod in w.some(w.pods, 0.3):
        container = w.r.choice(containers_of(pod))
        requests_of(container).update({"cpu": w.r.choice(CPUS), "memory": w.r.choice(MEMORIES)})
        if w.chance(0.1):
            requests_of(container)["example.com/gpu"] = w.r.choice(["1e0", "1000m", "1.0", "0.5"])
        if w.chance(0.1):
            requests_of(container)["example.com/unknown"] = "1"
    for node in w.some(w.nodes, 0.3):
        odd = {
            "cpu": w.r.choice(["3.5", "3500001u", "4e0", 8]),
            "memory": w.r.choice(["8e9", "7.5Gi", "8589934592001m", "16E"]),
        }
        if w.chance(0.3):
            odd |= w.r.choice(
                [{"pods": "1e1"}, {"pods": 12}, {"ephemeral-storage": "1.5e10"}, {"example.com/gpu": "2500m"}]
            )
        node["status"]["allocatable"] = {**node["status"]["allocatable"], **odd}


def allocatable(w: World) -> None:
    """Nodes that lack a resource, or offer none of it, or one that nobody knows."""
    for node in w.some(w.nodes, 0.2):
        left = {**node["status"]["allocatable"]}
        change = w.r.choice(["pods", "memory", "ephemeral-storage", "cpu0", "odd", "attach", "all"])
        if change in left:
            del left[change]
        elif change == "cpu0":
            left["cpu"] = "0"
        elif change == "odd":
            left |= {"gizmos": "4", "requests.example.com/x": "3", "example.com/with_under.score": "2"}
        elif change == "attach":
            left |= {"attachable-volumes-csi-x": "3", "scheduling.kubernetes.io/foo": "1"}
        node["status"] = {**node["status"], "allocatable": left if change != "all" else {}}


def resize(w: World) -> None:
    """Container and pod statuses of an in-place resize."""
    for pod in w.some(w.bound, 0.3) + w.some(w.pending, 0.1):
        status = pod["status"]
        for field, containers in (
            ("initContainerStatuses", pod["spec"].get("initContainers", ())),
            ("containerStatuses", pod["spec"]["containers"]),
        ):
            status[field] = [container_status(w, c["name"]) for c in containers if w.chance(0.8)]
        if w.chance(0.3):
            status["conditions"] = [
                {"type": "PodResizePending", "status": "True", "reason": w.r.choice(["Infeasible", "Deferred"])}
            ]
        if w.chance(0.2):
            status["resources"] = w.r.choice(
                [{}, {"requests": {"cpu": "800m"}}, {"requests": {"cpu": "1", "memory": "3Gi"}}]
            )
            status["allocatedResources"] = {"cpu": "600m", "memory": "600Mi"}


def container_status(w: World, name: str) -> dict:
    status = {"name": name, "image": "x", "imageID": "", "ready": True, "restartCount": 0}
    if w.chance(0.7):
        status["resources"] = w.r.choice(
            [{}, {"requests": {"cpu": "900m"}}, {"requests": {"cpu": "20m", "memory": "2Gi"}}]
        )
    if w.chance(0.5):
        status["allocatedResources"] = w.r.choice([{"cpu": "1200m"}, {"memory": "100Mi", "example.com/gpu": "1"}])
    return status


# --- labels, selectors, topology ---


def any_selector(w: World) -> dict | None:
    """Selectors without a positive requirement, empty ones, and none at all."""
    app, team = w.r.choice(APPS), w.r.choice(TEAMS)
    return w.r.choice(
        [
            None,
            {},
            {"matchLabels": {}},
            {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]},
            {"matchExpressions": [{"key": "nothing", "operator": "DoesNotExist"}]},
            {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
            {"matchLabels": {"app": app}, "matchExpressions": [{"key": "team", "operator": "NotIn", "values": [team]}]},
            {"matchLabels": {"app": app, "team": team}},
        ]
    )


def any_term(w: World) -> dict:
    term = {"topologyKey": w.r.choice([HOST, ZONE, ZONE, "rack"])}
    selector = any_selector(w)
    if selector is not None:
        term["labelSelector"] = selector
    namespaces = w.r.choice(
        [
            {},
            {},
            {"namespaceSelector": {}},
            {"namespaces": ["prod", "ghost"]},
            {"namespaces": []},
            {"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]}},
            {"namespaceSelector": {"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}},
            {"namespaces": ["default"], "namespaceSelector": {"matchLabels": {"team": "red"}}},
        ]
    )
    if w.chance(0.15):
        term[w.r.choice(["matchLabelKeys", "mismatchLabelKeys"])] = ["team"]
    return {**term, **namespaces}


def selectors(w: World) -> None:
    """Pod (anti-)affinity with every kind of selector and several terms; a topology key that many nodes lack."""
    for node in w.some(w.nodes, 0.5):
        node["metadata"]["labels"]["rack"] = w.r.choice(["r1", "r2"])
    for pod in w.some(w.pods, 0.15):
        affinity = pod["spec"].setdefault("affinity", {})
        kind = affinity.setdefault(w.r.choice(["podAffinity", "podAntiAffinity"]), {})
        if w.chance(0.6):
            kind[REQUIRED] = [any_term(w) for _ in range(w.r.choice([1, 1, 2]))]
        if w.chance(0.6):
            kind[PREFERRED] = [
                {"weight": w.r.choice([1, 7, 100]), "podAffinityTerm": any_term(w)} for _ in range(w.r.choice([1, 2]))
            ]


def label_sets(w: World) -> None:
    """Pods without labels, with an empty set, with others."""
    for pod in w.some(w.pods, 0.2):
        pod["metadata"].pop("labels", None)
        if w.chance(0.6):
            pod["metadata"]["labels"] = w.r.choice([{}, {"team": "red"}, {"app": ""}])


def zones(w: World) -> None:
    """Nodes without zone or hostname, with an empty zone, a region, or the labels of former times."""
    for node in w.some(w.nodes, 0.4):
        labels = node["metadata"]["labels"]
        change = w.r.choice(["none", "empty", "region", "beta", "host", "nothing"])
        if change in ("none", "beta"):
            labels.pop(ZONE, None)
        if change == "beta":
            labels["failure-domain.beta.kubernetes.io/zone"] = w.r.choice(["z1", "z2"])
        if change == "empty":
            labels[ZONE] = ""
        if change == "region":
            labels[REGION] = w.r.choice(["north", "south"])
        if change == "host":
            labels.pop(HOST, None)
        if change == "nothing" and w.chance(0.3):
            del node["metadata"]["labels"]
            node["metadata"]["labels"] = {}


def fields(w: World) -> None:
    """Node affinity by matchFields: one name, several, none of them, mixed with expressions; empty terms and lists."""
    names = w.node_names()
    for pod in w.some(w.pending, 0.25):
        terms = [field_term(w, names) for _ in range(w.r.choice([1, 1, 2]))]
        affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
        affinity[REQUIRED] = {"nodeSelectorTerms": terms}
        if w.chance(0.3):
            affinity[PREFERRED] = [{"weight": w.r.choice([1, 50]), "preference": field_term(w, names, valid=True)}]
    for pod in w.some(w.pending, 0.05):
        affinity = pod["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
        affinity[PREFERRED] = w.r.choice([[], [{"weight": 3, "preference": {}}]])


def field_term(w: World, names: list[str], valid: bool = False) -> dict:
    name = w.r.choice([*names, "node-nowhere"])
    field = {"key": "metadata.name", "operator": w.r.choice(["In", "In", "NotIn"]), "values": [name]}
    if not valid and w.chance(0.2):
        field["values"] = w.r.sample(names, min(2, len(names)))
    term = {"matchFields": [field]}
    if not valid and w.chance(0.15):
        term["matchFields"].append({"key": "metadata.name", "operator": "In", "values": [w.r.choice(names)]})
    if w.chance(0.3):
        term["matchExpressions"] = [{"key": ZONE, "operator": w.r.choice(["Exists", "DoesNotExist"])}]
    return {} if not valid and w.chance(0.1) else term


def malformed(w: World) -> None:
    """Requirements that do not parse. An API server lets none of them in, so this is on only when asked for."""
    bad = [
        {"key": "rank", "operator": "Gt", "values": ["abc"]},
        {"key": "rank", "operator": "Lt", "values": ["-5"]},
        {"key": "rank", "operator": "Gt", "values": ["1", "2"]},
        {"key": "disk", "operator": "In"},
        {"key": "disk", "operator": "Exists", "values": ["x"]},
        {"key": "a b", "operator": "Exists"},
        {"key": "disk", "operator": "In", "values": ["no blanks"]},
        {"key": "disk", "operator": "Near", "values": ["x"]},
    ]
    for pod in w.some(w.pending, 0.3):
        terms = [{"matchExpressions": [w.r.choice(bad)]}]
        if w.chance(0.5):
            terms.append({"matchExpressions": [{"key": "disk", "operator": "Exists"}]})
        pod["spec"].setdefault("affinity", {})["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}


def namespaces(w: World) -> None:
    """Pods of a namespace that has no object; a Namespace without labels, and pods without a namespace."""
    w.add("v1", "Namespace", "bare")
    for pod in w.some(w.pods, 0.25):
        pod["metadata"]["namespace"] = w.r.choice(["ghost", "ghost", "bare"])
    for pod in w.some(w.pods, 0.05):
        pod["metadata"].pop("namespace")


def owners(w: World) -> None:
    """Controllers and Services, from which the default spreading deduces its selector."""
    selector = {
        "matchLabels": {"app": "web"},
        "matchExpressions": [{"key": "team", "operator": "In", "values": ["red", "blue"]}],
    }
    for namespace in ("default", "prod"):
        w.add("apps/v1", "ReplicaSet", "rs", namespace, spec={"selector": selector, "template": template("web")})
        w.add(
            "apps/v1",
            "StatefulSet",
            "sts",
            namespace,
            spec={"selector": {"matchLabels": {"app": "db"}}, "serviceName": "x", "template": template("db")},
        )
        w.add("v1", "ReplicationController", "rc", namespace, spec={"selector": {"app": "cache", "team": "red"}})
        w.add("v1", "Service", "team", namespace, spec={"selector": {"team": w.r.choice(TEAMS)}})
        w.add("v1", "Service", "empty", namespace, spec={"selector": {}})
        w.add("v1", "Service", "none", namespace, spec={})
    for pod in w.some(w.pods, 0.4):
        kind, name, version = w.r.choice(
            [
                ("ReplicaSet", "rs", "apps/v1"),
                ("StatefulSet", "sts", "apps/v1"),
                ("ReplicationController", "rc", "v1"),
                ("ReplicaSet", "gone", "apps/v1"),
                ("Job", "j", "batch/v1"),
                ("ReplicaSet", "rs", "apps/v1beta2"),
            ]
        )
        owner = {"apiVersion": version, "kind": kind, "name": name, "uid": f"u-{name}", "controller": w.chance(0.9)}
        pod["metadata"]["ownerReferences"] = [owner]
        pod["spec"].pop("topologySpreadConstraints", None)


def template(app: str) -> dict:
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}


def spreading(w: World) -> None:
    """Spread constraints with minDomains, both policies, matchLabelKeys, odd selectors, a key that many nodes lack."""
    for node in w.some(w.nodes, 0.5):
        node["metadata"]["labels"]["row"] = w.r.choice(["a", "b", "c"])
    for pod in w.some(w.pods, 0.25):
        keys = w.r.sample([HOST, ZONE, "row"], w.r.choice([1, 1, 2, 3]))
        pod["spec"]["topologySpreadConstraints"] = [any_constraint(w, key) for key in keys]


def any_constraint(w: World, key: str) -> dict:
    c = {
        "maxSkew": w.r.choice([1, 2, 4]),
        "topologyKey": key,
        "whenUnsatisfiable": w.r.choice(["DoNotSchedule", "ScheduleAnyway"]),
    }
    selector = any_selector(w)
    if selector is not None:
        c["labelSelector"] = selector
    if c["whenUnsatisfiable"] == "DoNotSchedule" and w.chance(0.5):
        c["minDomains"] = w.r.choice([1, 2, 3, 5])
    for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if w.chance(0.5):
            c[policy] = w.r.choice(["Honor", "Ignore"])
    if w.chance(0.3):
        c["matchLabelKeys"] = w.r.choice([["team"], ["app", "absent"]])
    return c


# --- taints and ports ---


def tolerations(w: World) -> None:
    """Tolerations by effect alone, by key alone, with operators spelt out or left out; several taints on a node."""
    for node in w.some(w.nodes, 0.4):
        node.setdefault("spec", {}).setdefault("taints", []).extend(
            {
                "key": f"k{w.r.randrange(3)}",
                "value": w.r.choice(["", "v", "7"]),
                "effect": w.r.choice(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"]),
            }
            for _ in range(w.r.choice([1, 2, 3]))
        )
    for pod in w.some(w.pods, 0.5):
        pod["spec"].setdefault("tolerations", []).extend(any_toleration(w) for _ in range(w.r.choice([1, 2])))


def any_toleration(w: World) -> dict:
    key = f"k{w.r.randrange(3)}"
    return w.r.choice(
        [
            {"key": key, "value": "v"},
            {"key": key, "operator": "Exists"},
            {"operator": "Exists", "effect": "NoSchedule"},
            {"key": key, "operator": "Equal", "value": "", "effect": "PreferNoSchedule"},
            {"operator": "Exists", "effect": "PreferNoSchedule"},
            {"key": key, "operator": "Gt", "value": "3"},
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
            {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
        ]
    )


def host_ports(w: World) -> None:
    """Host ports wanted twice, by sidecars, on IPv6 addresses, by other protocols; hostNetwork and hostUsers."""
    for pod in w.some(w.pods, 0.3):
        for container in containers_of(pod):
            if w.chance(0.6):
                container["ports"] = [
                    {
                        "containerPort": 80,
                        "hostPort": w.r.choice([8080, 9090, 0]),
                        **w.r.choice(
                            [
                                {},
                                {"protocol": "SCTP"},
                                {"hostIP": "::"},
                                {"hostIP": "127.0.0.1"},
                                {"hostIP": "0.0.0.0", "protocol": "UDP"},
                            ]
                        ),
                    }
                    for _ in range(w.r.choice([1, 2]))
                ]
        pod["spec"] |= w.r.choice([{}, {"hostNetwork": True}, {"hostUsers": False}])


# --- who may push whom away ---


def terminating(w: World) -> None:
    """Pods on their way out, placed and pending."""
    for pod in w.some(w.bound, 0.15) + w.some(w.pending, 0.08):
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T02:00:00Z"
        pod["metadata"]["deletionGracePeriodSeconds"] = 30


def budgets(w: World) -> None:
    """Disruption budgets with every kind of selector, and pods that count as disrupted already."""
    names = [pod["metadata"]["name"] for pod in w.bound]
    for i in range(6):
        status = {
            "disruptionsAllowed": w.r.choice([0, 0, 1, 2]),
            "currentHealthy": 3,
            "desiredHealthy": 3,
            "expectedPods": 3,
        }
        if names and w.chance(0.4):
            status["disruptedPods"] = dict.fromkeys(w.r.sample(names, min(3, len(names))), "2026-01-01T00:00:00Z")
        spec = {"minAvailable": 1}
        selector = any_selector(w)
        if selector is not None:
            spec["selector"] = selector
        w.add("policy/v1", "PodDisruptionBudget", f"pdb-{i}", w.r.choice(["default", "prod"]), spec=spec, status=status)


def pressure(w: World) -> None:
    """Urgent pods that ask for much, so that others have to go; some of them must not push."""
    for pod in w.bound:
        if w.chance(0.4):
            requests_of(pod["spec"]["containers"][0]).update({"cpu": w.r.choice(["1", "1500m"]), "memory": "1Gi"})
    for pod in w.pending:
        if w.chance(0.6):
            continue
        pod["spec"]["priority"] = w.r.choice([1000, 1000, 2000, 50])
        requests_of(pod["spec"]["containers"][0]).update(
            {"cpu": w.r.choice(["1", "3", "7"]), "memory": w.r.choice(["2Gi", "6Gi"])}
        )
        if w.chance(0.2):
            pod["spec"]["preemptionPolicy"] = w.r.choice(["Never", "PreemptLowerPriority"])
    for pod in w.some(w.pods, 0.1):
        pod["spec"]["priority"] = w.r.choice([-10, -(2**31), 10, 2 * 10**9])
    for pod in w.some(w.bound, 0.03):
        pod["status"].pop("startTime", None)


def ties(w: World) -> None:
    """Pods of one priority that started together, or of which nobody knows when.

    Only on nodes with at most twelve pods: with more, kube-scheduler's order of equals is its sort's own.
    """
    on_node = collections.Counter(pod["spec"]["nodeName"] for pod in w.bound)
    few = {name for name, n in on_node.items() if n <= 12 and w.chance(0.5)}
    for pod in w.bound:
        if pod["spec"]["nodeName"] in few:
            pod["spec"]["priority"] = w.r.choice([0, 0, 10])
            pod["status"]["startTime"] = "2026-01-01T00:00:00Z"
            if w.chance(0.5):
                del pod["status"]["startTime"]


def nominated(w: World) -> None:
    """Pods nominated to a node, some of which wait for a victim there to go."""
    names = w.node_names()
    for pod in w.some(w.pending, 0.15):
        pod["status"]["nominatedNodeName"] = w.r.choice([*names, "node-nowhere"])
        pod["spec"]["priority"] = 500
        requests_of(pod["spec"]["containers"][0])["cpu"] = "6"
    for pod in w.some(w.bound, 0.1):
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T02:00:00Z"
        reason = w.r.choice(["PreemptionByScheduler", "PreemptionByScheduler", "EvictionByEvictionAPI"])
        pod["status"]["conditions"] = [
            {"type": "DisruptionTarget", "status": w.r.choice(["True", "True", "False"]), "reason": reason}
        ]


# --- images, features, names ---


def image_sizes(w: World) -> None:
    """Images that nodes report with different sizes, without a tag, by digest, twice; pods that name them likewise."""
    names = ["app", "app:latest", "registry.example:5000/app", "registry.example/app@sha256:" + "0" * 64, "big:v1"]
    for node in w.some(w.nodes, 0.6):
        chosen = w.r.sample(names, w.r.choice([1, 2, 3]))
        images = [
            {"names": [name], "sizeBytes": w.r.choice([0, 50, 300, 900, 2500]) * 1024 * 1024 + w.r.randrange(999)}
            for name in chosen
        ]
        node["status"]["images"] = (
            node["status"].get("images", []) + images + ([{"names": []}] if w.chance(0.2) else [])
        )
    for pod in w.some(w.pods, 0.6):
        for container in containers_of(pod):
            container["image"] = w.r.choice([*names, "registry.example:5000/app:latest", "absent:v9"])


def image_volumes(w: World) -> None:
    """Volumes made of an image: their size counts in the score."""
    for pod in w.some(w.pods, 0.2):
        for i in range(w.r.choice([1, 2])):
            add_volume(
                pod, image={"reference": f"registry.example/app/{w.r.randrange(12)}:v1"} if i or w.chance(0.9) else {}
            )


def features(w: World) -> None:
    """Pods that need a kubelet feature, and nodes that declare some."""
    for node in w.some(w.nodes, 0.5):
        node["status"]["declaredFeatures"] = sorted(
            w.r.sample(
                [
                    "ExtendWebSocketsToKubelet",
                    "RestartAllContainersOnContainerExits",
                    "UserNamespacesHostNetworkSupport",
                ],
                w.r.choice([1, 2]),
            )
        )
    for pod in w.some(w.pending, 0.2):
        if w.chance(0.5):
            pod["spec"] |= {"hostNetwork": w.chance(0.8), "hostUsers": w.chance(0.2)}
        else:
            action = w.r.choice(["RestartAllContainers", "RestartAllContainers", "Restart"])
            rule = {"action": action, "exitCodes": {"operator": "In", "values": [3]}}
            w.r.choice(containers_of(pod)).update({"restartPolicy": "Never", "restartPolicyRules": [rule]})


def profiles(w: World) -> None:
    """Pods of a second scheduler, of one that nobody runs, and of none."""
    for pod in w.some(w.pending, 0.35):
        pod["spec"]["schedulerName"] = w.r.choice(
            ["second-scheduler", "second-scheduler", "second-scheduler", "nobody"]
        )
    for pod in w.some(w.pending, 0.05):
        pod["spec"].pop("schedulerName", None)


def order(w: World) -> None:
    """Objects out of the order of their names."""
    w.r.shuffle(w.items)


def bare(w: World) -> None:
    """Pods with next to nothing in them, and some bound to a node that is not there."""
    for i in range(2):
        namespace = namespace_of(w.r.choice(w.pods)) if w.pods else "default"
        pod = {"containers": [{"name": "c"}]}
        w.items.append(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"bare-{i}", "namespace": namespace, "uid": f"u-bare-{i}"},
                "spec": pod,
                "status": {},
            }
        )
    for pod in w.some(w.bound, 0.03):
        pod["spec"]["nodeName"] = "node-nowhere"


def resource_claims(w: World) -> None:
    """Pods with resource claims that are not there, or that nobody has made of their template yet."""
    for pod in w.some(w.pending, 0.15):
        source = w.r.choice([{"resourceClaimName": "none"}, {"resourceClaimTemplateName": "of-template"}])
        pod["spec"]["resourceClaims"] = [{"name": "device", **source}]
