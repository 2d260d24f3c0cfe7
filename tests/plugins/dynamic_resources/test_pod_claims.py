import pytest

from kubesched.framework import Status
from kubesched.plugins.dynamic_resources.pod_claims import claims_of
from tests.plugins.dynamic_resources.device_objects import claim, using
from tests.plugins.one_plugin import load, pod, read_pod

TEMPLATE = {"name": "e", "resourceClaimTemplateName": "t"}
MADE = {"name": "e", "resourceClaimName": "made"}
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}


def made(**metadata: object) -> dict:
    one = claim("made")
    return {**one, "metadata": {**one["metadata"], **metadata}}


@pytest.mark.parametrize(
    ("entry", "statuses", "claims", "why"),
    [
        (using("c")[0], [], [], 'could not find ResourceClaim "default/c"'),
        ({"name": "e"}, [], [], 'pod "default/p", spec.resourceClaim "e": none of the supported fields are set'),
        (TEMPLATE, [], [], 'pod "default/p": ResourceClaim not created yet'),
        (TEMPLATE, [MADE], [], 'could not find ResourceClaim "default/made"'),
        (TEMPLATE, [MADE], [made()], "ResourceClaim default/made was not created for Pod default/p (Pod is not owner)"),
        (
            TEMPLATE,
            [MADE],
            [made(ownerReferences=[OWNER], deletionTimestamp="2026-01-01T00:00:00Z")],
            'resourceclaim "made" is being deleted',
        ),
    ],
)
def test_a_pod_waits_for_its_claims(entry: dict, statuses: list[dict], claims: list[dict], why: str):
    waiting = read_pod({**pod(resourceClaims=[entry]), "status": {"resourceClaimStatuses": statuses}})
    assert claims_of(waiting, load(claims).objects) == Status.unresolvable(why)


def test_claims_are_in_the_order_of_the_entries_and_those_that_are_not_needed_left_out():
    entries = [TEMPLATE, *using("b", "a", "b")]
    waiting = read_pod({**pod(resourceClaims=entries), "status": {"resourceClaimStatuses": [{"name": "e"}]}})
    found = claims_of(waiting, load([claim("a"), claim("b")]).objects)
    assert not isinstance(found, Status)
    assert [one.name for one in found] == ["b", "a", "b"]
