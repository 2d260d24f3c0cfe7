"""One object from its JSON: what is wrong is said in one sentence, also where two things are."""

import pytest

from kubesched.admission import decode_checked
from kubesched.api import Pod
from kubesched.errors import ObjectError


def test_a_null_where_a_value_is_due_is_absent():
    pod = decode_checked(
        "Pod", b'{"metadata":{"name":"p","labels":null},"spec":{"schedulerName":null,"containers":null}}'
    )
    assert isinstance(pod, Pod)
    assert (pod.labels, pod.scheduler_name, pod.containers) == ({}, "default-scheduler", ())


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"metadata":5}', "metadata: expected an object, found 5"),
        (b'{"metadata":5,"status":1e400}', "Number out of range"),
        (b'{"metadata":5,"status":"\xff"}', "it has a string that is not valid UTF-8"),
        (b'{"spec":{"schedulerName":null},"status":1e400}', "Number out of range"),
        (b'{"spec":{"containers":["a"],"containers":null}}', "spec.containers[0]: expected an object, found a string"),
        (b'{"spec":{"schedulerName":null},"spec":5}', "spec.schedulerName: expected a string, found null"),
        (b'{"metadata":{"labels":{"a":1},"labels":{}}}', "metadata.labels: expected a string, found an integer"),
        (
            b'{"metadata":{"name":"p"},"spec":{"overhead":{"cpu":"much"}}}',
            "spec.overhead.cpu: 'much' is not a quantity; write a number",
        ),
        (
            b'{"metadata":{"name":"p","creationTimestamp":"now"}}',
            'metadata.creationTimestamp: found "now"; expected a time',
        ),
    ],
)
def test_a_pod_that_does_not_decode(raw: bytes, message: str):
    with pytest.raises(ObjectError) as raised:
        decode_checked("Pod", raw)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("effect", ["NoShedule", ""])
def test_a_taint_with_an_effect_that_no_api_server_accepts_is_refused(effect: str):
    raw = b'{"metadata":{"name":"n"},"spec":{"taints":[{"key":"a","effect":"NoExecute"},{"key":"a","effect":"%b"}]}}'
    with pytest.raises(ObjectError) as raised:
        decode_checked("Node", raw % effect.encode())
    expected = "expected NoSchedule, PreferNoSchedule or NoExecute"
    assert str(raised.value) == f'spec.taints[1].effect: found "{effect}"; {expected}'
