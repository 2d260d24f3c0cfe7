import pytest

from kubesched.explanation import Explainer, explain
from kubesched.framework import Plugin, Status
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, ask, filling, why

ZONE = "topology.kubernetes.io/zone"


def affinity(kind: str, **term: object) -> dict:
    terms = [{"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "db"}}, **term}]
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def node_affinity(*terms: list[dict]) -> dict:
    written = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": written}}}


def claim(name: str, volume: str) -> object:
    spec = {"volumeName": volume, "accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    return make_object("PersistentVolumeClaim", name, annotations=bound, spec=spec, status={"phase": "Bound"})


def pod_with_claim(name: str) -> object:
    return make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}]})


def test_a_resource_is_told_with_what_is_asked_for_and_what_is_free():
    said = why(make_pod("p", requests={"cpu": "1500m"}), make_node("n1", allocatable=SMALL), filling("n1", cpu="1800m"))
    assert said == {"NodeResourcesFit": "cpu is short by 1.3: requests 1.5, 200m of 2 free"}


def test_a_request_that_no_empty_node_could_meet_is_told_apart():
    wanted = {"memory": "1Ti", "example.com/fpga": "2", "example.com/gpu": "2"}
    said = why(make_pod("p", requests=wanted), make_node("n1", allocatable={"example.com/gpu": "1"}))
    assert said["NodeResourcesFit"].split("; requests ") == [
        "requests 1Ti memory; the whole node has 8Gi",
        "2 example.com/fpga; the node has none",
        "2 example.com/gpu; the whole node has 1",
    ]


def test_full_places_for_pods_are_told():
    said = why(make_pod("p"), make_node("n1", allocatable={"pods": "1"}), filling("n1"))
    assert said == {"NodeResourcesFit": "all 1 places for pods are in use"}


def test_only_taints_that_are_not_tolerated_and_keep_away_are_named():
    node = make_node("n1", taints=["a=x:NoSchedule", "b:NoExecute", "c=y:PreferNoSchedule"])
    said = why(make_pod("p", tolerations=[{"key": "a", "operator": "Exists"}]), node)
    assert said == {"TaintToleration": "taint b:NoExecute is not tolerated"}


@pytest.mark.parametrize(
    ("toleration", "words"),
    [
        ({"key": "pool", "operator": "Equal", "value": "GPU", "effect": "NoSchedule"}, "pool=GPU:NoSchedule"),
        ({"key": "pool", "value": "gpu", "effect": "NoExecute"}, "pool=gpu:NoExecute"),
        ({"key": "pool", "operator": "Exists", "effect": "NoExecute"}, "pool:NoExecute"),
        ({"key": "pool", "operator": "Equal"}, 'pool=""'),
    ],
)
def test_a_toleration_that_is_nearly_right_is_named(toleration: dict, words: str):
    pod = make_pod("p", spec={"tolerations": [toleration]})
    said = why(pod, make_node("n1", taints=["pool=gpu:NoSchedule"]))["TaintToleration"]
    assert said == f"taint pool=gpu:NoSchedule is not tolerated (the pod tolerates {words})"


@pytest.mark.parametrize("other", [{"key": "pool", "value": "db"}, {"key": "dedicated", "value": "gpu"}])
def test_a_toleration_for_other_nodes_is_not_named(other: dict):
    said = why(make_pod("p", spec={"tolerations": [other]}), make_node("n1", taints=["pool=gpu:NoSchedule"]))
    assert said["TaintToleration"] == "taint pool=gpu:NoSchedule is not tolerated"


def test_the_tolerations_that_every_pod_gets_are_not_named():
    key = "node.kubernetes.io/not-ready"
    pod = make_pod("p", spec={"tolerations": [{"key": key, "operator": "Exists", "effect": "NoExecute"}]})
    said = why(pod, make_node("n1", taints=[f"{key}:NoSchedule"]))["TaintToleration"]
    assert said == f"taint {key}:NoSchedule is not tolerated"


def test_a_cordoned_node_is_called_that():
    assert why(make_pod("p"), make_node("n1", unschedulable=True))["NodeUnschedulable"] == "the node is cordoned"


def test_a_label_that_differs_is_told_with_both_values():
    said = why(make_pod("p", node_selector={"disk": "ssd"}), make_node("n1", labels={"disk": "hdd"}))
    assert said == {"NodeAffinity": "label disk is 'hdd', wanted: 'ssd'"}


