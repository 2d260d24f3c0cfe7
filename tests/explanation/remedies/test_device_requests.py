"""What a claim may ask for instead, where no node can serve it."""

import pytest

from kubesched.controllers import stable_uid
from kubesched.explanation import with_reasons
from kubesched.planning import PendingPods
from kubesched.session import PodState, Session
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, filling, fixes_of, texts
from tests.explanation.asking import ask as explained
from tests.explanation.claiming import (
    DRIVER,
    MEMORY,
    MODEL,
    claim,
    claiming,
    decoded,
    from_template,
    gpu,
    made_for,
    nodes_with,
    template,
)
from tests.plugins.dynamic_resources.device_objects import allocation, ask, device_class, selecting

NEW = "create a new claim in place of c"
NUMA = f"{DRIVER}/numa"
GPU = "example.com/gpu"


ONE = ([gpu("a")],)


def asked(*asks, nodes=ONE, others=(), **more):
    """The fixes for a pod whose only claim asks for something; those that add nodes are left out."""
    found = fixes_of(claiming("c"), *nodes_with(*nodes), *decoded(claim("c", *asks, **more), *others))
    return {text: fix for text, fix in found.items() if fix.kind == "deviceRequest"}


def test_of_a_resource_that_classes_serve_the_most_that_some_node_gives_is_asked_for():
    served = device_class("served", f'device.driver == "{DRIVER}"', resource=GPU)
    plugin = [make_node("plugin", allocatable={**SMALL, GPU: "3"}), filling("plugin", **{GPU: "2"})]
    nodes = [*nodes_with([gpu(name) for name in "ab"]), *decoded(served), *plugin]
    said = texts(make_pod("p", requests={GPU: "4"}), *nodes)
    assert [text for text in said if text.startswith("lower")] == ["lower the request to 2 example.com/gpu"]
    more = texts(make_pod("p", requests={GPU: "4"}), *nodes[:-1])
    assert [text for text in more if text.startswith("lower")] == ["lower the request to 3 example.com/gpu"]


def test_the_largest_count_that_fits_is_asked_for():
    devices = [gpu(name) for name in "abc"]
    taken = claim("other", ask(), status=allocation("n1", "a"))
    (fix,) = asked(ask(4), nodes=(devices, devices[:1]), others=(taken,)).values()
    assert str(fix) == f"ask for 2 devices instead of 4 in request r0: {NEW} -> 1 node"


def test_a_limit_becomes_the_nearest_value_that_devices_have():
    nodes = [gpu("a", "40Gi")], [gpu("a", "48Gi")], [gpu("a", "16Gi")]
    (fix,) = asked(ask(selectors=selecting(MEMORY)), nodes=nodes).values()
    assert str(fix) == f"ask for memory >= 48Gi instead of 80Gi in request r0: {NEW} -> 1 node"
    assert not fix.keeps_intent


def test_a_value_that_a_taken_device_has_is_not_asked_for():
    taken = claim("other", ask(), status=allocation("n2", "a"))
    nodes = [gpu("a", "40Gi")], [gpu("a", "48Gi")]
    (text,) = asked(ask(selectors=selecting(MEMORY)), nodes=nodes, others=(taken,))
    assert text.startswith("ask for memory >= 40Gi instead of 80Gi")


def test_other_models_are_accepted_too_those_of_most_nodes_first():
    nodes = [gpu("a", model="A100")], [gpu("a", model="T4")], [gpu("a", model="A100")]
    assert [*map(str, asked(ask(selectors=selecting(MODEL)), nodes=nodes).values())] == [
        f"accept model H100 or A100 in request r0: {NEW} -> 2 nodes",
        f"accept model H100 or T4 in request r0: {NEW} -> 1 node",
    ]


def test_two_requirements_change_together_where_no_device_lacks_one_alone():
    (text,) = asked(ask(selectors=selecting(MEMORY, MODEL)), nodes=([gpu("a", model="A100")],))
    assert text == f"accept memory >= 40Gi instead of 80Gi and model H100 or A100 in request r0: {NEW}"


def test_a_capacity_becomes_what_devices_have():
    (text,) = asked(ask(capacity={"requests": {"memory": "80Gi"}}))
    assert text == f"ask for memory >= 40Gi instead of 80Gi in request r0: {NEW}"


