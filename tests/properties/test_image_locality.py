from hypothesis import given
from hypothesis import strategies as st

from kubesched.plugins.image_locality import ImageLocality
from tests.plugins.one_plugin import node, pod
from tests.properties.against_reference import differences
from tests.reference.plugins import PLUGINS

MIB = 1024 * 1024
HELD = st.dictionaries(
    st.sampled_from(["a:latest", "a:1", "r.io:5000/b:latest", "c@sha256:0"]), st.integers(1, 3000 * MIB), max_size=4
)
WANTED = st.sampled_from(["a", "a:1", "r.io:5000/b", "c@sha256:0", "missing"])


@st.composite
def items(draw: st.DrawFn) -> list[dict]:
    nodes = [node(f"n{i}", images=draw(HELD)) for i in range(draw(st.integers(1, 6)))]
    containers = [
        {"name": f"c{i}", "image": image} for i, image in enumerate(draw(st.lists(WANTED, min_size=1, max_size=3)))
    ]
    setup = [{"name": f"i{i}", "image": image} for i, image in enumerate(draw(st.lists(WANTED, max_size=1)))]
    volumes = [
        {"name": f"v{i}", "image": {"reference": image}} for i, image in enumerate(draw(st.lists(WANTED, max_size=1)))
    ]
    return [*nodes, pod(containers=containers, initContainers=setup, volumes=volumes)]


@given(items(), st.booleans())
def test_images_are_scored_as_by_the_reference(items: list[dict], hole: bool):
    assert list(differences(ImageLocality(), PLUGINS["ImageLocality"](), items, hole=hole)) == []
