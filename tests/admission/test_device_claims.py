import re

import pytest

from kubesched.api import Pod, ResourceClaim, ResourceClaimTemplate
from kubesched.errors import ObjectError
from kubesched.snapshot import load_snapshot
from tests.admission.device_claim_cases import CASES, asks, claim
from tests.snapshot.builders import listed, other, pod, stream, workload


def expanded(*manifests, cluster=()):
    return load_snapshot(stream(listed(*cluster)), manifests=[stream(*manifests)])


def refused(*manifests):
    with pytest.raises(ObjectError) as caught:
        expanded(*manifests)
    return str(caught.value)


def template(name="gpus", **more):
    spec = {"spec": claim(asks())["spec"], **more}
    return other("resource.k8s.io/v1", "ResourceClaimTemplate", name, metadata={"namespace": "shop"}, spec=spec)


ENTRY = {"name": "gpu", "resourceClaimTemplateName": "gpus"}


@pytest.mark.parametrize(("document", "message"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_claim_is_taken_or_refused_as_by_an_api_server(document, message):
    if message:
        assert message in refused(document)
        made = {**document, "kind": "ResourceClaimTemplate", "spec": {"spec": document["spec"]}}
        assert message.replace("spec.devices", "spec.spec.devices", 1) in refused(made)
    else:
        assert expanded(document).of(ResourceClaim)


@pytest.mark.parametrize("read", [lambda one: expanded(one), lambda one: load_snapshot(stream(listed(one)))])
def test_a_claim_has_the_defaults_of_an_api_server(read):
    tolerations = [{"key": "a"}]
    written = claim(
        asks(tolerations=tolerations), {"name": "every", "exactly": {**asks()["exactly"], "allocationMode": "All"}}
    )
    (found,) = read(written).of(ResourceClaim)
    one, every = found.spec.devices.requests
    assert (one.exactly.allocation_mode, one.exactly.count) == ("ExactCount", 1)
    assert one.exactly.tolerations[0].operator == "Equal"
    assert (every.exactly.allocation_mode, every.exactly.count) == ("All", 0)


def test_a_template_and_its_alternatives_have_the_defaults_too():
    request = {"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "gpu"}]}
    (found,) = expanded(template(spec=claim(request)["spec"])).of(ResourceClaimTemplate)
    (alternative,) = found.spec.spec.devices.requests[0].first_available
    assert (alternative.allocation_mode, alternative.count) == ("ExactCount", 1)


def test_the_claim_of_a_template_is_made_with_the_pod():
    labelled = template(metadata={"labels": {"team": "ml"}, "annotations": {"note": "x"}})
    found = expanded(labelled, pod("train", resourceClaims=[ENTRY]))
    (made,), (owner,) = found.of(ResourceClaim), found.of(Pod)
    assert re.fullmatch("train-gpu-[a-z0-9]{5}", made.name)
    assert made.labels == {"team": "ml"}
    assert made.annotations == {"note": "x", "resource.kubernetes.io/pod-claim-name": "gpu"}
    assert made.metadata.controller.uid == owner.uid
    assert made.spec.devices.requests[0].exactly.count == 1
    (status,) = owner.status.resource_claim_statuses
    assert (status.name, status.resource_claim_name) == ("gpu", made.name)


def test_each_pod_of_a_workload_has_a_claim_of_its_own():
    found = expanded(template(), workload("Deployment", replicas=3, template={"resourceClaims": [ENTRY]}))
    names = {made.name for made in found.of(ResourceClaim)}
    assert len(names) == 3
    assert names == {pod.status.resource_claim_statuses[0].resource_claim_name for pod in found.of(Pod)}


def test_a_template_may_be_in_the_cluster_and_a_missing_one_is_named():
    loaded = expanded(pod("train", resourceClaims=[ENTRY]), cluster=[template()])
    assert len(loaded.of(ResourceClaim)) == 1
    loaded = expanded(pod("train", resourceClaims=[ENTRY]))
    assert not loaded.of(ResourceClaim)
    assert any("ResourceClaimTemplate shop/gpus does not exist" in note for note in loaded.notes)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([{"resourceClaimName": "c"}], "spec.resourceClaims[0].name: Required value"),
        ([{"name": "a"}], "spec.resourceClaims[0]: Invalid value: "),
        ([{"name": "A_", "resourceClaimName": "c"}], 'spec.resourceClaims[0].name: Invalid value: "A_": a lowercase'),
        ([{**ENTRY, "resourceClaimName": "c"}], "at most one of `resourceClaimName` or `resourceClaimTemplateName`"),
        ([{"name": "a", "resourceClaimName": "c"}] * 2, 'spec.resourceClaims[1].name: Duplicate value: "a"'),
    ],
)
def test_the_entries_of_a_pod_are_checked_as_by_an_api_server(entries, message):
    assert message in refused(template(), pod("train", resourceClaims=entries))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({**claim(asks(cuont=2))}, 'spec.devices.requests[0].exactly.cuont: unknown field; did you mean "count"?'),
        ({**claim(asks(selectors=[{"cel": {"expr": "true"}}]))}, "selectors[0].cel.expr: unknown field"),
        (other("resource.k8s.io/v1", "DeviceClass", "gpu", spec={"selector": []}), 'did you mean "selectors"?'),
    ],
)
def test_unknown_fields_are_named(document, message):
    assert message in refused(document)


def test_a_container_names_its_claim_by_known_fields():
    resources = {"claims": [{"name": "gpu", "request": "r"}]}
    written = pod("train", resourceClaims=[ENTRY], containers=[{"name": "c", "image": "x", "resources": resources}])
    assert expanded(template(), written).of(Pod)
