from itertools import pairwise

import pytest

from kubesched.release import KEPS, Release, changed_rules, minors_with

RELEASES = [Release(minor) for minor in range(33, 38)]


def subjects(a: Release, b: Release) -> list[str]:
    return [rule.subject for rule, _ in changed_rules(a, b)]


def test_each_proposal_is_that_of_a_gate() -> None:
    assert all(minors_with(gate) for gate in KEPS)


@pytest.mark.parametrize(("a", "b"), list(pairwise(RELEASES)))
def test_what_differs_is_the_same_in_both_directions(a: Release, b: Release) -> None:
    assert list(changed_rules(a, b)) == list(changed_rules(b, a))
    assert list(changed_rules(a, a)) == []


def test_a_rule_of_a_gate_differs_with_the_gate() -> None:
    gated = Release(36).with_gates({"VolumeLimitScaling": True})
    assert subjects(Release(36), gated) == ["NodeVolumeLimits"]
    assert "NodeVolumeLimits" not in subjects(gated, Release(37))


def test_a_patch_that_corrects_a_rule_differs_in_that_rule_alone() -> None:
    ((rule, source),) = changed_rules(Release(36), Release(36, patch=6))
    assert (rule.subject, source) == ("InterPodAffinity", "PR 141563")
    assert subjects(Release(36, patch=6), Release(37)) == [
        subject for subject in subjects(Release(36), Release(37)) if subject != "InterPodAffinity"
    ]
    assert "InterPodAffinity" not in subjects(Release(33), Release(36, patch=6))


def test_a_rule_that_changed_twice_has_both_sources() -> None:
    sources = {rule.subject: source for rule, source in changed_rules(Release(33), Release(37))}
    assert sources["ImageLocality"] == "PR 130231, PR 138951"
    assert sources["NodeResourcesBalancedAllocation"] == "PR 135573"
