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


# --- admin access ---

REFUSED = (
    "spec.devices.requests[1].adminAccess: Forbidden: admin access to devices requires the "
    "`resource.kubernetes.io/admin-access: true` label on the containing namespace"
)
ADMIN = {**asks(adminAccess=True), "name": "all"}


def namespace(label=""):
    labels = {"resource.kubernetes.io/admin-access": label} if label else {}
    return other("v1", "Namespace", "shop", metadata={"labels": labels})


def with_admin(kind):
    made = claim(asks(), ADMIN)
    spec = made["spec"] if kind == "ResourceClaim" else {"spec": made["spec"]}
    return other("resource.k8s.io/v1", kind, "gpus", metadata={"namespace": "shop"}, spec=spec)


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
@pytest.mark.parametrize("label", ["", "false"])
def test_admin_access_needs_the_label_of_the_namespace(kind, label):
    for manifests, cluster in (([with_admin(kind)], [namespace(label)]), ([with_admin(kind), namespace(label)], [])):
        with pytest.raises(ObjectError, match="kubectl label namespace shop") as caught:
            expanded(*manifests, cluster=cluster)
        assert REFUSED in str(caught.value)


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_admin_access_is_taken_with_the_label_and_where_the_namespace_is_not_known(kind):
    known = {"ResourceClaim": ResourceClaim, "ResourceClaimTemplate": ResourceClaimTemplate}[kind]
    assert expanded(with_admin(kind), cluster=[namespace("true")]).of(known)
    assert expanded(with_admin(kind), namespace("true")).of(known)  # whatever comes first in the file
    assert expanded(with_admin(kind), namespace("true"), cluster=[namespace()]).of(known)
    assert expanded(with_admin(kind)).of(known)


def test_no_claim_is_made_from_a_template_whose_namespace_does_not_allow_it_any_more():
    cluster = [namespace(), with_admin("ResourceClaimTemplate")]
    snapshot = expanded(pod(resourceClaims=[ENTRY]), cluster=cluster)
    assert not snapshot.of(ResourceClaim)
    assert any(f"no claim is made from ResourceClaimTemplate shop/gpus: {REFUSED}" in one for one in snapshot.notes)