def test_a_label_that_is_missing_is_called_absent():
    said = why(make_pod("p", node_selector={"disk": "ssd"}), make_node("n1"))
    assert said == {"NodeAffinity": "label disk is absent, wanted: 'ssd'"}


def test_of_several_terms_the_one_that_misses_least_is_told():
    far = [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}]
    near = [{"key": "size", "operator": "Gt", "values": ["5"]}]
    said = why(make_pod("p", spec=node_affinity(far, near)), make_node("n1", labels={"size": "3"}))
    assert said == {"NodeAffinity": "label size is '3', wanted: more than 5"}


def test_requirements_of_every_kind_are_put_into_words():
    term = [
        {"key": "a", "operator": "In", "values": ["x", "y"]},
        {"key": "b", "operator": "NotIn", "values": ["z"]},
        {"key": "c", "operator": "DoesNotExist"},
        {"key": "d", "operator": "Lt", "values": ["2"]},
    ]
    said = why(make_pod("p", spec=node_affinity(term)), make_node("n1", labels={"b": "z", "c": "1"}))
    assert said["NodeAffinity"].split("; ") == [
        "label a is absent, wanted: 'x' or 'y'",
        "label b is 'z', wanted: not 'z'",
        "label c is '1', wanted: absent",
        "label d is absent, wanted: less than 2",
    ]


def test_a_host_port_is_told_with_the_pod_that_holds_it():
    said = why(make_pod("p", host_ports=[80]), make_node("n1"), make_pod("edge", host_ports=[80, 443], node="n1"))
    assert said == {"NodePorts": "host port 80/TCP is held by default/edge"}


def test_pods_that_anti_affinity_avoids_are_named_with_their_nodes():
    others = [make_pod(f"db-{i}", labels={"app": "db"}, node="n1") for i in range(2)]
    said = why(make_pod("p", spec=affinity("podAntiAffinity")), make_node("n1", zone="a"), *others)
    assert said == {"InterPodAffinity": "pods default/db-0 (n1) and default/db-1 (n1) have app=db in zone a"}


def test_a_pod_that_affinity_misses_is_described():
    said = why(make_pod("p", spec=affinity("podAffinity")), make_node("n1", zone="a"))
    assert said == {"InterPodAffinity": "no pod has app=db in zone a"}


def test_affinity_over_a_label_that_the_node_lacks_names_the_label():
    assert why(make_pod("p", spec=affinity("podAffinity")), make_node("n1")) == {
        "InterPodAffinity": f"no node has the label {ZONE}"
    }


def test_only_three_of_the_pods_in_the_way_are_named():
    others = [make_pod(f"db-{i}", labels={"app": "db"}, node="n1") for i in range(5)]
    said = why(make_pod("p", spec=affinity("podAntiAffinity")), make_node("n1", zone="a"), *others)
    names = "default/db-0 (n1), default/db-1 (n1), default/db-2 (n1) and 2 more"
    assert said == {"InterPodAffinity": f"pods {names} have app=db in zone a"}


def test_pods_whose_own_anti_affinity_avoids_the_pod_are_named():
    other = make_pod("db", node="n2", spec=affinity("podAntiAffinity"))
    nodes = make_node("n1", zone="a"), make_node("n2", zone="a")
    said = why(make_pod("p", labels={"app": "db"}), *nodes, other)
    assert said == {"InterPodAffinity": "pod default/db (n2) has anti-affinity against the pod in zone a"}


def test_spreading_is_told_with_its_limit():
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [constraint]})
    there = make_pod("web", labels={"app": "web"}, node="n1")
    said = why(pod, make_node("n1", zone="a"), make_node("n2", zone="b"), there)
    assert said == {"PodTopologySpread": "one more such pod in zone a would exceed maxSkew 1: zone b has none"}


def spread_over(key: str) -> dict:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [constraint | {"labelSelector": {"matchLabels": {"app": "web"}}}]}


@pytest.mark.parametrize(
    ("plugin", "spec"),
    [("PodTopologySpread", spread_over("zone")), ("InterPodAffinity", affinity("podAffinity", topologyKey="zone"))],
)
def test_a_topology_key_that_no_node_has_is_told_apart_from_one_that_the_node_lacks(plugin: str, spec: dict):
    pod = make_pod("p", spec=spec)
    assert why(pod, make_node("n1"), make_node("n2")) == {plugin: "no node has the label zone"}
    assert why(pod, make_node("n1"), make_node("n2", labels={"zone": "a"})) == {plugin: "label zone is absent"}


