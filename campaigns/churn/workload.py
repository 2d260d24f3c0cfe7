"""A cluster that never rests: each second pods come and go, workloads roll out, and nodes are replaced.

Everything that has a name gets a new one each time: pods, nodes, template hashes, resources, labels, images, budgets.
So whatever is kept by such a name grows.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from random import Random
from typing import Any, TypeVar

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.integration.api_client import ApiClient, ApiError, Document, document_of

N_NODES = 60
N_PODS = 1200  # that live at a time
N_APPS = 20
N_THREADS = 16
N_TRIES = 3
T = TypeVar("T")
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


class Workload:
    """What happens in each second of a run.

    Args:
        per_second: pods that come, and about as many that go.
    Attributes:
        n_created, n_deleted: pods so far. n_nodes: nodes so far.
    """

    def __init__(self, client: ApiClient, seed: int, per_second: int = 50) -> None:
        self.n_created = self.n_deleted = self.n_nodes = 0
        self._client = client
        self._random = Random(seed)
        self._per_second = per_second
        self._serial = count()
        self._nodes: deque[str] = deque()
        self._pods: deque[str] = deque()
        self._hashes = [f"h{next(self._serial)}" for _ in range(N_APPS)]
        self._budgets: deque[str] = deque()
        self._pool = ThreadPoolExecutor(N_THREADS)

    def begin(self) -> None:
        """Make the first nodes and services."""
        apps = range(N_APPS)
        services = [make_object("Service", f"app-{n}", spec=_service(f"app-{n}")) for n in apps]
        self._client.create_all([*services, *(self._node() for _ in range(N_NODES))])

    def end(self) -> None:
        """Give the threads back."""
        self._pool.shutdown()

    def second(self, number: int) -> None:
        """Do what happens in one second."""
        app = self._random.randrange(N_APPS)
        self._hashes[app] = f"h{next(self._serial)}"  # a rollout
        self._create_pods(app)
        self._run_some()
        self._delete_pods()
        if number % 5 == 0:
            self._replace_node()
        if number % 10 == 0:
            self._replace_budget(app)

    # --- pods ---

    def _create_pods(self, app: int) -> None:
        pods = [self._pod(app if self._random.random() < 0.7 else None) for _ in range(self._per_second)]
        try:
            self._client.create_all(pods)
        except ApiError as error:
            if error.status < 500:
                raise
            self._each(pods, self._client.create)  # those that were made already answer 409
        self._pods.extend(pod["metadata"]["name"] for pod in pods)
        self.n_created += len(pods)

    def _pod(self, app: int | None) -> Document:
        random, serial = self._random, next(self._serial)
        app = random.randrange(N_APPS) if app is None else app
        template = self._hashes[app]
        requests = {"cpu": random.choice(("50m", "100m", "300m")), "memory": f"{random.randrange(32, 256)}Mi"}
        spec: dict[str, Any] = {"affinity": self._affinity(app, template)}
        odd = random.random()
        limits: dict[str, str] = {}
        if odd < 0.02:
            limits[f"example.com/device-{serial}"] = "1"  # no node has this one
        elif odd < 0.06:
            limits[f"example.com/of-{random.choice(self._nodes)}"] = "1"
        if random.random() < 0.2:
            spec["topologySpreadConstraints"] = [_spread(app, random.choice((ZONE, HOST)))]
        pod = make_pod(
            f"app-{app}-{template}-{serial}",
            labels={"app": f"app-{app}", "pod-template-hash": template, "release": f"r{serial % 997}"},
            annotations={"example.com/serial": str(serial)},
            requests={**requests, **limits},
            image=f"registry.example.com/app-{app}:{template}",
            host_ports=[random.randrange(20_000, 30_000)] if random.random() < 0.05 else [],
            node_selector={"example.com/pool": f"pool-{random.randrange(40)}"} if random.random() < 0.03 else {},
            tolerations=[{"key": f"example.com/taint-{serial % 50}", "operator": "Exists"}],
            priority=0,
            spec={"terminationGracePeriodSeconds": 0, **spec},
        )
        document = document_of(pod)
        document["spec"]["containers"][0]["resources"]["limits"] = limits
        return document

    def _affinity(self, app: int, template: str) -> dict[str, Any]:
        wanted = self._random.random()
        if wanted > 0.3:
            return {}
        same = {"labelSelector": {"matchLabels": {"pod-template-hash": template}}, "topologyKey": HOST}
        near = {"labelSelector": {"matchLabels": {"app": f"app-{app}"}}, "topologyKey": ZONE}
        preferred = {"weight": 10, "podAffinityTerm": near if wanted < 0.15 else same}
        kind = "podAffinity" if wanted < 0.15 else "podAntiAffinity"
        if wanted > 0.25:
            return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [same]}}
        return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}}

    def _run_some(self) -> None:
        """What kubelets report: some pods run, and a few are over."""
        names = self._random.sample(list(self._pods), min(15, len(self._pods)))
        self._each(names[:12], lambda name: self._client.patch("Pod", name, {"status": _running()}, part="status"))
        over = {"status": {"phase": "Succeeded"}}
        self._each(names[12:], lambda name: self._client.patch("Pod", name, over, part="status"))

    def _delete_pods(self) -> None:
        n = max(0, len(self._pods) - N_PODS)
        self._delete("Pod", [self._pods.popleft() for _ in range(n)])
        self.n_deleted += n

    # --- nodes and budgets ---

    def _replace_node(self) -> None:
        """A node goes, with its pods a moment later, and another one comes under a new name."""
        name = self._nodes.popleft()
        self._client.create(self._node())
        self._delete("Node", [name])
        pods = self._client.read_all("Pod", "default", fieldSelector=f"spec.nodeName={name}", resourceVersion="0")
        names = {pod["metadata"]["name"] for pod in pods}
        self._delete("Pod", names)
        self._pods = deque(pod for pod in self._pods if pod not in names)
        self.n_deleted += len(names)

    def _node(self) -> KubeObject:
        random, serial = self._random, next(self._serial)
        self.n_nodes += 1
        name = f"node-{serial}"
        self._nodes.append(name)
        return make_node(
            name,
            zone=random.choice("abc"),
            labels={
                HOST: name,
                "example.com/pool": f"pool-{random.randrange(40)}",
                f"example.com/only-{serial}": "yes",
            },
            allocatable={"cpu": "16", "memory": "32Gi", "pods": "110", f"example.com/of-{name}": "20"},
            taints=[f"example.com/taint-{serial % 50}=x:PreferNoSchedule"],
            status={"images": [{"names": [f"registry.example.com/image-{serial}:1"], "sizeBytes": 10**8}]},
        )

    def _replace_budget(self, app: int) -> None:
        name = f"budget-{next(self._serial)}"
        selector = {"matchLabels": {"pod-template-hash": self._hashes[app]}}
        self._client.create(make_object("PodDisruptionBudget", name, spec={"minAvailable": 1, "selector": selector}))
        self._budgets.append(name)
        if len(self._budgets) > 5:
            self._delete("PodDisruptionBudget", [self._budgets.popleft()])

    # --- requests ---

    def _delete(self, kind: str, names: Iterable[str]) -> None:
        self._each(names, lambda name: self._client.delete(kind, name))

    def _each(self, things: Iterable[T], call: Callable[[T], object]) -> None:
        """Call something for each of some objects, several at a time; those that are gone do not count."""
        for _ in self._pool.map(lambda thing: _unless_gone(call, thing), things):
            pass


def _unless_gone(call: Callable[[T], object], thing: T) -> None:
    """Call something, again where an API server on a slow disk did not answer in time."""
    for n_left in reversed(range(N_TRIES)):
        try:
            call(thing)
        except ApiError as error:
            if error.status >= 500 and n_left:
                continue
            if error.status not in (404, 409, 422):  # 422: what is over does not run again
                raise
        return


def _service(app: str) -> dict[str, Any]:
    return {"selector": {"app": app}, "ports": [{"port": 80}]}


def _spread(app: int, topology_key: str) -> dict[str, Any]:
    return {
        "maxSkew": 5,
        "topologyKey": topology_key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": f"app-{app}"}},
        "matchLabelKeys": ["pod-template-hash"],
    }


def _running() -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {"phase": "Running", "startTime": "2026-01-01T00:00:00Z", "conditions": [ready]}
