import msgspec
import pytest

from kubesched.api import ActionType
from kubesched.framework import PreFilterResult, QueueingHint, Status
from kubesched.plugins.args import NodeAffinityArgs
from kubesched.plugins.node_affinity import NodeAffinity
from tests.plugins.hinting import NODE_ADD, hint, node_event
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
NODES = [node("a", labels={"zone": "1"}), node("b", labels={"zone": "2"})]
ENFORCED = Status.unresolvable("node(s) didn't match scheduler-enforced node affinity")
MISMATCH = Status.unresolvable("node(s) didn't match Pod's node affinity/selector")


def expression(key: str, operator: str, *values: str) -> dict:
    return {"key": key, "operator": operator, "values": list(values)}


def named(*values: str) -> dict:
    return {"matchFields": [expression("metadata.name", "In", *values)]}


def in_zone(*values: str) -> dict:
    return {"matchExpressions": [expression("zone", "In", *values)]}


def required(*terms: dict) -> dict:
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}})


def preferred(*terms: tuple[int, dict]) -> dict:
    return pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": w, "preference": term} for w, term in terms]}})


def adding(**added: object) -> NodeAffinity:
    return NodeAffinity(msgspec.convert({"addedAffinity": added}, NodeAffinityArgs))


def adding_zone(*values: str) -> NodeAffinity:
    return adding(**{REQUIRED: {"nodeSelectorTerms": [in_zone(*values)]}})


# --- filter ---


def test_a_pod_that_requires_nothing_skips_the_filter():
    assert Asked(NodeAffinity(), NODES, pod()).pre_filter() is Status.SKIP


@pytest.mark.parametrize("incoming", [pod(nodeSelector={}), required(), required(in_zone("1"))])
def test_a_pod_that_requires_something_does_not_skip(incoming: dict):
    assert Asked(NodeAffinity(), NODES, incoming).pre_filter() is Status.SUCCESS


def test_an_added_requirement_concerns_every_pod():
    asked = Asked(adding_zone("2"), NODES, pod())
    assert asked.pre_filter() is Status.SUCCESS
    assert asked.filter() == {"a": ENFORCED}


def test_the_added_requirement_is_told_first():
    assert Asked(adding_zone("2"), NODES, pod(nodeSelector={"zone": "3"})).filter() == {"a": ENFORCED, "b": MISMATCH}


def test_names_that_terms_ask_for_narrow_the_nodes():
    assert Asked(NodeAffinity(), NODES, required(named("a"), named("c"))).pre_filter() == PreFilterResult(
        frozenset("ac")
    )


def test_fields_of_one_term_are_intersected():
    both = {"matchFields": [expression("metadata.name", "In", "a", "b"), expression("metadata.name", "In", "b", "c")]}
    assert Asked(NodeAffinity(), NODES, required(both)).pre_filter() == PreFilterResult(frozenset("b"))


def test_a_term_without_names_makes_every_node_eligible():
    assert Asked(NodeAffinity(), NODES, required(named("a"), in_zone("2"))).pre_filter() is Status.SUCCESS


def test_names_that_contradict_each_other_reject_the_pod():
    conflict = {"matchFields": [expression("metadata.name", "In", "a"), expression("metadata.name", "In", "b")]}
    asked = Asked(NodeAffinity(), NODES, required(conflict))
    assert asked.pre_filter() == Status.unresolvable("pod affinity terms conflict")


def test_several_names_narrow_and_then_match_nothing():
    asked = Asked(NodeAffinity(), NODES, required(named("a", "b")))
    assert asked.pre_filter() == PreFilterResult(frozenset("ab"))
    assert asked.filter() == {"a": MISMATCH, "b": MISMATCH}


def test_the_filter_works_where_pre_filter_is_switched_off():
    assert Asked(NodeAffinity(), NODES, required(in_zone("1"))).filter() == {"b": MISMATCH}


# --- score ---


def test_a_pod_that_prefers_nothing_skips_the_score():
    assert Asked(NodeAffinity(), NODES, pod()).pre_score() is Status.SKIP