@pytest.mark.parametrize(
    ("taint", "tolerated"),
    [
        ({"key": "lab", "value": "x", "effect": "NoSchedule"}, True),
        ({"key": "lab", "value": "x", "effect": "NoExecute"}, False),
        ({"key": f"{DRIVER}/unhealthy", "effect": "NoSchedule"}, False),
        ({"key": "example.com/maintenance", "value": "firmware", "effect": "NoSchedule"}, False),
    ],
)
def test_a_device_taint_is_tolerated_unless_it_evicts_or_fences_off_what_is_broken(taint, tolerated):
    found = asked(ask(), nodes=([gpu("a", taints=[taint])],))
    text = f"tolerate the device taint lab=x:NoSchedule in request r0: {NEW}"
    assert list(found) == ([text] if tolerated else [])


def test_a_constraint_is_dropped_last():
    constraint = {"matchAttribute": NUMA, "requests": []}
    found = asked(ask(2), nodes=([gpu("a", numa=0), gpu("b", numa=1)],), constraints=(constraint,))
    assert list(found) == [
        f"ask for 1 device instead of 2 in request r0: {NEW}",
        f"drop the constraint matchAttribute {NUMA}: {NEW}",
    ]


def test_a_claim_of_a_template_changes_with_the_template():
    pod = from_template("gpu")
    objects = [*nodes_with([gpu("a")]), *decoded(template("gpu", ask(2)), made_for(pod, "gpu", ask(2)))]
    (fix,) = [one for one in fixes_of(pod, *objects).values() if one.kind == "deviceRequest"]
    assert fix.text == "ask for 1 device instead of 2 in request r0: change template gpu and recreate the pod"
    assert [(one.action, one.target.kind) for one in fix.patches] == [
        ("recreate", "ResourceClaimTemplate"),
        ("recreate", "Pod"),
    ]


def test_no_step_patches_the_spec_of_a_claim():
    (fix,) = asked(ask(2)).values()
    (step,) = fix.patches
    assert (step.action, step.target.kind) == ("recreate", "ResourceClaim")
    assert step.commands[-1].endswith("| kubectl replace --force -f -")


def test_a_template_that_is_not_at_hand_is_changed_by_hand():
    pod = from_template("gpu")
    found = fixes_of(pod, *nodes_with([gpu("a")]), *decoded(made_for(pod, "gpu", ask(2))))
    (fix,) = [one for one in found.values() if one.kind == "deviceRequest"]
    assert [(one.text, one.target) for one in fix.patches] == [(fix.text, None)]


def test_a_node_like_one_of_them_comes_with_its_devices():
    taken = claim("other", ask(), status=allocation("n1", "a"))
    objects = [*nodes_with([gpu("a")]), *decoded(claim("c", ask()), taken)]
    assert "add a node like n1" in texts(claiming("c"), *objects)


def test_what_is_left_of_a_shared_device_is_asked_for():
    card = {"name": "a", "allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": "100G"}}}
    status = allocation("n1", "a")
    share = {"shareID": "x", "consumedCapacity": {"bandwidth": "70G"}}
    status["allocation"]["devices"]["results"][0].update(share)
    used = claim("other", ask(), status=status)
    (text,) = asked(ask(capacity={"requests": {"bandwidth": "40G"}}), nodes=([card],), others=(used,))
    assert text == f"ask for bandwidth >= 30G instead of 40G in request r0: {NEW}"


@pytest.mark.parametrize("name", ["mig.nvidia.com", "nic"])
def test_a_class_with_a_name_alike_is_asked_for_where_no_node_has_a_device_of_the_class(name):
    other = device_class(name, 'device.driver == "other.example.com"')
    found = asked(ask(class_name=name), others=(other,))
    text = f"ask for class gpu instead of {name}, of which no node has a device, in request r0: {NEW}"
    assert list(found) == ([text] if name != "nic" else [])


def test_a_claim_of_a_manifest_is_changed_there():
    pod = claiming("c", metadata={"uid": stable_uid("Pod", "default", "p")})
    written = claim("c", ask(2))
    del written["metadata"]["uid"]
    (fix,) = [one for one in fixes_of(pod, *nodes_with(*ONE), *decoded(written)).values() if one.kind != "addNode"]
    assert fix.text == "ask for 1 device instead of 2 in request r0: change claim c"
    assert [(one.action, one.commands) for one in fix.patches] == [("patch", ())]


