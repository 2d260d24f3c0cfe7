"""Values and texts of errors equal those of Kubernetes v1.36.3, for all recorded expressions but a few."""

from campaigns.cel.answers import answers, device_of
from tests.cel.recorded import recorded

LATER_ERRORS = "the first error is the same; upstream's parser goes on and finds more"
MESSAGES = "messages of protocol buffers are not supported"
OTHERWISE = {
    "in == 1": LATER_ERRORS,
    "@in": LATER_ERRORS,
    "true /* comment */": LATER_ERRORS,
    "optional.of(1).foo == 1": LATER_ERRORS,
    "google.protobuf.Int64Value{value: 1} == 1": MESSAGES,
    "device{driver: 'a'} == device": MESSAGES,
    "type(timestamp(0)) == timestamp": "an error either way",
    "quantity('1e1000') == quantity('1e1001')": "quantities beyond 10**100 are not told apart",
    "timestamp('2023-05-06T07:08:09Z').getHours('America/New_York') == 3": "names of time zones are not supported",
    "'é'.matches('\\\\p{Latin}')": "names of scripts are not supported in patterns",
}


def test_expressions_are_evaluated_as_upstream_does():
    devices = [device_of(fields) for fields in recorded()["devices"]]
    different = {}
    for case in recorded()["expressions"]:
        expected = case.get("error", case.get("results"))
        found = answers(case["expression"], devices)
        if found != expected:
            different[case["expression"]] = (expected, found)
    assert not {expression: both for expression, both in different.items() if expression not in OTHERWISE}
    assert set(different) == set(OTHERWISE)


def test_enough_is_recorded():
    assert len(recorded()["expressions"]) >= 600
