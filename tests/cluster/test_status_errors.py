import pytest

from kubesched.cluster.status_errors import StatusObject, status_error
from kubesched.errors import ClusterError, GoneError


@pytest.mark.parametrize("reason", ["Expired", "Gone"])
def test_an_old_version_is_known_by_its_reason_whatever_the_code(reason: str) -> None:
    assert type(status_error("x", StatusObject("too old", reason, 500))) is GoneError


def test_a_refusal_that_says_nothing_is_a_server_error() -> None:
    error = status_error("GET /x", StatusObject())
    assert (type(error), error.status, str(error)) == (ClusterError, 500, "GET /x: 500 ")


def test_a_long_message_is_cut() -> None:
    assert len(str(status_error("GET /x", StatusObject("a" * 10_000, "Invalid", 422)))) < 400


def test_who_may_not_is_told_what_is_needed() -> None:
    message = 'pods is forbidden: User "ann" cannot list resource "pods"'
    assert str(status_error("GET /x", StatusObject(message, "Forbidden", 403))) == (
        f"GET /x: 403 Forbidden: {message}; this user or service account needs a role that allows it"
    )


def test_a_role_is_not_the_advice_where_admission_refuses() -> None:
    message = 'events "web.18" is forbidden: unable to create new content in namespace a because it is being terminated'
    assert str(status_error("POST /x", StatusObject(message, "Forbidden", 403))) == f"POST /x: 403 Forbidden: {message}"