def test_a_volume_out_of_reach_is_told_with_its_place():
    expressions = [{"key": ZONE, "operator": "In", "values": ["c"]}]
    required = {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    volume = make_object("PersistentVolume", "pv-1", spec={"nodeAffinity": required})
    said = why(pod_with_claim("data"), make_node("n1", zone="a"), claim("data", "pv-1"), volume)
    assert said == {"VolumeBinding": "volume pv-1 of claim data is in zone c"}


def test_a_volume_of_another_zone_is_told():
    volume = make_object("PersistentVolume", "pv-1", labels={ZONE: "c"})
    said = why(pod_with_claim("data"), make_node("n1", zone="a"), claim("data", "pv-1"), volume)
    assert said == {"VolumeZone": "volume pv-1 of claim data is in zone c, the node in a"}


class NoThanks(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("no", "thanks")


def test_a_plugin_of_one_s_own_is_quoted():
    (obstacle,) = ask(make_pod("p"), make_node("n1"), plugins=[NoThanks]).obstacles(0)
    assert (obstacle.plugin, obstacle.details, obstacle.text) == ("NoThanks", (), "no; thanks")


class Explains(NoThanks):
    def explain_rejection(self, state, pod, node, status):
        yield f"{pod.name} is not wanted on {node.name}: {status.message}"


def test_a_plugin_of_one_s_own_can_explain_itself():
    (obstacle,) = ask(make_pod("p"), make_node("n1"), plugins=[Explains]).obstacles(0)
    assert obstacle.text == "p is not wanted on n1: no, thanks"


class FailsToExplain(NoThanks):
    def explain_rejection(self, state, pod, node, status):
        raise ValueError("lost for words")


class ExplainsInNumbers(NoThanks):
    def explain_rejection(self, state, pod, node, status):
        return [5]


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (FailsToExplain, 'running ExplainRejection plugin "FailsToExplain": ValueError: lost for words'),
        (ExplainsInNumbers, 'running ExplainRejection plugin "ExplainsInNumbers": must return texts; found (5,)'),
    ],
)
def test_a_hook_that_fails_is_logged_once_and_the_reasons_stay(plugin, text, caplog):
    nodes = [make_node("n1", unschedulable=True), make_node("n2")]
    explanation = ask(make_pod("p"), *nodes, plugins=[plugin])
    assert [obstacle.text for obstacle in explanation.obstacles(0)] == ["the node is cordoned", "no; thanks"]
    assert [obstacle.text for obstacle in explanation.obstacles(1)] == ["no; thanks"]
    (said,) = caplog.messages
    assert said.startswith(text)
    assert said.endswith("the reasons are shown without details")


def test_only_the_constraint_that_is_broken_is_told():
    constraints = [
        {
            "maxSkew": skew,
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
        for skew, key in ((1, "kubernetes.io/hostname"), (9, ZONE))
    ]
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": constraints})
    nodes = [make_node(name, zone="a", labels={"kubernetes.io/hostname": name}) for name in ("n1", "n2")]
    said = why(pod, *nodes, make_pod("web", labels={"app": "web"}, node="n1"))
    assert said == {"PodTopologySpread": "one more such pod on the node would exceed maxSkew 1: node n2 has none"}


def test_a_node_that_fits_has_no_obstacles():
    assert why(make_pod("p"), make_node("n1")) == {}


def test_the_user_of_a_claim_for_one_pod_is_named_with_its_node():
    spec = {"volumeName": "pv-1", "accessModes": ["ReadWriteOncePod"]}
    bound = {"pv.kubernetes.io/bind-completed": "yes"}
    data = make_object("PersistentVolumeClaim", "data", annotations=bound, spec=spec, status={"phase": "Bound"})
    volume = make_object("PersistentVolume", "pv-1", spec={"capacity": {"storage": "1Gi"}})
    user = make_pod("first", spec={**pod_with_claim("data").document["spec"], "nodeName": "n2"})
    said = why(pod_with_claim("data"), make_node("n1"), make_node("n2"), data, volume, user)
    assert said == {"VolumeRestrictions": "pod default/first (n2) has claim data, which is ReadWriteOncePod"}


def test_the_pod_with_the_same_disk_is_named():
    disk = {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]}
    said = why(make_pod("p", spec=disk), make_node("n1"), make_pod("first", node="n1", spec=disk))
    assert said == {"VolumeRestrictions": "pod default/first (n1) has the same disk"}


