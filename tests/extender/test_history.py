"""The window over the last calls."""

import msgspec

from kubesched.extender import Answer
from kubesched.extender.history import History


def test_the_newest_call_comes_first_and_old_ones_go():
    history = History()
    for i in range(250):
        history.note("filter", Answer(pod=f"d/p{i}"), 0.1, float(i))
    pods = [call.pod for call in history.latest()]
    assert (len(pods), pods[0], pods[-1]) == (200, "d/p249", "d/p50")


def test_a_call_reads_as_one_line_of_json():
    history = History()
    history.note("bind", Answer(pod="d/p", n_offered=1, error="taken", plugin="Device"), 0.0123456, 1_700_000_000.5)
    assert msgspec.to_builtins(history.latest()) == [
        {
            "at": 1_700_000_000.5,
            "verb": "bind",
            "pod": "d/p",
            "nodesOffered": 1,
            "nodesKept": 0,
            "milliseconds": 12.346,
            "error": "taken",
            "plugin": "Device",
        }
    ]
