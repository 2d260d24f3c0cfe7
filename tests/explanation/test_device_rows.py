"""What the nodes have for each request of a claim, for programs."""

import json

from kubesched.explanation import Explanation, explain
from kubesched.pages.explanations.explanation_document import as_document
from tests.explanation.claiming import MEMORY, claim, claiming, decoded, gpu, nodes_with
from tests.plugins.dynamic_resources.device_objects import DRIVER, allocation, ask, selecting


def explained(*asks: dict, nodes: tuple[list[dict], ...], **more: object) -> Explanation:
    taken = claim("other", ask(), status=allocation("n1", "a"))
    return explain([*nodes_with(*nodes), *decoded(claim("c", *asks, **more), taken)], claiming("c"))


def test_nodes_with_the_same_devices_are_one_row():
    devices = [gpu("a"), gpu("b")]
    answer = as_document(explained(ask(selectors=selecting(MEMORY)), nodes=(devices, devices, devices, [])))
    request = {"claim": "default/c", "request": "r0", "deviceClass": "gpu", "wanted": 1}
    refused = {"devices": 2, "what": "memory", "wanted": ">= 80Gi", "values": ["40Gi"]}
    assert json.loads(json.dumps(answer["devices"])) == [
        {"nodes": ["n1", "n2", "n3"], "requests": [{**request, "ofClass": 2, "usable": 0, "obstacles": [refused]}]},
        {"nodes": ["n4"], "requests": [{**request, "ofClass": 0, "usable": 0}]},
    ]


def test_what_others_have_passes_and_nodes_that_fit_are_there_too():
    (first, second) = explained(ask(), nodes=([gpu("a")], [gpu("a")])).devices
    assert (first.nodes, second.nodes) == (("n1",), ("n2",))
    assert [(one.what, one.passes) for one in first.requests[0].obstacles] == [("taken", True)]
    assert (second.requests[0].usable, second.requests[0].obstacles) == (1, ())


def test_a_constraint_is_a_reason_for_all_requests_together():
    constraint = {"matchAttribute": f"{DRIVER}/numa"}
    explanation = explained(ask(2), nodes=([], [gpu("a", numa=0), gpu("b", numa=1)]), constraints=(constraint,))
    by_node = {row.nodes: row.together for row in explanation.devices}
    assert by_node == {
        ("n1",): (),
        ("n2",): (f"constraint matchAttribute {DRIVER}/numa: at most 1 device shares a numa, 2 are wanted",),
    }


def test_a_pod_without_claims_has_no_rows():
    assert explain(nodes_with([gpu("a")]), claiming()).devices == ()
