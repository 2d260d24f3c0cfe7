"""What a note on objects that were left out says about their kinds."""

import io
import json

from kubesched.snapshot import left_out_sentences, load_snapshot


def test_kinds_for_resource_claims_are_not_called_unread():
    counts = {"Secret": 1, "DeviceTaintRule": 3, "ConfigMap": 2}
    assert list(left_out_sentences(counts)) == [
        "left out, because kubesched does not read these kinds: 2 ConfigMap, 1 Secret",
        "left out, because kube-scheduler does not read these kinds by default: 3 DeviceTaintRule",
    ]


def test_the_sentence_names_the_manifests_and_ends_with_the_advice():
    (sentence,) = left_out_sentences({"Deployment": 1}, source="the manifests", advice="; do this")
    assert sentence == "left out of the manifests, because kubesched does not read these kinds: 1 Deployment; do this"


OLD_SLICE = {
    "apiVersion": "resource.k8s.io/v1alpha3",
    "kind": "ResourceSlice",
    "metadata": {"name": "n1-gpu"},
    "spec": {"driver": "gpu.example.com", "devices": [{"name": "gpu-0", "basic": {"attributes": {}}}]},
}
OLD_CLASS = {
    "apiVersion": "resource.k8s.io/v1beta1",
    "kind": "DeviceClass",
    "metadata": {"name": "gpu"},
    "spec": {"extendedResourceName": "example.com/gpu"},
}


def test_claims_and_slices_of_an_older_version_are_left_out_and_classes_are_read() -> None:
    text = json.dumps([OLD_SLICE, OLD_CLASS])
    cluster = load_snapshot(io.StringIO(text))
    assert [known.key for known in cluster] == ["gpu"]
    (sentence,) = left_out_sentences(cluster.skipped)
    assert sentence == (
        "left out, because kubesched reads them in version v1: 1 ResourceSlice of resource.k8s.io/v1alpha3; "
        "add `kubectl get resourceslices.v1.resource.k8s.io -A -o json`"
    )


def test_slices_of_an_older_version_are_left_out_of_manifests_too() -> None:
    notes = " ".join(load_snapshot(manifests=[io.StringIO(json.dumps(OLD_SLICE))]).notes)
    assert "left out of the manifests, because kubesched reads them in version v1: 1 ResourceSlice of" in notes
    assert "; write them in v1, or add what `kubectl get resourceslices.v1.resource.k8s.io -A -o json` prints" in notes


def test_nothing_is_said_about_nothing():
    assert list(left_out_sentences({})) == []


KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [pod.yaml]\n"
NOT_APPLIED = "not applied: 1 Kustomization; `kustomize build FOLDER` prints the patched objects"


def test_a_kustomization_beside_its_base_is_said_not_to_be_applied(tmp_path) -> None:
    (tmp_path / "kustomization.yaml").write_text(KUSTOMIZATION)
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"
    )
    assert NOT_APPLIED in load_snapshot(manifests=[tmp_path]).notes
    assert list(left_out_sentences(load_snapshot(tmp_path).skipped)) == [NOT_APPLIED]


def test_a_kustomization_that_a_cluster_has_is_another_kind() -> None:
    text = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\n"
    (sentence,) = left_out_sentences(load_snapshot(io.StringIO(text)).skipped)
    assert sentence == "left out, because kubesched does not read these kinds: 1 Kustomization"
