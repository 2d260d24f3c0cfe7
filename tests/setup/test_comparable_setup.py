import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.config import DEFAULT_PLUGINS, differences
from kubesched.setup import comparable, set_up
from tests.trials import examples

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
SCORING = ("NodeResourcesFit", "ImageLocality", "TaintToleration")
ENABLED = st.lists(st.tuples(st.sampled_from(SCORING), st.integers(0, 3)), max_size=2, unique_by=lambda one: one[0])


def document(text: str) -> dict:
    return comparable(set_up((V1 + text).encode()))


def profile(point: str, enabled: list[tuple[str, int]]) -> str:
    entries = ", ".join(f"{{name: {name}, weight: {weight}}}" for name, weight in enabled)
    return f"profiles: [{{plugins: {{{point}: {{enabled: [{entries}]}}}}}}]"


def test_plugins_that_are_enabled_one_by_one_equal_those_of_multi_point():
    names = DEFAULT_PLUGINS.multi_point.enabled
    entries = ", ".join(f"{{name: {entry.name}, weight: {entry.weight}}}" for entry in names)
    text = f"profiles: [{{plugins: {{multiPoint: {{enabled: [{entries}], disabled: [{{name: '*'}}]}}}}}}]"
    assert document(text) == document("")


def test_the_order_of_score_plugins_does_not_count():
    reordered = document(profile("score", [("ImageLocality", 1), ("TaintToleration", 3)]))
    assert reordered == document("")


def test_an_extender_and_a_profile_without_arguments_have_lists_to_compare():
    plain = document("profiles: [{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}]},"
                     " bind: {enabled: [{name: DefaultBinder}]}}}]")  # fmt: skip
    assert (plain["extenders"], plain["profiles"][0]["pluginConfig"]) == ([], [])


@examples(25)
@given(st.sampled_from(["score", "multiPoint"]), ENABLED, st.sampled_from(["score", "multiPoint"]), ENABLED)
def test_there_is_no_difference_if_and_only_if_the_same_plugins_run(point, enabled, other_point, others):
    one, other = document(profile(point, enabled)), document(profile(other_point, others))
    assert (differences(one, other) == ()) == (one == other)


@pytest.mark.parametrize("name", ["NodeAffinity", "NodeResourcesFit"])
def test_arguments_are_compared_without_their_version(name):
    args = f"profiles: [{{pluginConfig: [{{name: {name}}}]}}]"
    assert {"apiVersion", "kind"}.isdisjoint(document(args)["profiles"][0]["pluginConfig"][0]["args"])