def test_the_limit_of_volumes_is_told_with_what_the_node_has():
    driver = {"name": "ebs.example.com", "nodeID": "n1", "topologyKeys": [], "allocatable": {"count": 1}}
    csi_node = make_object("CSINode", "n1", spec={"drivers": [driver]})
    objects = []
    for name in ("one", "two"):
        spec = {"volumeName": f"pv-{name}", "accessModes": ["ReadWriteOnce"]}
        bound = {"pv.kubernetes.io/bind-completed": "yes"}
        source = {"driver": "ebs.example.com", "volumeHandle": name}
        objects += [
            make_object("PersistentVolumeClaim", name, annotations=bound, spec=spec, status={"phase": "Bound"}),
            make_object("PersistentVolume", f"pv-{name}", spec={"capacity": {"storage": "1Gi"}, "csi": source}),
        ]
    user = make_pod("first", spec={**pod_with_claim("one").document["spec"], "nodeName": "n1"})
    said = why(pod_with_claim("two"), make_node("n1"), csi_node, user, *objects)
    expected = "1 of 1 places for volumes of ebs.example.com are in use; the pod brings 1 more"
    assert said == {"NodeVolumeLimits": expected}


def test_a_nominated_pod_that_keeps_the_room_is_named():
    urgent = make_pod("urgent", requests={"cpu": "1500m"}, priority=9, status={"nominatedNodeName": "n1"})
    node = make_node("n1", allocatable=SMALL)
    small = make_pod("small", requests={"cpu": "1"})
    found = explain([node, urgent, small], "default/small")
    told = "cpu is short by 500m: requests 1, 500m of 2 free; room is kept for default/urgent (nominated)"
    assert [obstacle.text for obstacle in found.obstacles(0)] == [told]
    assert [obstacle.text for obstacle in explain([node, small, make_pod("other")], small.key).obstacles(0)] == []


class Counted(Plugin):
    """Rejects every node, and counts how often it explains one."""

    n_calls = 0

    def filter(self, state, pod, node):
        return Status.unschedulable("no")

    def explain_rejection(self, state, pod, node, status):
        Counted.n_calls += 1
        return [f"pool {node.labels['pool']} is closed"]

    def explain_alike(self, state, pod, nodes):
        return nodes.codes("pool")


class CountsEach(Counted):
    def explain_alike(self, state, pod, nodes):
        return ["a", "b"]


def n_explained(plugin: type[Counted], n_nodes: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes the plugin explains beside those that are looked at closely, and the one that advice is about."""
    monkeypatch.setattr(Counted, "n_calls", 0)
    nodes = [make_node(f"n{i:03}", labels={"pool": f"p{i % 3}"}) for i in range(n_nodes)]
    with Explainer([*nodes, make_pod("p")], None, [plugin]) as explainer:
        explanation = explainer.explain("default/p")
    assert sorted(row.texts for row in explanation.rows) == [(f"pool p{i} is closed",) for i in range(3)]
    return Counted.n_calls - len(explanation.closely) - 1


def test_nodes_that_are_alike_are_explained_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert n_explained(Counted, 90, monkeypatch) == 3


def test_each_node_is_explained_where_it_is_not_known_which_are_alike(monkeypatch, caplog) -> None:
    assert n_explained(CountsEach, 90, monkeypatch) == 90
    (said,) = caplog.messages
    assert said.startswith('running ExplainAlike plugin "CountsEach": must return 90 integers, one per node; found')
    assert said.endswith("each node is explained by itself")


def test_a_node_with_a_nominated_pod_is_explained_by_itself() -> None:
    nodes = [make_node(f"n{i}", allocatable={"cpu": "1", "pods": "9"}) for i in range(3)]
    nominated = make_pod("first", priority=9, requests={"cpu": "1"}, status={"nominatedNodeName": "n1"})
    rows = ask(make_pod("p", requests={"cpu": "2"}), *nodes, nominated).rows
    texts = {position: row.texts for row in rows for position in row.positions}
    assert texts[0] == texts[2] != texts[1]