@pytest.mark.parametrize(
    ("expression", "name", "near"),
    [
        (f'device.attributes["{DRIVER}"].modle == "A100"', "modle", "model"),
        (f'device.attributes["{DRIVER}"]["modle"] == "A100"', "modle", "model"),
        (f'device.capacity["{DRIVER}"].memroy.compareTo(quantity("40Gi")) >= 0', "memroy", "memory"),
        ('device.attributes["gpu.exmaple.com"].model == "A100"', "", ""),
        ('device.attributes["nvidia.com"].model == "A100"', "nvidia.com/model", f"{DRIVER}/model"),
    ],
)
def test_a_name_that_no_device_has_is_corrected(expression, name, near):
    found = asked(ask(selectors=selecting(expression)), nodes=([gpu("a", model="A100")],))
    wrong, right = (f"{DRIVER}/{name}", f"{DRIVER}/{near}") if name else ("gpu.exmaple.com/model", f"{DRIVER}/model")
    wrong, right = (name, near) if "/" in name else (wrong, right)
    text = f"correct {wrong}, which no device has, to {right} in request r0: {NEW}"
    assert next(iter(found)) == text
    assert found[text].keeps_intent


ATTRIBUTE = f'device.attributes["{DRIVER}"].model'


@pytest.mark.parametrize(
    ("condition", "wrong", "meant"),
    [
        (f'{ATTRIBUTE} == "a-100"', "a-100", ["A100"]),
        (f'{ATTRIBUTE} in ["H100", "a100"]', "a100", ["A100"]),
        (f'{ATTRIBUTE} == "RTX6000"', "RTX6000", ["NVIDIA RTX6000 24GB", "NVIDIA RTX6000 48GB"]),
    ],
)
def test_a_value_that_no_device_has_is_corrected(condition, wrong, meant):
    models = ("A100", "NVIDIA RTX6000 24GB", "NVIDIA RTX6000 48GB")
    found = asked(ask(selectors=selecting(condition)), nodes=[[gpu("a", model=model)] for model in models])
    said = [f'correct model "{wrong}", which no device has, to "{one}" in request r0: {NEW}' for one in meant]
    assert [text for text in found if text.startswith("correct")] == said
    assert next(iter(found)) == said[0]
    assert all(found[one].keeps_intent for one in said)
    assert not [text for text in found if f"model {wrong} or" in text or f"or {wrong} or" in text]


def test_a_corrected_value_that_only_taken_devices_have_is_accepted_beside_another_one():
    taken = claim("other", ask(), status=allocation("n1", "a"))
    nodes = [gpu("a", model="H100")], [gpu("a", model="A100")]
    found = asked(ask(selectors=selecting(f'{ATTRIBUTE} in ["h-100", "B200"]')), nodes=nodes, others=(taken,))
    assert list(found) == [f"accept model H100 or B200 or A100 in request r0: {NEW}"]


@pytest.mark.parametrize("wrong", ["H100", "A10", "A1000"])
def test_another_model_is_not_a_misspelt_one(wrong):
    found = asked(ask(selectors=selecting(f'{ATTRIBUTE} == "{wrong}"')), nodes=([gpu("a", model="A100")],))
    assert list(found) == [f"accept model {wrong} or A100 in request r0: {NEW}"]


def test_a_name_that_a_taken_device_has_is_not_corrected():
    taken = claim("other", ask(), status=allocation("n1", "a"))
    nodes = ([gpu("a", lane=1), gpu("b", lanes=1)],)
    found = asked(ask(selectors=selecting(f'device.attributes["{DRIVER}"].lane == 1')), nodes=nodes, others=(taken,))
    assert not [text for text in found if text.startswith("correct")]


def test_the_only_condition_that_no_free_device_meets_is_dropped_last():
    expression = f'device.attributes["{DRIVER}"].model.startsWith("H") && device.attributes["{DRIVER}"].numa == 0'
    (fix,) = asked(ask(selectors=selecting(expression)), nodes=([gpu("a", model="A100", numa=0)],)).values()
    condition = f'device.attributes["{DRIVER}"].model.startsWith("H")'
    assert fix.text == f"drop the condition {condition} in request r0: {NEW}"
    (step,) = fix.patches
    (request,) = step.patch["spec"]["devices"]["requests"]
    kept = f'true && device.attributes["{DRIVER}"].numa == 0'
    assert request["exactly"]["selectors"] == [{"cel": {"expression": kept}}]


def test_a_condition_that_names_a_single_device_is_dropped_and_no_other_name_is_accepted():
    devices = [gpu(name, uuid=f"GPU-{name}") for name in "abcdef"]
    condition = f'device.attributes["{DRIVER}"].uuid == "GPU-x"'
    found = asked(ask(selectors=selecting(condition)), nodes=(devices,))
    assert list(found) == [f"drop the condition {condition} in request r0: {NEW}"]


