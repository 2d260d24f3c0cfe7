"""Which pods have the devices that a pod lacks, in the rows of explain and for programs."""

import json

from kubesched.explanation import explain
from kubesched.pages.explanations.explanation_document import as_document
from tests.explanation.claiming import claim, claiming, decoded, gpu, nodes_with
from tests.plugins.dynamic_resources.device_objects import DRIVER, allocation, ask, resource_slice, shared


def held(name, node, *devices, pods=None):
    """A claim with devices of a node, for pods: one of its name, if they are not given."""
    users = [{"resource": "pods", "name": pod, "uid": f"uid-{pod}"} for pod in (pods or [name])]
    status = {**allocation(node, *devices), "reservedFor": users if pods != [] else []}
    return claim(f"of-{name}", ask(len(devices)), status=status)


def explained(*asks, nodes, others, **more):
    return explain([*nodes_with(*nodes), *decoded(claim("c", *asks), *others)], claiming("c"), **more)


def test_the_pods_that_have_the_devices_are_named_in_the_row():
    answer = explained(
        ask(), nodes=([gpu("a"), gpu("b")],), others=(held("train-0", "n1", "a"), held("train-1", "n1", "b"))
    )
    (row,) = answer.rows
    assert row.texts == ("request r0: all 2 devices are taken; held by default/train-0 and default/train-1",)


def test_equal_nodes_are_one_row_whoever_has_their_devices():
    nodes = [[gpu("a")]] * 6
    answer = explained(ask(), nodes=nodes, others=[held(f"p{i}", f"n{i}", "a") for i in range(1, 7)])
    (row,) = answer.rows
    assert len(row.positions) == 6
    assert row.texts == ("request r0: 1 device is taken; held by default/p1, default/p2, default/p3 and 3 more",)
    (obstacle,) = answer.obstacles(4)
    assert obstacle.details == ("request r0: 1 device is taken", "held by default/p5")


def test_a_claim_that_no_pod_uses_is_named_itself():
    answer = explained(ask(), nodes=([gpu("a")],), others=(held("x", "n1", "a", pods=[]),))
    assert answer.rows[0].texts[0].endswith("; held by claim default/of-x, which no pod uses")


def test_devices_that_the_request_does_not_want_have_no_holders_there():
    nodes = ([gpu("a", memory="80Gi"), gpu("b")],)
    wanted = {
        "selectors": [{"cel": {"expression": f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("50Gi"))'}}]
    }
    answer = explained(ask(**wanted), nodes=nodes, others=(held("p", "n1", "a"), held("small", "n1", "b")))
    assert answer.rows[0].texts[0].endswith("; held by default/p")


def test_who_uses_up_capacity_is_named():
    share = {"shareID": "s", "consumedCapacity": {"memory": "8Gi"}}
    sharing = held("sharing", "n1", "s", pods=["one", "two"])
    sharing["status"]["allocation"]["devices"]["results"][0].update(share)
    wanted = ask(capacity={"requests": {"memory": "4Gi"}})
    nodes = ([shared("s", memory={"value": "10Gi"})],)
    (row,) = explained(wanted, nodes=nodes, others=(sharing,)).rows
    assert row.texts[0].endswith("capacity is left (1 device); held by default/one and default/two")


def test_who_uses_up_counters_is_named():
    def partition(name):
        return {**gpu(name), "consumesCounters": [{"counterSet": "card", "counters": {"parts": {"value": "4"}}}]}

    pool = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    counters = resource_slice(
        "n1", [], pool=pool, sharedCounters=[{"name": "card", "counters": {"parts": {"value": "4"}}}]
    )
    counters["metadata"]["name"] = "counters"
    del counters["spec"]["devices"]
    nodes = nodes_with([])[:2]
    parts = resource_slice("n1", [partition("a"), partition("b")], pool=pool)
    objects = [*nodes, *decoded(counters, parts, claim("c", ask()), held("p", "n1", "a"))]
    (row,) = explain(objects, claiming("c")).rows
    assert row.texts[0].endswith("used up by other devices (1 device); held by default/p")


def test_programs_get_the_holder_of_each_device():
    answer = explained(ask(), nodes=([gpu("a")], []), others=(held("p", "n1", "a"),))
    rows = json.loads(json.dumps(as_document(answer)["devices"]))
    assert {row["nodes"][0]: row.get("held") for row in rows} == {
        "n1": [{"device": f"{DRIVER}/n1/a", "claims": ["default/of-p"], "pods": ["default/p"]}],
        "n2": None,
    }


def test_a_request_for_more_devices_than_there_are_has_no_device_in_its_way():
    (row,) = explained(ask(2), nodes=([gpu("a")],), others=(held("p", "n1", "a"),)).rows
    assert row.texts == ("request r0: 1 device of class gpu, 2 are wanted",)


def test_the_holders_of_devices_of_no_node_are_waited_for():
    ports, taken = resource_slice("net", [gpu("a")], nodeName=None, allNodes=True), held("sim", "net", "a")
    taken["status"]["allocation"].pop("nodeSelector", None)
    objects = [*nodes_with([], []), *decoded(ports, claim("c", ask()), taken)]
    advice = explain(objects, claiming("c")).advice
    assert advice.startswith("wait until default/sim ends, or stop it: request r0: 1 device is taken;")
    assert advice.endswith("; the devices belong to no node.")
