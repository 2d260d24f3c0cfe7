import pytest

from kubesched.api import NodeSelector, NodeSelectorTerm, PersistentVolume, SelectorRequirement
from kubesched.state.csi_migration import csi_handle, in_tree_source, translated_affinity, translation_error
from tests.plugins.one_plugin import read
from tests.plugins.storage_objects import ZONE, one_of, volume

BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
KEY = "topology.gke.io/zone"


def read_volume(**fields: object) -> PersistentVolume:
    found = read(volume("pv", **fields))
    assert isinstance(found, PersistentVolume)
    return found


@pytest.mark.parametrize(
    ("source", "labels", "handle"),
    [
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, {}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}}, {}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws:///vol-1?x=y"}}, {}, "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "aws://vol-1"}}, {}, None),
        ({"awsElasticBlockStore": {"volumeID": "aws://z/snap-1"}}, {}, None),
        ({"gcePersistentDisk": {"pdName": "d"}}, {}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "", BETA_ZONE: "b"}, "projects/UNSPECIFIED/zones/b/disks/d"),
        (
            {"gcePersistentDisk": {"pdName": "d"}},
            {ZONE: "us-east1-a__us-east1-b"},
            "projects/UNSPECIFIED/regions/us-east1/disks/d",
        ),
        ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "us-east1-a__us-west1-b"}, None),
        ({"azureDisk": {"diskURI": "/d"}}, {}, "/d"),
        ({"cinder": {"volumeID": "d"}}, {}, "d"),
        ({"azureFile": {"shareName": "s"}}, {}, None),
    ],
)
def test_handles_of_in_tree_volumes(source: dict, labels: dict, handle: str | None):
    found = read_volume(labels=labels, **source)
    kind = in_tree_source(found)
    assert kind is not None
    assert csi_handle(*kind, found.labels) == handle


@pytest.mark.parametrize(
    ("source", "labels", "error"),
    [
        ({"cinder": {"volumeID": "d"}}, {ZONE: "x__y"}, ""),
        ({"gcePersistentDisk": {"pdName": "d"}}, {ZONE: "us-east1-a"}, ""),
        (
            {"gcePersistentDisk": {"pdName": "d"}},
            {ZONE: "us-west1-a__us-east1-b"},
            (
                "could not translate pv: failed to get region from zones: multiple or no regions gotten from zones, "
                "got: map[us-east1:{} us-west1:{}]"
            ),
        ),
        (
            {"awsElasticBlockStore": {"volumeID": "aws://z/x"}},
            {},
            (
                "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID "
                "Invalid format for AWS volume (aws://z/x)"
            ),
        ),
    ],
)
def test_what_cannot_be_translated_is_told_in_upstreams_words(source: dict, labels: dict, error: str):
    assert translation_error(read_volume(labels=labels, **source)) == error


def selector(*terms: dict) -> NodeSelector:
    return NodeSelector(
        tuple(
            NodeSelectorTerm(tuple(SelectorRequirement(e["key"], e["operator"], tuple(e["values"])) for e in term))
            for term in (t["matchExpressions"] for t in terms)
        )
    )


@pytest.mark.parametrize(
    ("terms", "labels", "translated"),
    [
        (None, {}, None),
        ([one_of("disk", "ssd")], {}, selector(one_of("disk", "ssd"))),
        ([one_of(ZONE, "z")], {}, selector(one_of(KEY, "z"))),
        ([one_of(BETA_ZONE, "z")], {}, selector(one_of(KEY, "z"))),
        ([one_of(ZONE, "z"), one_of(BETA_ZONE, "y")], {}, selector(one_of(KEY, "z"), one_of(BETA_ZONE, "y"))),
        (None, {ZONE: "b__a "}, selector(one_of(KEY, "a", "b"))),
        ([], {BETA_ZONE: "a"}, selector(one_of(KEY, "a"))),
        ([one_of("disk", "ssd")], {ZONE: "__"}, selector(one_of("disk", "ssd"))),
        (
            [one_of("disk", "ssd")],
            {ZONE: "a"},
            selector(
                {"matchExpressions": one_of("disk", "ssd")["matchExpressions"] + one_of(KEY, "a")["matchExpressions"]}
            ),
        ),
    ],
)
def test_zones_stand_under_the_drivers_key(terms: list | None, labels: dict, translated: NodeSelector | None):
    assert translated_affinity(read_volume(terms=terms, labels=labels), KEY) == translated
