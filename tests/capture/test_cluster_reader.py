from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from kubesched.api import KINDS, CoschedulingPodGroup, Node, Pod
from kubesched.capture import read_live_cluster
from kubesched.cluster import list_path
from kubesched.snapshot import ClusterObjects, ListedObjects
from tests.cluster.fake_api_server import Answer, FakeApiServer, client_of, node, objects, says, silence, status
from tests.cluster.fake_timing import run

NOTHING: Mapping[str, list[Answer]] = {}
POD = {"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}, "spec": {"containers": [{"name": "c"}]}}


def read(
    server_says: dict[str, list],
    others: Mapping[str, list[Answer]] = NOTHING,
    lists: Mapping[str, list[Answer]] = NOTHING,
    **options: object,
) -> tuple[ClusterObjects, FakeApiServer]:
    async def scenario() -> tuple[ClusterObjects, FakeApiServer]:
        async with FakeApiServer() as server, client_of(server) as client:
            for kind in KINDS:
                server.on("LIST", list_path(kind), *server_says.get(kind, [objects()]))
            for path, answers in others.items():
                server.on("GET", path, *answers)
            for path, answers in lists.items():
                server.on("LIST", path, *answers)
            return await read_live_cluster(client, ListedObjects(**options)), server

    return run(scenario())


def test_pages_are_read_one_after_another_and_carry_their_kind() -> None:
    pages = [objects(node("n1"), more="next"), objects(node("n2"))]
    cluster, server = read({"Node": pages, "Pod": [objects(POD)]})
    assert [known.key for known in cluster] == ["n1", "n2", "shop/web"]
    assert [asked.query.get("continue") for asked in server.asked_for("LIST", list_path("Node"))] == [None, "next"]


def test_only_pods_that_are_not_over_are_asked_for() -> None:
    _, server = read({})
    (asked,) = server.asked_for("LIST", list_path("Pod"))
    assert asked.query["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"


def test_it_is_known_when_the_objects_were_read() -> None:
    cluster, _ = read({})
    assert cluster.taken_at is not None
    assert cluster.taken_at.isoformat() == "2023-11-14T22:30:00+00:00"


def test_a_list_whose_version_is_forgotten_begins_again() -> None:
    pages = [objects(node("n1"), more="next"), status(410, "Expired"), objects(node("n1"), node("n2"))]
    cluster, _ = read({"Node": pages})
    assert [known.name for known in cluster.of(Node)] == ["n1", "n2"]


def test_a_kind_that_the_server_does_not_have_is_empty_without_a_note() -> None:
    cluster, _ = read({"CSIStorageCapacity": [status(404, "NotFound")], "Pod": [objects(POD)]})
    assert cluster.notes == ()
    assert len(cluster.of(Pod)) == 1


REFUSED = [status(403, "Forbidden")]
RESOURCES = "/apis/scheduling.x-k8s.io/v1alpha1"


def test_pod_groups_are_read_where_the_server_has_them() -> None:
    group = {"metadata": {"name": "train", "namespace": "ml"}, "spec": {"minMember": 4}}
    cluster, _ = read({"CoschedulingPodGroup": [objects(group)], "VolcanoPodGroup": [status(404, "NotFound")]})
    (found,) = cluster.of(CoschedulingPodGroup)
    assert (found.key, found.minimum, cluster.notes) == ("ml/train", 4, ())


def test_a_refused_kind_that_the_server_does_not_have_is_empty_without_a_note() -> None:
    cluster, _ = read({"CoschedulingPodGroup": REFUSED, "VolcanoPodGroup": REFUSED})
    assert cluster.notes == ()


def test_a_refused_kind_that_the_server_has_is_noted() -> None:
    def resources(name: str, kind: str) -> dict[str, list[Answer]]:
        return {RESOURCES: [says({"resources": [{"name": name, "kind": kind, "verbs": ["list"]}]})]}

    cluster, _ = read({"CoschedulingPodGroup": REFUSED}, resources("podgroups", "PodGroup"))
    (note,) = cluster.notes
    assert note.startswith(
        "podgroups.scheduling.x-k8s.io cannot be listed (403 Forbidden): how many pods a group needs"
    )
    cluster, _ = read({"CoschedulingPodGroup": REFUSED}, resources("elasticquotas", "ElasticQuota"))
    assert cluster.notes == ()
    cluster, _ = read({"CoschedulingPodGroup": REFUSED}, {RESOURCES: REFUSED})
    assert len(cluster.notes) == 1


@pytest.mark.parametrize(
    ("versions", "older"), [(["v1beta1", "v1alpha3"], True), (["v1", "v1beta1"], False), ([], False)]
)
def test_claims_that_the_server_has_only_in_older_versions_are_noted(versions: list[str], older: bool) -> None:
    group = {"/apis/resource.k8s.io": [says({"versions": [{"version": version} for version in versions]})]}
    absent = {key: [status(404, "NotFound")] for key in ("DeviceClass", "ResourceSlice", "ResourceClaim")}
    cluster, _ = read(absent, group)
    refused = "cannot be listed (the API server has v1beta1 and v1alpha3, not v1)"
    unknown = "devices of ResourceSlices are not counted, and no claim can be allocated"
    notes = (
        f"resourceslices.resource.k8s.io {refused}: {unknown}",
        f"resourceclaims.resource.k8s.io {refused}: devices that claims have count as free",
    )
    assert cluster.notes == (notes if older else ())
    assert cluster.listed_kinds.isdisjoint({"ResourceSlice", "ResourceClaim"}) == older


OTHER_VERSIONS = pytest.mark.parametrize(
    ("key", "group", "others", "version"),
    [
        ("PodGroup", "scheduling.k8s.io", ["v1", "v1alpha2"], "v1alpha2"),
        ("ResourceClaim", "resource.k8s.io", ["v1beta1", "v1beta2"], "v1beta2"),
        ("DeviceClass", "resource.k8s.io", ["v1beta1"], "v1beta1"),
    ],
)


@OTHER_VERSIONS
def test_a_kind_is_read_in_the_first_of_its_versions_that_is_served(
    key: str, group: str, others: list[str], version: str
) -> None:
    kind, label = KINDS[key], f"/apis/{group}"
    path = list_path(replace(kind, version=version))
    found = {"kind": f"{kind.name}List", "metadata": {"resourceVersion": "1"}, "items": [node("one")]}
    versions = says({"versions": [{"version": other} for other in others]})
    cluster, _ = read({key: [status(404, "NotFound")]}, {label: [versions], path: [says(found)]})
    assert [known.name for known in cluster.of(kind.type)] == ["one"]
    assert key in cluster.listed_kinds
    assert cluster.notes == ()


METRICS, NODES = "/apis/metrics.k8s.io/v1beta1", "/apis/metrics.k8s.io/v1beta1/nodes"
SERVED = says({"resources": [{"name": "nodes", "kind": "NodeMetrics", "verbs": ["list"]}]})


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([silence, silence], "no answer within 0.3 s"),
        ([SERVED, silence], "no answer within 0.3 s"),
        ([says(None), silence], "no usable answer"),
        ([SERVED, says([])], "no usable answer"),
        ([status(403, "Forbidden"), silence], "403 Forbidden"),
    ],
)
def test_a_kind_that_plugins_do_without_keeps_nobody_waiting(
    answers: list[Answer], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kubesched.capture.cluster_reader._PATIENCE_SECONDS", 0.3)

    async def scenario() -> ClusterObjects:
        async with FakeApiServer() as server, client_of(server) as client:
            for kind in KINDS:
                server.on("LIST", list_path(kind), objects())
            server.on("GET", METRICS, answers[0])
            server.on("LIST", NODES, answers[1])
            return await read_live_cluster(client, ListedObjects(kinds=["metrics.k8s.io/v1beta1/NodeMetrics?"]))

    (note,) = run(scenario()).notes
    assert note == f"nodes.metrics.k8s.io cannot be listed ({why}): what reads them, such as a plugin, finds none"


def test_progress_counts_kinds() -> None:
    seen: list[tuple[int, int]] = []

    async def scenario() -> None:
        async with FakeApiServer() as server, client_of(server) as client:
            for kind in KINDS:
                server.on("LIST", list_path(kind), objects())
            await read_live_cluster(client, ListedObjects(), progress=lambda done, total: seen.append((done, total)))

    run(scenario())
    assert seen == [(done, len(KINDS)) for done in range(len(KINDS))]


STATUS_PATH = "/api/v1/configmaps"
STATUS = {
    "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"},
    "data": {"status": "nodeGroups: []"},
}


def test_the_pools_of_autoscalers_are_read() -> None:
    pool = {"metadata": {"name": "gpu"}, "spec": {"limits": {"cpu": "100"}}}
    answers = {STATUS_PATH: [objects(STATUS)]}
    cluster, server = read({"NodePool": [objects(pool)]}, {}, lists=answers)
    assert [known.key for known in cluster] == ["gpu", "kube-system/cluster-autoscaler-status"]
    (asked,) = server.asked_for("LIST", STATUS_PATH)
    assert asked.query["fieldSelector"] == "metadata.name=cluster-autoscaler-status"


def test_a_refused_status_of_the_autoscaler_is_noted_and_an_absent_one_is_not() -> None:
    cluster, _ = read({}, {}, lists={STATUS_PATH: [status(403, "Forbidden")]})
    assert cluster.notes == (
        "ConfigMap cluster-autoscaler-status cannot be read (403 Forbidden): which node groups may grow is not known",
    )
    assert read({}, {}, lists={STATUS_PATH: [status(404, "NotFound")]})[0].notes == ()
