"""What a live scheduler writes, and in which order."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from kubesched.api import EventType, ObjectReference, Pod, WatchEvent, decode_object
from kubesched.errors import ClusterError, NotFoundError
from kubesched.framework import Bind, DeletePod, PatchPodStatus, RecordEvent, WriteObject
from kubesched.live import ApiWriter
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_pod
from tests.live.fake_api import FakeApi, Sleepless, on_a_loop

CONDITION = ("PodScheduled", "False", "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")
STATUS = "/pods/web/status"
REQUESTS_AT_A_TIME = 64  # of the client


class Bed:
    """A writer over a fake API server."""

    def __init__(self, *pods: Pod, release: Release = DEFAULT_RELEASE) -> None:
        self.api = FakeApi()
        self.api.timing = Sleepless()
        self.state = ClusterState(release)
        self.events: list[RecordEvent] = []
        self.state.apply(WatchEvent(EventType.ADDED, "Node", make_node("n1")))
        for pod in pods:
            self.state.apply(WatchEvent(EventType.ADDED, "Pod", pod))
        self.writer = ApiWriter(self.api, self.state, self.events.append)  # type: ignore[arg-type]


@on_a_loop
async def test_a_condition_and_a_nomination_are_one_patch():
    pod = make_pod("web", metadata={"uid": "u1", "generation": 3})
    bed = Bed(pod)
    await bed.writer.perform(PatchPodStatus(pod, CONDITION, "n1"))
    ((method, path, body),) = bed.api.requests
    assert (method, path.endswith(STATUS)) == ("PATCH", True)
    (entry,) = body["status"].pop("conditions")
    assert entry.pop("lastTransitionTime").endswith("Z")
    assert entry == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": CONDITION[3],
        "observedGeneration": 3,
    }
    assert body == {"metadata": {"uid": "u1"}, "status": {"nominatedNodeName": "n1"}}


@pytest.mark.parametrize(("minor", "known", "written"), [(33, 0, None), (33, 2, 3), (34, 0, 3)])
@on_a_loop
async def test_conditions_have_the_generation_of_the_pod_where_the_version_has_it(minor, known, written):
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "observedGeneration": known}
    pod = make_pod("web", metadata={"uid": "u1", "generation": 3}, status={"conditions": [condition]})
    bed = Bed(pod, release=Release(minor))
    await bed.writer.perform(PatchPodStatus(pod, CONDITION))
    (entry,) = bed.api.written(STATUS)[0]["status"]["conditions"]
    assert entry.get("observedGeneration") == written


@pytest.mark.parametrize(
    ("known", "nominated", "is_written"),
    [
        ({}, None, True),
        ({"reason": "SchedulerError"}, None, True),
        ({"observedGeneration": 1}, None, True),
        (None, None, False),
        (None, "n1", True),
        (None, "", False),
    ],
)
@on_a_loop
async def test_nothing_is_written_where_nothing_would_change(known, nominated, is_written):
    same = dict(zip(("type", "status", "reason", "message"), CONDITION, strict=True))
    conditions = [] if known == {} else [{**same, **(known or {})}]
    pod = make_pod("web", status={"conditions": conditions})
    bed = Bed(pod)
    await bed.writer.perform(PatchPodStatus(pod, CONDITION, nominated))
    assert bool(bed.api.requests) is is_written


@on_a_loop
async def test_the_time_of_the_last_transition_stays_while_the_status_is_the_same():
    known = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError", "message": "x"}
    pod = make_pod("web", status={"conditions": [known]})
    bed = Bed(pod)
    await bed.writer.perform(PatchPodStatus(pod, CONDITION))
    (entry,) = bed.api.written(STATUS)[0]["status"]["conditions"]
    assert "lastTransitionTime" not in entry


@on_a_loop
async def test_writes_to_one_pod_keep_their_order_and_others_go_ahead():
    web, db = make_pod("web", metadata={"uid": "u1"}), make_pod("db", metadata={"uid": "u2"})
    bed = Bed(web, db)
    gate = bed.api.gates["/api/v1/namespaces/default/pods/web/status"] = asyncio.Event()
    bed.writer.emit(PatchPodStatus(web, CONDITION))
    bound = asyncio.create_task(bed.writer.perform(Bind(web, "n1")))
    assert not (await bed.writer.perform(Bind(db, "n1"))).error
    assert not bed.api.written("/pods/web/binding")
    gate.set()
    assert not (await bound).error
    assert bed.api.written("/pods/web/binding")
    await bed.writer.finish()


@on_a_loop
async def test_thousands_of_conditions_leave_room_for_bindings():
    pods = [make_pod(f"p{i}", metadata={"uid": f"u{i}"}) for i in range(1000)]
    bed = Bed(*pods)
    gates = {f"/api/v1/namespaces/default/pods/p{i}/status": asyncio.Event() for i in range(1000)}
    bed.api.gates.update(gates)
    for pod in pods:
        bed.writer.emit(PatchPodStatus(pod, CONDITION))
    await asyncio.sleep(0.01)
    assert 0 < len(bed.api.requests) <= REQUESTS_AT_A_TIME / 2
    for gate in gates.values():
        gate.set()
    await bed.writer.finish()
    assert len(bed.api.written("/status")) == 1000


def waiting_bed() -> tuple[Bed, list[Pod], asyncio.Event]:
    """A writer whose patches all wait for the answers to the first ones."""
    pods = [make_pod(f"p{i}", metadata={"uid": f"u{i}"}) for i in range(100)]
    bed, gate = Bed(*pods), asyncio.Event()
    bed.api.gates.update({f"/api/v1/namespaces/default/pods/p{i}/status": gate for i in range(100)})
    for pod in pods:
        bed.writer.emit(PatchPodStatus(pod, CONDITION))
    return bed, pods, gate


@on_a_loop
async def test_a_condition_that_was_not_sent_does_not_keep_the_binding_waiting_and_is_not_sent_after_it():
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    bed, pods, gate = waiting_bed()
    await asyncio.sleep(0.01)
    async with asyncio.timeout(1):
        assert not (await bed.writer.perform(Bind(pods[-1], "n1"))).error
    gate.set()
    await bed.writer.finish()
    await asyncio.sleep(0)
    assert not faults
    assert not bed.writer._last
    assert len(bed.api.written("/status")) == 99
    assert not bed.api.written("/pods/p99/status")


@on_a_loop
async def test_of_the_conditions_of_a_pod_that_were_not_sent_the_newest_is_written_once():
    bed, pods, gate = waiting_bed()
    newest = (*CONDITION[:3], "0/2 nodes are available: 2 Insufficient cpu.")
    bed.writer.emit(PatchPodStatus(pods[-1], None, "n1"))
    bed.writer.emit(PatchPodStatus(pods[-1], newest))
    assert len(bed.writer._tasks) == 100
    gate.set()
    await bed.writer.finish()
    (body,) = [body for _, path, body in bed.api.requests if path.endswith("/pods/p99/status")]
    assert body["status"]["conditions"][0]["message"] == newest[3]
    assert body["status"]["nominatedNodeName"] == "n1"


@on_a_loop
async def test_a_nomination_is_written_before_the_binding_that_follows_it():
    bed, pods, gate = waiting_bed()
    bed.writer.emit(PatchPodStatus(pods[-1], None, "n1"))
    bound = asyncio.create_task(bed.writer.perform(Bind(pods[-1], "n1")))
    await asyncio.sleep(0.01)
    assert not bound.done()
    gate.set()
    assert not (await bound).error
    of_pod = [path for _, path, _ in bed.api.requests if "/pods/p99/" in path]
    assert [path.rpartition("/")[2] for path in of_pod] == ["status", "binding"]
    await bed.writer.finish()
    assert not bed.writer._last


@on_a_loop
async def test_a_victim_is_marked_deleted_and_told():
    victim, preemptor = make_pod("web", node="n1"), make_pod("urgent", metadata={"uid": "u9"})
    bed = Bed(victim)
    assert not (await bed.writer.perform(DeletePod(victim, preemptor, "n1"))).error
    assert [method for method, _, _ in bed.api.requests] == ["PATCH", "DELETE"]
    (condition,) = bed.api.requests[0][2]["status"]["conditions"]
    assert condition["message"] == "default-scheduler: preempting to accommodate a higher priority pod"
    assert [event.note for event in bed.events] == ["Preempted by pod u9 on node n1"]


@on_a_loop
async def test_a_victim_that_is_gone_is_what_was_wanted_and_nobody_is_told():
    def gone(method, path, body):
        raise NotFoundError('pods "web" not found', status=404)

    victim = make_pod("web", node="n1")
    bed = Bed(victim)
    bed.api.answer = gone
    assert not (await bed.writer.perform(DeletePod(victim, make_pod("urgent"), "n1"))).error
    assert bed.events == []


@on_a_loop
async def test_a_refused_write_is_an_outcome():
    def refuse(method, path, body):
        raise ClusterError("POST: 403 Forbidden", status=403)

    bed = Bed()
    bed.api.answer = refuse
    done = await bed.writer.perform(Bind(make_pod("web"), "n1"))
    assert done.error == "POST: 403 Forbidden"


VOLUME = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "disk", "resourceVersion": "7", "finalizers": ["kubernetes.io/pv-protection"]},
    "spec": {"capacity": {"storage": "1Gi"}, "local": {"path": "/disk"}, "storageClassName": "local"},
    "status": {"phase": "Available"},
}
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default", "resourceVersion": "9", "annotations": {"a": "b"}},
    "spec": {"resources": {"requests": {"storage": "1Gi"}}, "dataSource": {"kind": "VolumeSnapshot", "name": "s"}},
}


def stored(document):
    """The object as the scheduler knows it, without its JSON, and the answer of an API server that has it."""
    source = json.dumps(document).encode()
    known = decode_object(document["kind"], source, keep_source=False)
    return known, lambda method, path, body: source if method == "GET" else json.dumps(body).encode()


@on_a_loop
async def test_a_volume_is_written_whole_with_its_claim():
    volume, answer = stored(VOLUME)
    bed = Bed()
    bed.api.answer = answer
    spec = replace(volume.spec, claim_ref=ObjectReference("default", "data", "u2", "9"))
    metadata = replace(volume.metadata, annotations={"pv.kubernetes.io/bound-by-controller": "yes"})
    done = await bed.writer.perform(WriteObject("PersistentVolume", replace(volume, metadata=metadata, spec=spec)))
    (_, path, _), (method, written, body) = bed.api.requests
    assert (method, written) == ("PUT", path)
    ref = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": "data", "uid": "u2"}
    assert body == {
        **VOLUME,
        "metadata": {**VOLUME["metadata"], "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": {**VOLUME["spec"], "claimRef": {**ref, "resourceVersion": "9"}},
    }
    assert done.answer.spec.claim_ref.uid == "u2"


@on_a_loop
async def test_a_claim_is_written_whole_with_its_annotations():
    claim, answer = stored(CLAIM)
    bed = Bed()
    bed.api.answer = answer
    annotations = {"a": "b", "volume.kubernetes.io/selected-node": "n1"}
    changed = replace(claim, metadata=replace(claim.metadata, annotations=annotations))
    await bed.writer.perform(WriteObject("PersistentVolumeClaim", changed))
    _, (method, _, body) = bed.api.requests
    assert (method, body) == ("PUT", {**CLAIM, "metadata": {**CLAIM["metadata"], "annotations": annotations}})


@on_a_loop
async def test_a_write_names_the_version_it_was_decided_on():
    claim, _ = stored(CLAIM)
    newer = {**CLAIM, "metadata": {**CLAIM["metadata"], "resourceVersion": "10"}}
    bed = Bed()
    bed.api.answer = stored(newer)[1]
    await bed.writer.perform(WriteObject("PersistentVolumeClaim", claim))
    assert bed.api.requests[-1][2]["metadata"]["resourceVersion"] == "9"  # which the API server rejects


@on_a_loop
async def test_a_binding_without_an_answer_is_sent_until_there_is_one():
    n_asked = 0

    def away(method, path, body):
        nonlocal n_asked
        n_asked += 1
        if n_asked < 7:
            raise ClusterError("no answer in time", reason="Timeout")
        return b"{}"

    bed = Bed()
    bed.api.answer = away
    done = await bed.writer.perform(Bind(make_pod("web"), "n1"))
    assert not done.error
    assert n_asked == 7  # each time a Binding, and a look at the pod


@on_a_loop
async def test_a_pod_that_is_gone_ends_a_binding_without_an_answer():
    answers = [ClusterError("no answer in time", reason="Timeout")] * 2

    def away(method, path, body):
        raise answers.pop() if answers else NotFoundError('pods "web" not found', status=404)

    bed = Bed()
    bed.api.answer = away
    assert "does not exist any more" in (await bed.writer.perform(Bind(make_pod("web"), "n1"))).error


REFUSALS = [("POST", 429), ("POST", 401), ("GET", 500), ("GET", 403)]


@pytest.mark.parametrize(("method", "status"), REFUSALS)
@on_a_loop
async def test_a_refusal_after_a_lost_binding_does_not_show_that_the_pod_is_not_bound(method, status):
    """The room of the pod would be given to others."""
    n_asked = 0

    def answer(asked, path, body):
        nonlocal n_asked
        n_asked += 1
        if n_asked < 3:
            raise ClusterError("no answer in time", reason="Timeout")
        if n_asked < 9:
            raise ClusterError("refused", status=status if asked == method else 409)
        return b'{"metadata": {"name": "web", "uid": "u1"}, "spec": {"nodeName": "n1"}}'

    bed = Bed()
    bed.api.answer = answer
    assert not (await bed.writer.perform(Bind(make_pod("web", metadata={"uid": "u1"}), "n1"))).error
    assert len(bed.api.timing.slept) == 4  # not at once


@on_a_loop
async def test_a_binding_that_was_lost_and_refused_is_over_once_the_pod_shows_no_node():
    def answer(method, path, body):
        if len(bed.api.requests) == 3:
            raise ClusterError("POST: 401 Unauthorized", status=401)
        if len(bed.api.requests) < 3:
            raise ClusterError("no answer in time", reason="Timeout")
        return b'{"metadata": {"name": "web", "uid": "u1"}, "spec": {}}'

    bed = Bed()
    bed.api.answer = answer
    done = await bed.writer.perform(Bind(make_pod("web", metadata={"uid": "u1"}), "n1"))
    assert done.error == "POST: 401 Unauthorized"


@on_a_loop
async def test_a_refusal_is_logged_but_not_that_of_a_binding_which_the_log_of_attempts_has(
    caplog: pytest.LogCaptureFixture,
):
    def refuse(method, path, body):
        raise ClusterError(f"{method}: 403 Forbidden", status=403)

    pod = make_pod("web", metadata={"uid": "u1"})
    bed = Bed(pod)
    bed.api.answer = refuse
    assert (await bed.writer.perform(Bind(pod, "n1"))).error == "POST: 403 Forbidden"
    await bed.writer.perform(PatchPodStatus(pod, CONDITION))
    assert caplog.messages == ["PATCH: 403 Forbidden"]


@on_a_loop
async def test_pods_that_are_created_again_under_the_same_names_do_not_fill_the_log(caplog: pytest.LogCaptureFixture):
    def refuse(method, path, body):
        raise ClusterError(f"{method} {path}: 422 Invalid: metadata.uid: field is immutable", status=422)

    async def lose(*names: str) -> None:
        for name in names:
            await bed.writer.perform(PatchPodStatus(make_pod(name, metadata={"uid": f"uid-of-{name}"}), CONDITION))

    bed = Bed()
    bed.api.answer = refuse
    await lose(*(f"web-{i}" for i in range(100)))
    assert len(caplog.messages) == 8
    bed.api.timing.seconds += 60
    caplog.clear()
    await lose("late")
    assert caplog.messages[0] == "92 more writes that failed were not logged"
    assert "late" in caplog.messages[1]


@on_a_loop
async def test_a_process_whose_lease_is_over_writes_nothing():
    bed = Bed()
    writer = ApiWriter(bed.api, bed.state, bed.events.append, lambda: False)  # type: ignore[arg-type]
    done = await writer.perform(Bind(make_pod("web"), "n1"))
    assert done.error == "the lease of this process is over, so it writes nothing"
    assert bed.api.requests == []


@on_a_loop
async def test_a_binding_without_an_answer_is_not_sent_again_after_the_lease():
    is_leader = True

    def away(method, path, body):
        nonlocal is_leader
        is_leader = False
        raise ClusterError("no answer in time", reason="Timeout")

    bed = Bed()
    bed.api.answer = away
    writer = ApiWriter(bed.api, bed.state, bed.events.append, lambda: is_leader)  # type: ignore[arg-type]
    assert (await writer.perform(Bind(make_pod("web"), "n1"))).error == "no answer in time"
    assert len(bed.api.written("/binding")) == 1


@on_a_loop
async def test_a_binding_without_an_answer_is_not_sent_again_when_the_lease_ends_in_the_pause():
    def away(method, path, body):
        raise ClusterError("no answer in time", reason="Timeout")

    bed = Bed()
    bed.api.answer = away
    slept = bed.api.timing.slept
    writer = ApiWriter(bed.api, bed.state, bed.events.append, lambda: not slept)  # type: ignore[arg-type]
    assert (await writer.perform(Bind(make_pod("web"), "n1"))).error == "no answer in time"
    assert len(bed.api.written("/binding")) == 1


@on_a_loop
async def test_nothing_is_kept_of_writes_that_are_done():
    pod = make_pod("web")
    bed = Bed(pod)
    for _ in range(50):
        bed.writer.emit(PatchPodStatus(pod, CONDITION))
    await bed.writer.finish()
    assert not bed.writer._last


@on_a_loop
async def test_a_process_whose_lease_is_over_does_not_wait_for_its_writes():
    pod, is_leader = make_pod("web"), True
    bed = Bed(pod)
    writer = ApiWriter(bed.api, bed.state, bed.events.append, lambda: is_leader)  # type: ignore[arg-type]
    bed.api.gates["/api/v1/namespaces/default/pods/web/status"] = asyncio.Event()
    writer.emit(PatchPodStatus(pod, CONDITION))
    await asyncio.sleep(0.01)
    is_leader = False
    async with asyncio.timeout(1):
        await writer.finish()
    await asyncio.sleep(0.01)
    assert not writer._tasks


@on_a_loop
async def test_writes_that_somebody_lost_patience_with_are_not_sent_later():
    pod = make_pod("web", metadata={"uid": "u1"})
    bed = Bed(pod)
    gate = bed.api.gates["/api/v1/namespaces/default/pods/web/status"] = asyncio.Event()
    bed.writer.emit(PatchPodStatus(pod, CONDITION))
    bed.writer.emit(DeletePod(pod, "n1", make_pod("preemptor")))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await bed.writer.finish()
    gate.set()
    await asyncio.sleep(0.01)
    assert [method for method, _, _ in bed.api.requests] == ["PATCH"]
    assert not bed.writer._last
    assert not bed.writer._tasks


class Patches:
    """Answers each patch with the pod as it then is, in the next version."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.nominated = ""

    def __call__(self, method, path, body):
        self.version += 1
        self.nominated = body["status"].get("nominatedNodeName", self.nominated) or ""
        return json.dumps(self.stored("web")).encode()

    def stored(self, name):
        metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(self.version)}
        return {"metadata": metadata, "status": {"nominatedNodeName": self.nominated}}

    def show(self, bed, name="web"):
        fields = self.stored(name)
        pod = make_pod(name, metadata=fields["metadata"], status=fields["status"])
        bed.state.apply(WatchEvent(EventType.MODIFIED, "Pod", pod))


