"""Resource claims that are not there, or whose class is not: who creates what is missing, and what helps."""

import pytest

from kubesched.api import Pod
from kubesched.explanation import explain
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import fixes_of, texts
from tests.explanation.claiming import (
    CLASS,
    DRIVER,
    claim,
    claiming,
    decoded,
    from_template,
    gpu,
    made_for,
    nodes_with,
    template,
)
from tests.plugins.dynamic_resources.device_objects import ask, resource_slice

CONTROLLER = "the resourceclaim controller of kube-controller-manager"
ONCE = f"{CONTROLLER} creates the claim of entry gpu once there is a template"


def with_template(name: str) -> Pod:
    """A pod for which no claim was made yet."""
    return make_pod("p", spec={"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}]})


def test_a_gated_pod_says_who_creates_its_claim():
    objects = [*nodes_with([gpu("a")]), *decoded(template("gpu", ask()))]
    explanation = explain(objects, with_template("gpu"))
    who = f"{CONTROLLER} creates the claim of entry gpu from template gpu"
    gated = "gated by plugin DynamicResources: ResourceClaim not created yet"
    assert explanation.held_back_words == f"{gated}; {who}"
    assert explanation.lacking_claims == (who,)
    assert explanation.outcome.why == f"{gated}; {who}"
    (row,) = explanation.rows
    assert row.texts == (who,)
    (fix,) = explanation.fixes
    assert fix.text == f"let {CONTROLLER} create the claim of entry gpu from template gpu"
    assert [one.target for one in fix.patches] == [None]


@pytest.mark.parametrize(
    ("pod", "words", "fixes"),
    [
        (
            with_template("no"),
            f"{ONCE} default/no",
            ["create ResourceClaimTemplate default/no, for example with 1 device of class gpu"],
        ),
        (
            with_template("trian"),
            f"{ONCE} default/trian; template train exists",
            [
                "correct the name of ResourceClaimTemplate trian, which does not exist, to train",
                "create ResourceClaimTemplate default/trian, for example with 1 device of class gpu",
            ],
        ),
        (
            with_template("shared"),
            f"{ONCE} default/shared",
            [
                "name ResourceClaim shared as resourceClaimName in entry gpu",
                "create ResourceClaimTemplate default/shared, for example with 1 device of class gpu",
            ],
        ),
        (
            claiming("no"),
            "ResourceClaim default/no does not exist, and no controller creates it",
            ["create ResourceClaim default/no, for example with 1 device of class gpu"],
        ),
        (
            claiming("train"),
            "ResourceClaim default/train does not exist; a ResourceClaimTemplate of that name does",
            [
                "name ResourceClaimTemplate train as resourceClaimTemplateName in entry e0",
                "create ResourceClaim default/train, for example with 1 device of class gpu",
            ],
        ),
    ],
)
def test_what_is_missing_and_what_helps(pod, words, fixes):
    objects = [*nodes_with([gpu("a")]), *decoded(template("train", ask()), claim("shared", ask()))]
    assert explain(objects, pod).lacking_claims == (words,)
    assert texts(pod, *objects) == fixes


def test_a_template_of_another_namespace_is_created_in_this_one():
    other = template("train", ask())
    other["metadata"]["namespace"] = "ml"
    fixes = texts(with_template("train"), *nodes_with([gpu("a")]), *decoded(other))
    assert fixes[0] == "create ResourceClaimTemplate default/train like that of namespace ml"


def test_a_claim_of_another_pod_is_made_again():
    pod = from_template("gpu")
    others = made_for(make_pod("p", metadata={"uid": "before"}), "gpu", ask())
    fixes = texts(pod, *nodes_with([gpu("a")]), *decoded(template("gpu", ask()), others))
    made = "ResourceClaim default/p-gpu-x was made for another pod"
    assert fixes == [f"recreate the pod, so that {CONTROLLER} makes a claim for it: {made}"]


@pytest.mark.parametrize("driver", [DRIVER, "the-class"])
def test_a_class_is_created_for_its_driver(driver):
    other = resource_slice("n2", [gpu("x")], driver="nic.example.com")
    slices = resource_slice("n1", [gpu("a")], driver=driver), *([other] if driver == "the-class" else [])
    objects = [make_node("n1"), make_node("n2"), *decoded(*slices, claim("c", ask(class_name="the-class")))]
    (fix,) = fixes_of(claiming("c"), *objects).values()
    assert str(fix) == f'create DeviceClass the-class with selector device.driver == "{driver}" -> 1 node'
    (step,) = fix.patches
    assert (step.action, step.target.kind) == ("create", "DeviceClass")
    assert step.commands[0].endswith("| kubectl create -f -")


def test_the_class_that_was_meant_is_named_and_its_words_have_it():
    objects = [*nodes_with([gpu("a")]), *decoded(claim("c", ask(class_name="gpus")))]
    explanation = explain(objects, claiming("c"))
    assert explanation.lacking_claims == ("DeviceClass gpus of request r0 does not exist (gpu does)",)
    assert explanation.fixes[0].text == (
        "correct the device class gpus, which does not exist, to gpu: create a new claim in place of c"
    )


@pytest.mark.parametrize("name", ["large-gpu.example.com", "tpu.example.com"])
def test_a_class_with_a_name_alike_takes_the_place_of_one_that_does_not_exist(name):
    objects = [*nodes_with([gpu("a")]), *decoded(claim("c", ask(class_name=name)))]
    instead = f"change the device class {name}, which does not exist, to gpu: create a new claim in place of c"
    assert texts(claiming("c"), *objects) == [
        f'create DeviceClass {name} with selector device.driver == "{DRIVER}"',
        *([instead] if name.startswith("large") else []),
    ]


def test_all_claims_are_put_in_order_together():
    objects = [make_node("n1"), *decoded(CLASS, resource_slice("n1", [gpu("a"), gpu("b")]))]
    (text,) = texts(claiming("x", "y"), *objects)
    such = "for example with 1 device of class gpu"
    assert text == f"create ResourceClaim default/x, {such} and create ResourceClaim default/y, {such}"


def test_a_claim_with_admin_access_that_the_api_server_refuses_needs_the_label_of_its_namespace():
    objects = [*nodes_with([gpu("a")]), *decoded(template("gpu", ask(adminAccess=True)))]
    explanation = explain([*objects, make_object("Namespace", "default")], with_template("gpu"))
    (words,) = explanation.lacking_claims
    assert words.startswith("the API server refuses the claim of entry gpu from template gpu: spec.devices.requests[0]")
    (fix,) = explanation.fixes
    label = "resource.kubernetes.io/admin-access=true"
    assert fix.text == f"label namespace default {label}, so that the claim can be created"
    assert [one.commands for one in fix.patches] == [(f"kubectl label namespace default {label} --overwrite",)]
    labels = {"resource.kubernetes.io/admin-access": "true"}
    for namespace in ([], [make_object("Namespace", "default", metadata={"labels": labels})]):
        (who,) = explain([*objects, *namespace], with_template("gpu")).lacking_claims
        assert who.startswith(CONTROLLER)
