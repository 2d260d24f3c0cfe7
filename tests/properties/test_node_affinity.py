import msgspec
from hypothesis import given
from hypothesis import strategies as st

from kubesched.plugins.args import NodeAffinityArgs
from kubesched.plugins.node_affinity import NodeAffinity
from tests.plugins.one_plugin import node, pod
from tests.properties.against_reference import differences
from tests.reference.plugins import PLUGINS

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
KEYS = st.sampled_from(["zone", "disk"])
VALUES = st.sampled_from(["1", "2", "x", "-3"])
NAMES = st.sampled_from(["n0", "n1", "n2", "elsewhere"])


def requirement(operator: str, values: st.SearchStrategy[list[str]], key: st.SearchStrategy[str] = KEYS):
    return st.fixed_dictionaries({"key": key, "operator": st.just(operator), "values": values})


SOUND = st.one_of(
    requirement("In", st.lists(VALUES.filter(lambda v: v != "-3"), min_size=1, max_size=2)),
    requirement("NotIn", st.lists(VALUES.filter(lambda v: v != "-3"), min_size=1, max_size=2)),
    requirement("Exists", st.just([])),
    requirement("DoesNotExist", st.just([])),
    requirement("Gt", st.sampled_from([["0"], ["1"]])),
    requirement("Lt", st.sampled_from([["2"], ["1"]])),
)
BAD = requirement("Gt", st.sampled_from([["x"], ["-3"], [], ["1", "2"]])) | requirement("In", st.just([]))
FIELD = requirement("In", st.lists(NAMES, min_size=1, max_size=2), st.just("metadata.name")) | requirement(
    "NotIn", st.lists(NAMES, min_size=1, max_size=1), st.sampled_from(["metadata.name", "metadata.other"])
)
SOUND_FIELD = requirement("In", st.lists(NAMES, min_size=1, max_size=1), st.just("metadata.name"))


def term(expressions: st.SearchStrategy[dict], fields: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {},
        optional={"matchExpressions": st.lists(expressions, max_size=2), "matchFields": st.lists(fields, max_size=2)},
    )


SOUND_TERM = term(SOUND, SOUND_FIELD)
ANY_TERM = term(SOUND | BAD, FIELD)
SELECTORS = st.fixed_dictionaries({"nodeSelectorTerms": st.lists(ANY_TERM, max_size=3)})
SOUND_SELECTORS = st.fixed_dictionaries({"nodeSelectorTerms": st.lists(SOUND_TERM, max_size=3)})
PREFERENCES = st.lists(st.fixed_dictionaries({"weight": st.integers(0, 100), "preference": SOUND_TERM}), max_size=3)
AFFINITIES = st.fixed_dictionaries({}, optional={REQUIRED: SELECTORS, PREFERRED: PREFERENCES})
ADDED = st.fixed_dictionaries({}, optional={REQUIRED: SOUND_SELECTORS, PREFERRED: PREFERENCES.filter(bool)})
LABELS = st.dictionaries(KEYS, VALUES, max_size=2)
NODES = st.lists(LABELS, min_size=1, max_size=5).map(
    lambda sets: [node(f"n{i}", labels=labels) for i, labels in enumerate(sets)]
)
PODS = st.fixed_dictionaries(
    {}, optional={"nodeSelector": LABELS, "affinity": st.fixed_dictionaries({"nodeAffinity": AFFINITIES})}
).map(lambda spec: pod(**spec))


@given(NODES, PODS, ADDED, st.booleans())
def test_node_affinity_is_judged_as_by_the_reference(nodes: list[dict], incoming: dict, added: dict, hole: bool):
    plugin = NodeAffinity(msgspec.convert({"addedAffinity": added}, NodeAffinityArgs))
    slow = PLUGINS["NodeAffinity"]({"addedAffinity": added})
    assert list(differences(plugin, slow, [*nodes, incoming], hole=hole)) == []
