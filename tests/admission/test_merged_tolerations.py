"""Tolerations of a RuntimeClass are added without those that others include."""

import pytest

from kubesched.admission.runtime_classes import merged

KATA = {"key": "kata", "operator": "Exists"}
KATA_SCHEDULE = {**KATA, "effect": "NoSchedule"}
ALL = {"operator": "Exists"}
VALUE = {"key": "kata", "operator": "Equal", "value": "v"}
EVICTED = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


@pytest.mark.parametrize(
    ("own", "added", "kept"),
    [
        ([], [KATA], [KATA]),
        ([KATA], [KATA], [KATA]),
        ([KATA], [KATA_SCHEDULE], [KATA]),
        ([KATA_SCHEDULE], [KATA], [KATA]),
        ([KATA, EVICTED], [ALL], [ALL]),
        ([ALL], [KATA], [ALL]),
        ([KATA], [VALUE], [KATA]),
        ([VALUE], [KATA_SCHEDULE], [VALUE, KATA_SCHEDULE]),
        ([{"key": "kata", "value": "v"}], [VALUE], [{"key": "kata", "value": "v"}]),
        ([VALUE], [{"key": "kata", "value": "v"}], [{"key": "kata", "value": "v"}]),
        ([VALUE], [{**VALUE, "value": "w"}], [VALUE, {**VALUE, "value": "w"}]),
        ([EVICTED], [{**EVICTED, "tolerationSeconds": 60}], [EVICTED]),
        ([EVICTED], [{**EVICTED, "tolerationSeconds": None}], [{**EVICTED, "tolerationSeconds": None}]),
    ],
)
def test_what_another_toleration_includes_is_left_out(own, added, kept):
    assert merged(own, added) == kept