def test_a_pod_whose_template_has_changed_is_created_again():
    pod = from_template("gpu")
    objects = [*nodes_with([gpu("a")]), *decoded(template("gpu", ask(1)), made_for(pod, "gpu", ask(2)))]
    fix = next(iter(fixes_of(pod, *objects).values()))
    assert fix.text == "recreate the pod: its claim p-gpu-x was made before template gpu changed"
    assert [(one.action, one.target.kind) for one in fix.patches] == [("recreate", "Pod")]


def test_one_of_the_alternatives_of_a_request_changes():
    some = [
        {"name": "large", **ask(3), "selectors": selecting(MODEL)},
        {"name": "small", **ask(2), "selectors": selecting(MODEL)},
    ]
    written = claim("c")
    written["spec"]["devices"]["requests"] = [{"name": "r", "firstAvailable": some}]
    found = fixes_of(claiming("c"), *nodes_with([gpu("a", model="A100"), gpu("b", model="A100")]), *decoded(written))
    assert next(iter(found)) == f"accept model H100 or A100 in request r/small: {NEW}"


def test_an_error_that_only_a_tried_change_meets_is_not_one_of_the_pod():
    """Devices of the other class lack the attribute that the request reads."""
    mig = device_class("mig", f'device.attributes["{DRIVER}"].model == "MIG"')
    wanted = claim("c", ask(class_name="mig", selectors=selecting(f'device.attributes["{DRIVER}"].profile == "7g"')))
    found = explained(claiming("c"), *nodes_with([gpu("a", model="A100")]), *decoded(mig, wanted))
    assert found.fix_fault is None
    assert found.advice.startswith("to fit on n1, remove this obstacle: request r0: no device of class mig")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("40GB", ["40G", "40Gi"]), ("40 GiB", ["40Gi"]), ("40g", ["40G", "40Gi"]), ("9 kb", ["9k", "9Ki"]), ("much", [])],
)
def test_a_text_that_is_not_a_quantity_becomes_one(written, meant):
    condition = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{written}")) >= 0'
    found = asked(ask(selectors=selecting(condition)))
    *corrected, dropped = found
    assert corrected == [
        f'correct "{written}", which is not a quantity, to "{one}" in request r0: {NEW}' for one in meant
    ]
    assert dropped.startswith("drop the condition")


GUARD = f'"rdma" in device.attributes["{DRIVER}"]'


def test_a_class_that_fails_for_some_devices_gets_a_guard():
    fabric = device_class("fabric", f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].rdma')
    objects = nodes_with([gpu("a"), gpu("b", rdma=True)])
    found = fixes_of(claiming("c"), *objects, *decoded(fabric, claim("c", ask(class_name="fabric"))))
    fix = next(iter(found.values()))
    assert (fix.text, fix.kind) == (f"put {GUARD} && before the condition of DeviceClass fabric", "deviceClass")
    (step,) = fix.patches
    expression = f'device.driver == "{DRIVER}" && {GUARD} && device.attributes["{DRIVER}"].rdma'
    assert step.patch == {"spec": {"selectors": [{"cel": {"expression": expression}}]}}


def test_a_condition_that_fails_for_some_devices_gets_a_guard():
    condition = f'device.attributes["{DRIVER}"].rdma || false'
    text, *_ = asked(ask(selectors=selecting(condition)), nodes=([gpu("a"), gpu("b", rdma=True)],))
    assert text == f"put {GUARD} && before the condition that fails in request r0: {NEW}"


def test_a_class_that_fails_on_another_node_than_the_one_that_fits_gets_a_guard():
    fabric = device_class("fabric", f'device.attributes["{DRIVER}"].rdma')
    objects = [*nodes_with([gpu("a", rdma=True)], [gpu("a")]), *decoded(fabric, claim("c", ask(class_name="fabric")))]
    text = f"put {GUARD} && before the condition of DeviceClass fabric"
    (fix,) = fixes_of(claiming("c"), *objects).values()
    assert (fix.text, fix.nodes, fix.fault) == (text, ("n1",), None)
    with Session([*objects, claiming("c")]) as session:
        (said,) = with_reasons(session, session.schedule()).placements
    assert (said.state, said.fix, said.diagnosis) == (PodState.ERROR, f"{text} -> 1 node", "")
    with PendingPods([*objects, claiming("c")], set_up(), lambda pod: pod.key) as pending:
        (answer,) = pending.answers()
        assert answer.tell().fix == f"{text} -> 1 node"
