import msgspec
import pytest

from kubesched.errors import InputError
from kubesched.release import Release, feature_gate, gates_of, minors_with, release_of, releases_after


@pytest.mark.parametrize("text", ["1.36", "v1.36", "V1.36", "1.36+", "v1.36.3-eks-1a2b3c", "v1.36.3+k3s1", " 1.36\n"])
def test_the_ways_to_write_a_version(text: str) -> None:
    release, note = release_of(text)
    assert (release.minor, release.recorded, note) == (36, "v1.36.3", "")


@pytest.mark.parametrize(
    ("text", "minor", "note"),
    [
        ("1.20", 33, "kubesched has the rules of v1.33 to v1.37; v1.20 is decided as v1.33"),
        ("v1.40.1", 37, "kubesched has the rules of v1.33 to v1.37; v1.40.1 is decided as v1.37"),
        ("1.3.6", 33, "kubesched has the rules of v1.33 to v1.37; v1.3.6 is decided as v1.33"),
        ("2.0", 37, "kubesched has the rules of v1.33 to v1.37; v2.0 is decided as v1.37"),
        ("1.36.5", 36, "v1.36.5 is decided as v1.36.3"),
        ("1.36.9", 36, "v1.36.9 is decided as v1.36.6"),
        ("1.36.6", 36, ""),
        ("1.37.9", 37, "v1.37.9 is decided as v1.37.2"),
        ("1.36.2", 36, ""),
        (
            "v1.33.2",
            33,
            "v1.33.2 is decided as v1.33.13; only since v1.33.6 host ports of sidecars count (PR 133390)",
        ),
        ("v1.33.6", 33, ""),
        (
            "v1.34.1",
            34,
            "v1.34.1 is decided as v1.34.4; only since v1.34.2 texts do not name an untolerated taint (PR 135023)",
        ),
        ("v1.34.2", 34, ""),
        ("v1.34-gke.1.0", 34, ""),
    ],
)
def test_other_versions_are_decided_as_the_nearest_one(text: str, minor: int, note: str) -> None:
    release, said = release_of(text)
    assert (release.minor, said) == (minor, note)


@pytest.mark.parametrize(
    "text", ["", "36", "latest", "v1", "one.two", "1.x", "v1." + "9" * 5000, "１.３６", "1. 36", "1.36 1.37"]
)
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(
        InputError, match=r"expected a version of Kubernetes, v1\.33 to v1\.37, such as 1\.36 or v1\.36"
    ):
        release_of(text)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.36", "v1.36"),
        ("v1.36.3", "v1.36"),
        ("v1.36.5-gke.1", "v1.36"),
        ("v1.36.6-eks-1a2b3c", "v1.36.6"),
        ("1.36.7", "v1.36.6"),
        ("1.35.9", "v1.35"),
        ("1.35.10", "v1.35.10"),
        ("1.34.13", "v1.34.13"),
        ("1.33.99", "v1.33"),
    ],
)
def test_a_patch_that_corrects_a_rule_is_a_release_of_its_own(text: str, version: str) -> None:
    assert str(release_of(text)[0]) == version


def test_a_patch_keeps_its_gates_and_gates_their_patch() -> None:
    release = Release(36, patch=6).with_gates({"PodLevelResources": False})
    assert str(release) == "v1.36.6 with PodLevelResources=false"
    assert release.bare == Release(36, patch=6) != Release(36)
    assert release.with_gates({"PodLevelResources": True}) == release.bare


def test_the_releases_after_one_begin_with_its_own_patch() -> None:
    assert [*map(str, releases_after(Release(35)))] == ["v1.35.10", "v1.36", "v1.37"]
    assert [*map(str, releases_after(Release(35, patch=10)))] == ["v1.36", "v1.37"]
    assert [*map(str, releases_after(Release(37)))] == []


@pytest.mark.parametrize(
    ("minor", "patch", "expected"),
    [
        (36, 4, r"patch: found 4; expected 0 for the rules of v1\.36\.3, or 6 for those of v1\.36\.6"),
        (37, 6, r"patch: found 6; expected 0 for the rules of v1\.37\.2"),
    ],
)
def test_a_patch_without_rules_of_its_own_is_refused_in_python(minor: int, patch: int, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        Release(minor, patch=patch)


def test_gates_have_the_defaults_of_the_version() -> None:
    assert not Release(33).has("PodLevelResources")
    assert Release(34).has("PodLevelResources")
    assert not Release(36).has("NoSuchGate")


def test_set_gates_count_and_defaults_leave_no_trace() -> None:
    release = Release(36).with_gates({"PodLevelResources": False, "DRAExtendedResource": True})
    assert not release.has("PodLevelResources")
    assert release.gates == (("PodLevelResources", False),)
    assert str(release) == "v1.36 with PodLevelResources=false"
    assert release.with_gates({"PodLevelResources": True}) == Release(36)


def test_a_release_is_a_key() -> None:
    assert hash(Release(36)) == hash(Release())
    assert Release(35) != Release(36)
    with pytest.raises(AttributeError):
        Release().minor = 35  # type: ignore[misc]
    assert msgspec.json.encode(Release(35)) == b'{"minor":35,"gates":[],"patch":0}'


@pytest.mark.parametrize("minor", [99, -1, "36", None, [36], 36.0])
def test_a_version_without_rules_is_refused_in_python(minor: object) -> None:
    with pytest.raises(ValueError, match=r"minor: found .*; expected 33 to 37, such as 36 for v1\.36"):
        Release(minor)  # type: ignore[arg-type]


@pytest.mark.parametrize("gates", [{"PodLevelResources": False}, (("PodLevelResources",),), "Nope", [("A", True)]])
def test_gates_are_pairs(gates: object) -> None:
    with pytest.raises(ValueError, match=r"gates: found .*; expected pairs such as .*, or with_gates and a mapping"):
        Release(36, gates)  # type: ignore[arg-type]


def test_the_table_of_gates() -> None:
    assert [len(gates_of(minor)) for minor in range(33, 38)] == [187, 204, 215, 237, 249]
    known = feature_gate("DRAPrioritizedList", 37)
    assert known is not None
    assert (known.is_on, known.is_locked, known.stage) == (True, True, "g")
    assert feature_gate("NodeDeclaredFeatures", 34) is None
    assert minors_with("GangScheduling") == [35, 36]
    assert minors_with("NoSuchGate") == []
