import pytest

from kubesched.api import NodeSelectorTerm, PreferredSchedulingTerm, SelectorRequirement
from kubesched.plugins.node_selection import parse_preferred, required_node_affinity
from tests.plugins.one_plugin import load, node, pod, read, read_pod

NODES = [node("a", labels={"zone": "1", "disk": "ssd"}), node("b", labels={"zone": "2"}), node("c")]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def expression(key: str, operator: str, *values: str) -> dict:
    return {"key": key, "operator": operator, "values": list(values)}


def required(*terms: dict, **spec: object) -> dict:
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}, **spec)


def allowed(incoming: dict) -> list[str]:
    """The nodes that the pod allows, by columns and by objects, which have to agree."""
    cluster_state = load(NODES)
    affinity = required_node_affinity(cluster_state.pod_info(read_pod(incoming)).node_choice)
    assert affinity is not None
    nodes = cluster_state.snapshot().nodes
    by_column = [name for name, here in zip(nodes.names, affinity.matches(nodes).tolist(), strict=True) if here]
    assert by_column == [one["metadata"]["name"] for one in NODES if affinity.matches_node(read(one))]
    return by_column


@pytest.mark.parametrize("incoming", [pod(), pod(nodeSelector={}), pod(affinity={"nodeAffinity": {}})])
def test_a_pod_that_requires_nothing_has_no_required_affinity(incoming: dict):
    assert required_node_affinity(load(NODES).pod_info(read_pod(incoming)).node_choice) is None


def test_pairs_of_the_node_selector_must_all_hold():
    assert allowed(pod(nodeSelector={"zone": "1", "disk": "ssd"})) == ["a"]
    assert allowed(pod(nodeSelector={"zone": "2", "disk": "ssd"})) == []


def test_a_node_selector_is_taken_as_written():
    assert allowed(pod(nodeSelector={"not a key!": "not a value!"})) == []


def test_terms_are_ored_and_their_requirements_anded():
    first = {"matchExpressions": [expression("zone", "Exists"), expression("disk", "DoesNotExist")]}
    second = {"matchFields": [expression("metadata.name", "In", "c")]}
    assert allowed(required(first, second)) == ["b", "c"]


def test_selector_and_terms_must_both_hold():
    assert allowed(required({"matchExpressions": [expression("zone", "Exists")]}, nodeSelector={"disk": "ssd"})) == [
        "a"
    ]


@pytest.mark.parametrize("terms", [(), ({},), ({"matchExpressions": []},)])
def test_no_terms_and_empty_terms_match_nothing(terms: tuple):
    assert allowed(required(*terms)) == []


def test_a_term_that_does_not_parse_matches_nothing_and_the_others_still_do():
    bad = {"matchExpressions": [expression("zone", "Gt", "abc")]}
    assert allowed(required(bad, {"matchExpressions": [expression("zone", "In", "2")]})) == ["b"]


def test_equal_wording_is_parsed_once():
    cluster_state = load(NODES)
    first, second = (cluster_state.pod_info(read_pod(pod(name, nodeSelector={"zone": "1"}))) for name in ("x", "y"))
    assert required_node_affinity(first.node_choice) is required_node_affinity(second.node_choice)


def test_preferred_weights_of_matching_terms_add_up():
    zone, ssd = SelectorRequirement("zone", "Exists"), SelectorRequirement("disk", "In", ("ssd",))
    terms = [
        PreferredSchedulingTerm(5, NodeSelectorTerm((zone,))),
        PreferredSchedulingTerm(2, NodeSelectorTerm((ssd,))),
    ]
    assert parse_preferred(terms).score(load(NODES).snapshot().nodes).tolist() == [7, 5, 0]


def test_preferred_terms_of_weight_0_and_empty_ones_are_not_even_read():
    bad = NodeSelectorTerm((SelectorRequirement("zone", "nonsense"),))
    parsed = parse_preferred([PreferredSchedulingTerm(0, bad), PreferredSchedulingTerm(5)])
    assert (parsed.weighted, parsed.faults) == ([], [])


def test_every_preferred_term_that_does_not_parse_is_told():
    bad = NodeSelectorTerm((SelectorRequirement("zone", "Gt", ("abc",)),))
    parsed = parse_preferred(
        [PreferredSchedulingTerm(1), PreferredSchedulingTerm(1, bad), PreferredSchedulingTerm(1, bad)]
    )
    assert [fault.partition(":")[0] for fault in parsed.faults] == [
        "[1].matchExpressions[0].values[0]",
        "[2].matchExpressions[0].values[0]",
    ]
