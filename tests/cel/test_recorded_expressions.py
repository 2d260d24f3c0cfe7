"""Values and texts of errors equal those of Kubernetes v1.36.3 and v1.37.2, for all recorded expressions but a few."""

import pytest

from campaigns.cel.answers import answers, device_of
from kubesched.release import Release
from tests.cel.recorded import recorded

LATER_ERRORS = "the first error is the same; upstream's parser goes on and finds more"
MESSAGES = "messages of protocol buffers are not supported"
OF_A_DEVICE = "device{driver: 'a'} == device"
OTHERWISE = {
    "in == 1": LATER_ERRORS,
    "@in": LATER_ERRORS,
    "true /* comment */": LATER_ERRORS,
    "optional.of(1).foo == 1": LATER_ERRORS,
    "google.protobuf.Int64Value{value: 1} == 1": MESSAGES,
    OF_A_DEVICE: MESSAGES,
    "type(timestamp(0)) == timestamp": "an error either way",
    "quantity('1e1000') == quantity('1e1001')": "quantities beyond 10**100 are not told apart",
    "timestamp('2023-05-06T07:08:09Z').getHours('America/New_York') == 3": "names of time zones are not supported",
    "'é'.matches('\\\\p{Latin}')": "names of scripts are not supported in patterns",
}


@pytest.mark.parametrize(("name", "minor"), [("recorded", 36), ("recorded-v1.37", 37)])
def test_expressions_are_evaluated_as_upstream_does(name: str, minor: int):
    devices = [device_of(fields) for fields in recorded(name)["devices"]]
    different = {}
    for case in recorded(name)["expressions"]:
        expected = case.get("error", case.get("results"))
        found = answers(case["expression"], devices, Release(minor))
        if found != expected:
            different[case["expression"]] = (expected, found)
    assert not {expression: both for expression, both in different.items() if expression not in OTHERWISE}
    assert set(different) == set(OTHERWISE) - ({OF_A_DEVICE} if minor == 37 else set())


def test_what_a_macro_cannot_visit_is_named_as_upstream_names_it():
    devices = [device_of(fields) for fields in recorded()["devices"]][:1]
    for value, name in (("1", "types.Int"), ("'a'", "types.String"), ("semver('1.0.0')", "cel.Semver")):
        assert answers(f"dyn({value}).all(x, true)", devices) == [f"got '{name}', expected iterable type"]
        assert answers(f"dyn({value}).all(i, x, true)", devices) == [f"unsupported comprehension range type: {name}"]


def test_enough_is_recorded():
    assert len(recorded()["expressions"]) >= 600
