from kubesched.queue.in_flight import InFlight
from tests.queue.waiting import NODE_ADD, NODE_TAINT, POD_DELETE, make_pod


def events_of(in_flight, uid):
    in_flight.check_invariants()
    return [recorded.event for recorded in in_flight.events_since(uid)]


def test_events_are_recorded_only_while_a_pod_is_in_flight():
    in_flight = InFlight()
    in_flight.record(NODE_ADD, None, None)
    in_flight.begin("a")
    assert events_of(in_flight, "a") == []
    in_flight.record(NODE_TAINT, None, None)
    assert events_of(in_flight, "a") == [NODE_TAINT]


def test_a_pod_gets_the_events_since_it_was_popped_in_order():
    in_flight = InFlight()
    in_flight.begin("a")
    in_flight.record(NODE_ADD, None, None)
    in_flight.begin("b")
    in_flight.record(NODE_TAINT, None, None)
    in_flight.record(POD_DELETE, None, None)
    assert events_of(in_flight, "a") == [NODE_ADD, NODE_TAINT, POD_DELETE]
    assert events_of(in_flight, "b") == [NODE_TAINT, POD_DELETE]


def test_an_event_comes_with_its_objects():
    in_flight, old, new = InFlight(), make_pod("old"), make_pod("new")
    in_flight.begin("a")
    in_flight.record(NODE_ADD, old, new)
    (recorded,) = in_flight.events_since("a")
    assert (recorded.old, recorded.new) == (old, new)


def test_done_prunes_the_events_that_nobody_needs():
    in_flight = InFlight()
    in_flight.begin("a")
    in_flight.record(NODE_ADD, None, None)
    in_flight.begin("b")
    in_flight.record(NODE_TAINT, None, None)
    in_flight.done("a")
    assert in_flight.count_events() == {"NodeUpdateNodeTaint": 1, "PodPopped": 1}
    assert events_of(in_flight, "b") == [NODE_TAINT]
    in_flight.done("b")
    assert in_flight.count_events() == {"PodPopped": 0}


def test_done_of_a_later_pod_keeps_the_events_of_the_earlier():
    in_flight = InFlight()
    in_flight.begin("a")
    in_flight.record(NODE_ADD, None, None)
    in_flight.begin("b")
    in_flight.done("b")
    assert events_of(in_flight, "a") == [NODE_ADD]


def test_done_of_an_unknown_pod_is_ignored():
    in_flight = InFlight()
    in_flight.begin("a")
    in_flight.done("b")
    in_flight.done("b")
    assert "a" in in_flight
    assert len(in_flight) == 1
