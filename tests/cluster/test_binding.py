from typing import Any

import pytest

from kubesched.cluster import bind_pod
from kubesched.errors import ClusterError, ConflictError, NotFoundError
from tests.cluster.fake_api_server import (
    Answer,
    FakeApiServer,
    client_of,
    no_answer,
    says,
    status,
)
from tests.cluster.fake_timing import FakeTiming, run

POD = "/api/v1/namespaces/shop/pods/web"
DONE = says({"kind": "Status", "status": "Success"}, 201)
ASSIGNED = status(409, "Conflict", 'pod web is already assigned to node "n1"')


def pod(node: str = "", uid: str = "u1") -> Answer:
    return says({"metadata": {"name": "web", "uid": uid}, "spec": {"nodeName": node} if node else {}})


def bind(posts: list[Answer], gets: list[Answer] | None = None, **options: Any) -> FakeApiServer:
    async def scenario() -> FakeApiServer:
        async with FakeApiServer() as server, client_of(server, timing=FakeTiming()) as client:
            server.on("POST", f"{POD}/binding", *posts)
            server.on("GET", POD, *(gets or [status(500, "InternalError", "nobody should ask")]))
            await bind_pod(client, "shop", "web", "u1", "n1", **options)
            return server

    return run(scenario())


def test_the_binding_names_pod_uid_node_and_annotations() -> None:
    server = bind([DONE], annotations={"a": "b"})
    assert [asked.body for asked in server.asked] == [
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "annotations": {"a": "b"}},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"},
        }
    ]


def test_a_lost_answer_is_asked_for_again_and_the_pod_tells() -> None:
    server = bind([no_answer, ASSIGNED], [pod("n1")])
    assert [asked.method for asked in server.asked] == ["POST", "POST", "GET"]


@pytest.mark.parametrize(
    "answer",
    [ASSIGNED, no_answer, status(500, "InternalError"), status(504, "Timeout", "request timed out")],
    ids=["assigned", "lost", "error", "timeout"],
)
def test_a_pod_that_is_bound_there_is_a_success_whoever_did_it(answer: Answer) -> None:
    server = bind([answer], [pod("n1")])
    assert server.asked[-1].method == "GET"


@pytest.mark.parametrize("answer", [ASSIGNED, no_answer], ids=["assigned", "lost"])
def test_another_node_is_named(answer: Answer) -> None:
    with pytest.raises(ConflictError) as raised:
        bind([answer], [pod("n7")])
    assert str(raised.value) == "pod shop/web was not bound to node 'n1': it is already bound to node 'n7'"


def test_a_pod_that_was_made_again_is_left_alone_and_told_apart() -> None:
    mismatch = status(409, "Conflict", "Precondition failed: UID in precondition: u1, UID in object meta: u2")
    with pytest.raises(ConflictError) as raised:
        bind([mismatch], [pod("n1", uid="u2")])
    assert str(raised.value) == (
        "pod shop/web was not bound to node 'n1': it was re-created in the meantime, with uid u2 instead of u1"
    )


@pytest.mark.parametrize(
    ("posts", "gets"),
    [([status(404, "NotFound")], None), ([ASSIGNED], [status(404, "NotFound")])],
    ids=["at once", "meanwhile"],
)
def test_a_pod_that_is_gone_is_an_error_of_its_own(posts: list[Answer], gets: list[Answer] | None) -> None:
    with pytest.raises(NotFoundError, match=r"^pod shop/web was not bound to node 'n1': it does not exist any more$"):
        bind(posts, gets)


def test_a_conflict_over_a_pod_without_a_node_stays_what_it_is() -> None:
    deleted = status(409, "Conflict", "pod web is being deleted, cannot be assigned to a host")
    with pytest.raises(ConflictError, match="pod web is being deleted"):
        bind([deleted], [pod()])


def test_an_answer_that_stays_lost_is_an_error_if_the_pod_is_not_bound() -> None:
    with pytest.raises(ClusterError) as raised:
        bind([no_answer], [pod()])
    assert raised.value.status == 0


def test_a_server_that_asks_for_time_gets_it() -> None:
    busy = status(429, "TooManyRequests", headers={"Retry-After": "1"})
    assert len(bind([busy, DONE]).asked) == 2


@pytest.mark.parametrize("code", [400, 401, 403, 422])
def test_a_clear_refusal_is_final(code: int) -> None:
    with pytest.raises(ClusterError) as raised:
        bind([status(code, "Reason", "no")])
    assert raised.value.status == code


LATER = [
    status(429, "TooManyRequests", headers={"Retry-After": "0"}),
    status(401, "Unauthorized"),
    status(403, "Forbidden"),
    ASSIGNED,
]


@pytest.mark.parametrize("later", LATER, ids=["busy", "unauthorized", "forbidden", "assigned"])
@pytest.mark.parametrize("first", [no_answer, status(503, "ServiceUnavailable")], ids=["lost", "unavailable"])
def test_after_a_lost_answer_the_pod_decides_whatever_later_tries_get(first: Answer, later: Answer) -> None:
    assert bind([first, later], [pod("n1")]).asked[-1].method == "GET"
    with pytest.raises(ClusterError) as raised:
        bind([first, later], [pod()])
    assert raised.value.status >= 400


@pytest.mark.parametrize("later", LATER, ids=["busy", "unauthorized", "forbidden", "assigned"])
@pytest.mark.parametrize("get", [status(500, "InternalError", "etcd"), status(401, "Unauthorized")], ids=["500", "401"])
def test_after_a_lost_answer_a_pod_that_cannot_be_read_may_be_bound(later: Answer, get: Answer) -> None:
    with pytest.raises(ClusterError) as raised:
        bind([no_answer, later], [get])
    assert raised.value.status == 0


def test_a_binding_that_was_lost_before_is_not_settled_by_a_refusal() -> None:
    busy = status(429, "TooManyRequests", headers={"Retry-After": "0"})
    assert bind([busy], [pod("n1")], may_be_bound=True).asked[-1].method == "GET"


def test_a_server_that_is_busy_from_the_first_try_on_has_not_bound_the_pod() -> None:
    with pytest.raises(ClusterError) as raised:
        bind([status(429, "TooManyRequests", headers={"Retry-After": "0"})])
    assert raised.value.status == 429
