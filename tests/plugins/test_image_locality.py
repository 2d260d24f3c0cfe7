from kubesched.api import EventType, WatchEvent
from kubesched.plugins.image_locality import ImageLocality
from tests.plugins.one_plugin import Asked, load, node, pod, read, read_pod
from tests.properties.test_column_cache import framework_of, opinions

MIB = 1024 * 1024


def containers(*images: str) -> list[dict]:
    return [{"name": f"c{i}", "image": image} for i, image in enumerate(images)]


def test_an_image_counts_by_the_share_of_nodes_that_hold_it():
    nodes = [node("a", images={"app:latest": 250 * MIB}), node("b")]
    assert Asked(ImageLocality(), nodes, pod()).score() == {"a": 10, "b": 0}


def test_images_of_several_containers_add_up():
    big, bigger = {"x:1": 300 * MIB}, {"y:1": 500 * MIB}
    nodes = [node("a", images={**big, **bigger}), node("b", images=big), node("c"), node("d")]
    two = pod(containers=containers("x:1", "y:1"))
    assert Asked(ImageLocality(), nodes, two).score() == {"a": 12, "b": 6, "c": 0, "d": 0}


def test_an_image_that_comes_twice_counts_twice():
    nodes = [node("a", images={"x:1": 500 * MIB})]
    assert Asked(ImageLocality(), nodes, pod(containers=containers("x:1", "x:1"))).score() == {"a": 49}


def test_an_image_volume_adds_to_the_sum_but_is_no_container():
    nodes = [node("a", images={"data:1": 500 * MIB})]
    mounting = pod(volumes=[{"name": "v", "image": {"reference": "data:1"}}])
    assert Asked(ImageLocality(), nodes, mounting).score() == {"a": 48}


def test_images_are_cut_at_1000_mib_per_container():
    assert Asked(ImageLocality(), [node("a", images={"app:latest": 9000 * MIB})], pod()).score() == {"a": 100}


def test_an_image_by_digest_gets_no_tag():
    nodes = [node("a", images={"r.io:5000/app@sha256:1": 500 * MIB, "r.io:5000/app:latest": 500 * MIB})]
    assert Asked(ImageLocality(), nodes, pod(containers=containers("r.io:5000/app@sha256:1"))).score() == {"a": 48}
    assert Asked(ImageLocality(), nodes, pod(containers=containers("r.io:5000/app"))).score() == {"a": 48}


def test_a_node_that_comes_makes_another_part():
    asked = Asked(ImageLocality(), [node("a", images={"app:latest": 250 * MIB})], pod())
    before = asked.plugin.score_part(asked.state, asked.pod)
    assert asked.plugin.score_part(asked.state, asked.pod) == before
    asked.cluster.apply(WatchEvent(EventType.ADDED, "Node", read(node("b"))))
    assert asked.plugin.score_part(asked.state, asked.pod) != before


def test_an_image_that_comes_or_goes_replaces_the_column_of_those_that_want_it() -> None:
    cluster = load([node("a", images={"app:latest": 250 * MIB}), node("b"), node("c")])
    framework = framework_of(cluster)
    for i, wanted in enumerate(["app", "other", "app", "other"]):
        said = opinions(framework, cluster.pod_info(read_pod(pod(containers=containers(wanted)))))
        assert (said["ImageLocality score"]["a"] > 0) == (wanted == "app")
        kept = len(framework.cache)
        images = {"app:latest": 250 * MIB, f"new-{i}:latest": MIB}
        cluster.apply(WatchEvent(EventType.MODIFIED, "Node", read(node("b", images=images if i % 2 else {}))))
        opinions(framework, cluster.pod_info(read_pod(pod(containers=containers(wanted)))))
        assert len(framework.cache) == kept
