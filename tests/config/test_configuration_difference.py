import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.config import ChangeKind, differences, differences_from_defaults

NAMES = st.sampled_from(["A", "B", "C", "D", "E"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "two words"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.lists(st.fixed_dictionaries({"name": NAMES}, optional={"weight": VALUES}), max_size=5)
PROFILE = st.fixed_dictionaries(
    {
        "schedulerName": st.sampled_from(["default-scheduler", "other"]),
        "plugins": st.fixed_dictionaries({}, optional={"filter": ENTRIES, "score": ENTRIES}),
        "pluginConfig": ENTRIES,
    }
)
DOCUMENTS = st.fixed_dictionaries(
    {"profiles": st.lists(PROFILE, min_size=1, max_size=2)}, optional={"extenders": VALUES, "parallelism": VALUES}
)


def document(*, name: str = "default-scheduler", points: dict | None = None, **fields) -> dict:
    plugins = {point: [{"name": one} for one in names] for point, names in (points or {}).items()}
    return {"profiles": [{"schedulerName": name, "plugins": plugins, "pluginConfig": []}], **fields}


def lines(old: dict, new: dict) -> list[str]:
    return [str(change) for change in differences(old, new)]


@given(DOCUMENTS)
def test_a_document_does_not_differ_from_itself(one):
    assert differences(one, copy.deepcopy(one)) == ()


@given(DOCUMENTS, DOCUMENTS)
def test_there_is_a_difference_if_and_only_if_the_documents_are_not_equal(one, other):
    assert (differences(one, other) == ()) == (one == other)


@given(DOCUMENTS, DOCUMENTS)
def test_both_directions_have_as_many_differences_and_each_place_and_kind_comes_once(one, other):
    there, back = differences(one, other), differences(other, one)
    assert len(there) == len(back)
    assert len({(change.path, change.kind) for change in there}) == len(there)


def test_fields_are_compared_one_by_one():
    old = document(leaderElection={"resourceName": "a", "leaderElect": True}, parallelism=16)
    new = document(leaderElection={"resourceName": "b c", "leaderElect": False}, podMaxBackoffSeconds=3)
    assert lines(old, new) == [
        'leaderElection.resourceName: a -> "b c"',
        "leaderElection.leaderElect: true -> false",
        "parallelism: removed 16",
        "podMaxBackoffSeconds: added 3",
    ]


def test_plugins_are_enabled_disabled_and_moved_at_each_point():
    old = document(points={"filter": ["A", "B", "C", "D"], "score": ["A", "B"]})
    new = document(points={"filter": ["D", "A", "C", "X"], "score": ["A", "B"]})
    old["profiles"][0]["plugins"]["score"][1]["weight"] = 1
    new["profiles"][0]["plugins"]["score"][1]["weight"] = 5
    new["profiles"][0]["plugins"]["filter"][3]["weight"] = 2
    where = "profiles[default-scheduler].plugins"
    assert lines(old, new) == [
        f"{where}.filter.B: disabled",
        f"{where}.filter.D: moved to the front",
        f"{where}.filter.X: enabled (weight 2)",
        f"{where}.score.B.weight: 1 -> 5",
    ]


def test_as_few_plugins_as_possible_have_moved():
    moved = differences(document(points={"filter": list("ABCDEF")}), document(points={"filter": list("FABDCE")}))
    assert [(change.kind, change.path[-1:], change.old, change.new) for change in moved] == [
        (ChangeKind.MOVED, "D", "C", "B"),
        (ChangeKind.MOVED, "F", "E", None),
    ]


def test_arguments_and_extenders_are_compared_by_name():
    old = document(extenders=[{"urlPrefix": "http://a/", "weight": 1}, {"urlPrefix": "http://b/"}])
    new = document(extenders=[{"urlPrefix": "http://c/", "weight": 3}, {"urlPrefix": "http://a/", "weight": 2}])
    old["profiles"][0]["pluginConfig"] = [{"name": "Fit", "args": {"by": {"type": "Least", "resources": ["cpu"]}}}]
    new["profiles"][0]["pluginConfig"] = [{"name": "Fit", "args": {"by": {"type": "Most", "resources": []}}}]
    args = "profiles[default-scheduler].pluginConfig[Fit].args.by"
    assert lines(old, new) == [
        f"{args}.type: Least -> Most",
        f'{args}.resources: ["cpu"] -> []',
        "extenders[http://a/].weight: 1 -> 2",
        "extenders[http://b/]: removed",
        'extenders[http://c/]: added {"weight":3}',
    ]


def test_single_profiles_are_compared_whatever_their_names_are():
    old, new = document(points={"filter": ["A"]}), document(name="mine", points={"filter": []})
    assert lines(old, new) == [
        "profiles[mine].schedulerName: default-scheduler -> mine",
        "profiles[mine].plugins.filter.A: disabled",
    ]


def test_several_profiles_are_compared_by_name():
    both = document(points={"filter": ["A"]})
    both["profiles"].append(document(name="b", points={"filter": ["A"]})["profiles"][0])
    (added,) = differences(document(points={"filter": ["A"]}), both)
    assert (added.path, added.kind, added.new) == ("profiles[b]", ChangeKind.ADDED, both["profiles"][1])


def test_a_line_of_text_has_no_more_of_a_value_than_a_reader_takes_in():
    both = document()
    both["profiles"].append(document(name="b", points={"filter": [f"Plugin{i}" for i in range(20)]})["profiles"][0])
    assert lines(document(), both) == ["profiles[b]: added"]


@pytest.mark.parametrize("default", [True, False])
def test_every_profile_is_compared_with_the_default_one(default):
    defaults = document(points={"filter": ["A", "B"]}, parallelism=16)
    mine = document(name="default-scheduler" if default else "c", points={"filter": ["A", "B"]}, parallelism=16)
    mine["profiles"].append(document(name="b", points={"filter": ["A"]})["profiles"][0])
    changed = [str(change) for change in differences_from_defaults(defaults, mine)]
    named = [] if default else ["profiles[c]: added"]
    gone = [] if default else ["profiles[default-scheduler]: removed"]
    assert changed == [*named, "profiles[b]: added", *gone, "profiles[b].plugins.filter.B: disabled"]


def test_the_defaults_do_not_differ_from_themselves():
    assert differences_from_defaults(document(parallelism=16), document(parallelism=16)) == ()