def test_an_empty_preferred_list_does_not_skip_and_earns_nothing():
    asked = Asked(NodeAffinity(), NODES, preferred())
    assert asked.pre_score() is Status.SUCCESS
    assert asked.normalized() == {"a": 0, "b": 0}


def test_an_empty_added_preferred_list_is_none():
    assert Asked(adding(**{PREFERRED: []}), NODES, pod()).pre_score() is Status.SKIP


def test_weights_of_matching_terms_add_up_and_are_scaled():
    nodes = [*NODES, node("c")]
    asked = Asked(NodeAffinity(), nodes, preferred((3, in_zone("1")), (2, in_zone("1", "2"))))
    assert asked.score() == {"a": 5, "b": 2, "c": 0}
    assert asked.normalized() == {"a": 100, "b": 40, "c": 0}


def test_added_preferences_count_for_every_pod():
    plugin = adding(**{PREFERRED: [{"weight": 4, "preference": in_zone("2")}]})
    assert Asked(plugin, NODES, pod()).pre_score() is Status.SUCCESS
    assert Asked(plugin, NODES, pod()).score() == {"a": 0, "b": 4}
    assert Asked(plugin, NODES, preferred((3, in_zone("2")))).score() == {"a": 0, "b": 7}


FAULT = (
    "[0].matchExpressions[0].values[0]: Invalid value: \"abc\": for 'Gt', 'Lt' operators, the value must be an integer"
)
BAD = {"matchExpressions": [expression("zone", "Gt", "abc")]}


def test_a_preference_that_does_not_parse_is_an_error():
    assert Asked(NodeAffinity(), NODES, preferred((1, BAD))).pre_score() == Status.error(FAULT)


def test_several_faults_are_told_in_brackets():
    faults = Asked(NodeAffinity(), NODES, preferred((1, BAD), (1, BAD))).pre_score()
    assert faults == Status.error(f"[{FAULT}, {FAULT.replace('[0]', '[1]', 1)}]")


def test_the_score_finds_the_fault_itself_where_pre_score_is_switched_off():
    with pytest.raises(RuntimeError) as failed:
        Asked(NodeAffinity(), NODES, preferred((1, BAD))).score()
    assert str(failed.value) == FAULT


# --- hints ---

LABELS = node_event(ActionType.UPDATE_NODE_LABEL)
SELECTING = read_pod(pod(nodeSelector={"zone": "1"}))
IN_1, IN_2 = read(NODES[0]), read(NODES[1])


def test_a_node_that_comes_to_match_helps():
    assert hint(NodeAffinity(), LABELS, SELECTING, IN_2, IN_1) is QueueingHint.QUEUE
    assert hint(NodeAffinity(), LABELS, SELECTING, IN_1, IN_1) is QueueingHint.SKIP
    assert hint(NodeAffinity(), LABELS, SELECTING, IN_1, IN_2) is QueueingHint.SKIP


def test_a_new_node_helps_when_it_matches():
    assert hint(NodeAffinity(), NODE_ADD, SELECTING, None, IN_1) is QueueingHint.QUEUE
    assert hint(NodeAffinity(), NODE_ADD, SELECTING, None, IN_2) is QueueingHint.SKIP


def test_a_node_against_the_added_requirement_never_helps():
    assert hint(adding_zone("1"), NODE_ADD, SELECTING, None, IN_1) is QueueingHint.QUEUE
    assert hint(adding_zone("2"), NODE_ADD, SELECTING, None, IN_1) is QueueingHint.SKIP


def test_only_the_pods_own_terms_are_held_against_the_old_node():
    both = read(node("a", labels={"zone": "1", "added": "yes"}))
    added = {"matchExpressions": [expression("added", "Exists")]}
    plugin = adding(**{REQUIRED: {"nodeSelectorTerms": [added]}})
    assert hint(plugin, LABELS, SELECTING, IN_1, both) is QueueingHint.SKIP


def test_a_term_that_does_not_parse_may_mean_anything():
    assert hint(NodeAffinity(), NODE_ADD, read_pod(required(BAD)), None, IN_1) is QueueingHint.QUEUE
