"""What is suggested for labels that nothing has."""

import pytest

from kubesched.api import parse_selector_text
from kubesched.naming.label_hints import unselected

ZONE = "topology.kubernetes.io/zone"
LABELS = [
    {"topology.csi.example.com/zone": zone, ZONE: zone, "pool": "spot", "host": f"n{i:02}"}
    for i, zone in enumerate("abcabc")
]


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("zone=a", f'; no node has the label zone; did you mean "{ZONE}"?'),
        ("pol", '; no node has the label pol; did you mean "pool"?'),
        ("disk in (ssd)", "; no node has the label disk"),
        (f"{ZONE}=d", f"; {ZONE} is one of a, b, c"),
        ("pool=spto", "; pool is spot on all that have it"),
        ("host=n55", "; host is one of n05, n00, n01, n02, n03, n04"),
        ("pool=spot,host=n99", "; host is one of n00, n01, n02, n03, n04, n05"),
        ("pool!=spot", ""),
        (f"{ZONE}=a,host=n01", ""),
    ],
)
def test_the_first_label_that_no_object_has_is_named_with_what_they_have(selector: str, why: str):
    assert unselected(parse_selector_text(selector), LABELS, "node") == why
