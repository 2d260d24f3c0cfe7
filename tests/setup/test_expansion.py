from itertools import pairwise

import pytest

from kubesched.config import PluginEntry, Plugins, PluginSet
from kubesched.errors import ConfigError
from kubesched.extender.offer import BINDING_POINTS
from kubesched.framework import HOOKS
from kubesched.setup.expansion import expand_points, point_findings, score_weights
from tests.setup.stand_ins import registry, stand_in

A = stand_in("A", "filter score")
B = stand_in("B", "filter")
C = stand_in("C", "filter score")
KNOWN = registry(A, B, C)


def names(*entries: str | tuple[str, int]) -> tuple[PluginEntry, ...]:
    return tuple(PluginEntry(entry) if isinstance(entry, str) else PluginEntry(*entry) for entry in entries)


def enabled(*entries: str | tuple[str, int]) -> PluginSet:
    return PluginSet(enabled=names(*entries))


def expand(**sets: PluginSet) -> dict[str, tuple[str, ...]]:
    assert not list(point_findings(Plugins(**sets), KNOWN, "profiles[0]"))
    return expand_points(Plugins(**sets), KNOWN)


def error_of(**sets: PluginSet) -> str:
    """What a scheduler says about the first plugin that cannot be where it is."""
    return "\n  ".join(next(point_findings(Plugins(**sets), KNOWN, "profiles[0]")).lines)


def test_multi_point_stands_for_every_point_that_a_plugin_extends():
    expanded = expand(multi_point=enabled("C", "A", "B"))
    assert {point: found for point, found in expanded.items() if found} == {
        "filter": ("C", "A", "B"),
        "score": ("C", "A"),
    }


def test_a_plugin_of_multi_point_that_the_point_names_goes_first_and_a_new_one_last():
    expanded = expand(filter=enabled("NodeName", "C", "B"), multi_point=enabled("A", "B", "C"))
    assert expanded["filter"] == ("C", "B", "A", "NodeName")


def test_disabling_at_a_point_concerns_multi_point_only():
    disabled = PluginSet(enabled=names("A"), disabled=names("A", "B"))
    assert expand(filter=disabled, multi_point=enabled("A", "B", "C"))["filter"] == ("C", "A")


def test_a_star_disables_multi_point_at_the_point():
    starred = PluginSet(enabled=names("B"), disabled=names("*"))
    expanded = expand(filter=starred, multi_point=enabled("A", "B", "C"))
    assert (expanded["filter"], expanded["score"]) == (("B",), ("A", "C"))


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        (
            {"filter": enabled("NodeNam")},
            (
                'FilterPlugin "NodeNam" does not exist\n'
                '  profiles[0].plugins.filter: no plugin has the name "NodeNam"; did you mean "NodeName"? '
                '"kubesched plugin list" prints them; to load your plugin, add --plugin FILE.py:Class, '
                "or in Python plugins=[Class]"
            ),
        ),
        (
            {"multi_point": enabled("Zzz")},
            (
                'PreFilterPlugin "Zzz" does not exist\n  profiles[0].plugins.multiPoint: no plugin has the name "Zzz"; '
                '"kubesched plugin list" prints them; to load your plugin, add --plugin FILE.py:Class, '
                "or in Python plugins=[Class]"
            ),
        ),
        (
            {"score": enabled("B")},
            'plugin "B" does not extend ScorePlugin plugin\n  profiles[0].plugins.score: B extends filter',
        ),
        (
            {"filter": enabled("B", "B")},
            'plugin "B" already registered as "FilterPlugin"\n  profiles[0].plugins.filter: name it once',
        ),
        (
            {"multi_point": enabled("B", "B")},
            'plugin "B" already registered as "FilterPlugin"\n  profiles[0].plugins.multiPoint: name it once',
        ),
    ],
)
def test_a_fault_is_told_in_upstream_words_with_help(sets, message):
    assert error_of(**sets) == message


# The order of points in which upstream looks, found by asking kube-scheduler v1.36.3 about pairs of faults.
ORDER = [
    "pre_filter", "filter", "post_filter", "reserve", "pre_score", "score", "pre_bind", "bind", "post_bind", "permit",
    "pre_enqueue", "queue_sort",
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), list(pairwise(ORDER)))
def test_of_two_faults_the_one_that_upstream_meets_first_is_told(first, second):
    interface = "".join(word.capitalize() for word in first.split("_"))
    assert error_of(**{second: enabled("Zzz"), first: enabled("Zzz")}).startswith(f'{interface}Plugin "Zzz"')


def test_sets_of_points_are_looked_at_before_multi_point():
    assert error_of(multi_point=enabled("Zzz"), queue_sort=enabled("B")).startswith('plugin "B" does not extend')


def test_what_scores_groups_of_pods_upstream_may_be_named():
    assert expand(placement_score=enabled("NodeResourcesFit", "PodGroupPodsCount"))["placementScore"] == ()


def weights(**sets: PluginSet) -> dict[str, int]:
    return score_weights(Plugins(**sets), KNOWN, "p")


def test_the_first_weight_counts_and_none_is_one():
    assert weights(score=enabled("C"), multi_point=enabled(("A", 5), "B", ("C", 9))) == {"C": 1, "A": 5}


def test_two_of_the_largest_weights_are_no_overflow():
    assert weights(score=enabled(("A", 2**31 - 1), ("C", 2**31 - 1)))["C"] == 2**31 - 1


@pytest.mark.parametrize(
    ("sets", "advice"),
    [
        ({"score": enabled(("A", -1), "C")}, "p.score.enabled: A has weight -1"),
        ({"multi_point": enabled(("A", -9), "C")}, "p.multiPoint.enabled: A has weight -9"),
    ],
)
def test_a_negative_sum_fails_at_the_next_plugin_and_names_the_negative_weight(sets, advice):
    with pytest.raises(ConfigError) as raised:
        weights(**sets)
    assert str(raised.value).splitlines() == [
        "score plugins: total score of Score plugins could overflow",
        f"  {advice}; give a weight of 1 or more",
    ]


def test_a_negative_weight_at_the_end_is_accepted():
    assert weights(score=enabled(("A", -1))) == {"A": -1}


def test_the_framework_the_configuration_and_the_expansion_have_the_same_extension_points():
    placements = {
        "placementGenerate",
        "placementScore",
        "podGroupPostFilter",
    }  # configurations may name them, nothing calls them
    expanded = expand_points(Plugins(), KNOWN)
    assert expanded.keys() == Plugins().by_point().keys() - {"multiPoint"}
    assert expanded.keys() == HOOKS.keys() | placements
    assert set(BINDING_POINTS) < HOOKS.keys()
