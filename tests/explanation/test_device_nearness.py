"""Of nodes whose devices cannot serve a claim, those come first where less has to change."""

from kubesched.explanation import Explanation, explain
from kubesched.testing import make_node
from tests.explanation.claiming import CLASS, MODEL, claim, claiming, decoded, gpu
from tests.plugins.dynamic_resources.device_objects import allocation, ask, resource_slice, selecting

TAINT = {"key": "xid", "effect": "NoSchedule"}
COUNTERS = [{"name": "all", "counters": {"slice": {"value": "1"}}}]
CONSUMED = [{"counterSet": "all", "counters": {"slice": {"value": "1"}}}]
OTHERS = {f"has-{model}": model for model in ("A100", "A30", "B200", "L4", "L40S")}
"""Nodes with other models, more than one reason has rows for."""


def two_slices(name: str) -> dict:
    return {"name": name, "generation": 1, "resourceSliceCount": 2}


def explained() -> Explanation:
    """A pod beside nodes of each kind, those first where most has to change."""
    cards = [gpu("a", model="MIG", consumesCounters=CONSUMED), gpu("b", model="H100", consumesCounters=CONSUMED)]
    counters = resource_slice("used-up", [], sharedCounters=COUNTERS, pool=two_slices("used-up"))
    counters["metadata"]["name"] = "counters"
    slices = [
        *(resource_slice(name, [gpu("a", model=model)]) for name, model in OTHERS.items()),
        resource_slice("updated", [gpu("a", model="H100")], pool=two_slices("updated")),
        resource_slice("other", [gpu("a", model="A100")], pool=two_slices("other")),
        resource_slice("tainted", [gpu("a", model="H100", taints=[TAINT])]),
        resource_slice("taken", [gpu("a", model="H100")]),
        resource_slice("used-up", cards, pool=two_slices("used-up")),
        counters,
    ]
    nodes = map(make_node, ("other", "none", *OTHERS, "updated", "tainted", "taken", "used-up"))
    taken = [claim(f"on-{name}", ask(), status=allocation(name, "a")) for name in ("taken", "used-up")]
    claims = [claim("c", ask(selectors=selecting(MODEL))), *taken]
    return explain([*nodes, *decoded(CLASS, *slices, *claims)], claiming("c"))


def test_what_others_have_is_nearer_than_what_is_out_of_order_and_than_another_model():
    found = explained()
    order = [found.nodes.name(position) for position in found.nearest]
    assert order == ["used-up", "taken", "tainted", "updated", *OTHERS, "other", "none"]


def test_another_model_is_another_row_than_devices_that_would_do():
    found = explained()
    rows = [(found.nodes.name(row.positions[0]), len(row.positions), row.is_alike) for row in found.rows]
    assert rows == [
        ("used-up", 1, True),
        ("taken", 1, True),
        ("tainted", 1, True),
        ("updated", 1, True),
        ("has-A100", 5, False),
        ("other", 1, True),
        ("none", 1, True),
    ]
    assert [row.texts for row in found.rows[1:5]] == [
        ("request r0: 1 device is taken; held by claim default/on-taken, which no pod uses",),
        ("request r0: taint xid:NoSchedule is not tolerated (1 device)",),
        ("request r0: 1 pool is being updated; pool gpu.example.com/updated",),
        ("request r0: model is A100, the claim wants == H100 (1 device)",),
    ]


def test_the_cause_is_what_is_nearest_and_not_what_a_swap_of_the_model_removes():
    slices = [
        resource_slice("n1", [gpu("a", model="H100")], pool=two_slices("n1")),
        resource_slice("n2", [gpu("a", model="A100"), gpu("b", model="A100")]),
    ]
    wanted = claim("c", ask(2, selectors=selecting(MODEL)))
    found = explain([make_node("n1"), make_node("n2"), *decoded(CLASS, *slices, wanted)], claiming("c"))
    assert found.outcome.why == "1 node: request r0: 1 pool is being updated"