def nominations(bed):
    return [body["status"]["nominatedNodeName"] for body in bed.api.written("/status")]


def pending(name="web", version="5"):
    return make_pod(name, metadata={"uid": f"uid-{name}", "resourceVersion": version})


@pytest.mark.parametrize(("waits", "written"), [(True, ["n1", None, "n2"]), (False, ["n1", "n2"])])
@on_a_loop
async def test_a_patch_builds_on_the_one_before_it_that_the_watch_has_not_shown(waits, written):
    bed = Bed(pending())
    bed.api.answer = Patches(5)
    for node in ("n1", "", "", "n2", "n2"):
        action = PatchPodStatus(pending(), nominated_node_name=node)
        if waits:
            await bed.writer.perform(action)
        else:
            bed.writer.emit(action)
            await asyncio.sleep(0)  # the first has its turn; the others become one
    await bed.writer.finish()
    assert nominations(bed) == written


@on_a_loop
async def test_what_the_watch_shows_later_counts_again():
    bed = Bed(pending())
    answer = bed.api.answer = Patches(5)
    await bed.writer.perform(PatchPodStatus(pending(), nominated_node_name="n1"))
    answer.version, answer.nominated = 9, ""  # another client has cleared it
    answer.show(bed)
    await bed.writer.perform(PatchPodStatus(pending(), nominated_node_name="n1"))
    assert nominations(bed) == ["n1", "n1"]


@on_a_loop
async def test_an_older_backup_of_the_server_is_believed_after_five_minutes():
    bed = Bed(pending())
    bed.api.answer = Patches(5)
    await bed.writer.perform(PatchPodStatus(pending(), nominated_node_name="n1"))
    bed.api.timing.seconds += 300
    await bed.writer.perform(PatchPodStatus(pending("db"), nominated_node_name="n2"))
    await bed.writer.perform(PatchPodStatus(pending(), nominated_node_name="n1"))
    assert nominations(bed) == ["n1", "n2", "n1"]


@on_a_loop
async def test_patches_that_the_watch_has_shown_and_pods_that_are_gone_are_not_kept():
    pods = [pending(f"web-{i}") for i in range(100)]
    bed = Bed(*pods)
    answer = bed.api.answer = Patches(5)
    for i, pod in enumerate(pods):
        await bed.writer.perform(PatchPodStatus(pod, nominated_node_name="n1"))
        if i % 2:
            bed.state.apply(WatchEvent(EventType.DELETED, "Pod", pod))
        else:
            answer.show(bed, pod.name)
    assert len(bed.writer._patched) <= 1
