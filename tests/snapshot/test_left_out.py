"""What a note on objects that were left out says about their kinds."""

from kubesched.snapshot import left_out_sentences


def test_kinds_for_resource_claims_are_not_called_unread():
    counts = {"Secret": 1, "ResourceSlice": 4, "DeviceClass": 3, "ConfigMap": 2}
    assert list(left_out_sentences(counts)) == [
        "left out, because kubesched does not read these kinds: 2 ConfigMap, 1 Secret",
        "left out, because only pods with resource claims need them: 3 DeviceClass, 4 ResourceSlice",
    ]


def test_the_sentence_names_the_manifests_and_ends_with_the_advice():
    (sentence,) = left_out_sentences({"Deployment": 1}, source="the manifests", advice="; do this")
    assert sentence == "left out of the manifests, because kubesched does not read these kinds: 1 Deployment; do this"


def test_nothing_is_said_about_nothing():
    assert list(left_out_sentences({})) == []
