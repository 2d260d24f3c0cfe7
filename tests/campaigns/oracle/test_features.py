"""What versions of kube-scheduler decide differently occurs in most generated clusters."""

from collections.abc import Iterator

import pytest

from campaigns.oracle import more
from campaigns.oracle.generate import GROUPS, snapshot

SEEDS = range(1, 6)


def features(items: list[dict]) -> Iterator[str]:
    """The features of the objects that some version reads, and another one does not, or reads in another way."""
    drivers = {obj["metadata"]["name"]: obj["spec"] for obj in items if obj["kind"] == "CSIDriver"}
    for obj in items:
        spec, status, text = obj.get("spec", {}), obj.get("status", {}), str(obj)
        if obj["kind"] == "Pod":
            yield from (name for name in ("resources",) if spec.get(name))
            yield from (f"status.{name}" for name in ("resources", "allocatedResources") if status.get(name))
            yield from ("PodResizePending" for _ in range("PodResizePending" in text))
            yield from ("bound and terminating" for _ in range("deletionTimestamp" in text and "nodeName" in spec))
            yield from ("image volume" for volume in spec.get("volumes", ()) if volume.get("image"))
            yield from ("portworx" for volume in spec.get("volumes", ()) if "portworxVolume" in volume)
            yield from ("negative namespaceSelector" for _ in range(is_negative(text)))
            yield from ("Gt" for one in spec.get("tolerations", ()) if one.get("operator") == "Gt")
            for container in spec.get("initContainers", ()):
                ports = [port for port in container.get("ports", ()) if port.get("hostPort")]
                yield from (f"port of {container.get('restartPolicy', 'init')}" for _ in ports)
        if obj["kind"] == "Node" and status.get("declaredFeatures"):
            yield "declaredFeatures"
        if obj["kind"] == "Node" and "NoSchedule" in text:
            yield "taint"
        if obj["kind"] in ("PersistentVolume", "PersistentVolumeClaim"):
            yield from (f"{obj['kind']} with an attributes class" for _ in range("volumeAttributesClassName" in spec))
            yield from ("ReadWriteOncePod" for _ in range("ReadWriteOncePod" in text))
        if obj["kind"] == "CSIDriver":
            yield from (f"preventPodSchedulingIfMissing {spec[name]}" for name in spec if name.startswith("prevent"))
        if obj["kind"] == "CSIStorageCapacity":
            yield "capacity"
        if obj["kind"] == "CSINode" and not drivers.keys() <= {one["name"] for one in spec["drivers"]}:
            yield "driver not installed"


def is_negative(text: str) -> bool:
    start = "'namespaceSelector': {'matchExpressions': [{'key': "
    return f"{start}'team', 'operator': 'NotIn'" in text or f"{start}'gone', 'operator': 'DoesNotExist'" in text


def made(seed: int, wanted: tuple[str, ...] = more.USUAL) -> list[dict]:
    return snapshot(seed, 20, 60, 30, GROUPS, wanted)


def test_each_feature_in_which_versions_differ_occurs_in_most_clusters() -> None:
    seen = [set(features(made(seed))) for seed in SEEDS]
    wanted = {
        *("resources", "status.resources", "status.allocatedResources", "PodResizePending", "image volume", "portworx"),
        *("bound and terminating", "negative namespaceSelector", "Gt", "declaredFeatures"),
        *("port of Always", "port of init", "taint", "ReadWriteOncePod", "capacity", "driver not installed"),
        *("PersistentVolume with an attributes class", "PersistentVolumeClaim with an attributes class"),
        *("preventPodSchedulingIfMissing True", "preventPodSchedulingIfMissing False"),
    }
    assert {name: sum(name in one for one in seen) for name in wanted if sum(name in one for one in seen) < 3} == {}


@pytest.mark.parametrize("name", ["drivers", "attributes"])
def test_a_feature_changes_nothing_of_the_others(name: str) -> None:
    """A seed gives the same pods, apart from what the feature adds to them."""
    plain, with_it = made(1, ("claims", "local")), made(1, ("claims", "local", name))
    assert plain != with_it
    names = [[one["metadata"]["name"] for one in items if one["kind"] == "Pod"] for items in (plain, with_it)]
    assert names[0] == names[1]
