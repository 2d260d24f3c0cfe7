"""Which version of Kubernetes decides, and with which feature gates.

A rule that differs between versions asks the release that its plugin or its cluster state was built for; the variants
are next to each other, with their `Rule:` line. Fields that a version ignores are taken off where objects come in.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from kubesched.errors import InputError
from kubesched.release.feature_gate_table import feature_gate
from kubesched.release.known_versions import CORRECTED, DEFAULT_MINOR, EARLIER, KNOWN, RECORDED

_FIRST, _LAST = min(RECORDED), max(RECORDED)
_VERSION: Final = re.compile(r"[vV]?([0-9]{1,4})\.([0-9]{1,4})\+?(?:\.([0-9]{1,9}))?(?:[-+].*)?", re.DOTALL)


def _has_rules(minor: object) -> bool:
    return isinstance(minor, int) and minor in RECORDED


def _are_pairs(gates: object) -> bool:
    return isinstance(gates, tuple) and all(
        isinstance(one, tuple) and [*map(type, one)] == [str, bool] for one in gates
    )


class Release(msgspec.Struct, frozen=True):
    """A version of Kubernetes with its feature gates.

    Attributes:
        minor: 36 for v1.36; one of those in KNOWN.
        gates: those that are not at the default of the version, by name; `with_gates` takes a mapping.
        patch: the one in CORRECTED, if a rule is as since that patch; 0 for the rules of the recorded patch.

    Raises:
        ValueError: kubesched does not have the rules of the version or of the patch, or `gates` are no pairs. Whether
            the version takes the gates is asked where something is built for it.

    Example:
        assert Release(35).before(36) and not Release(35).has("NodeDeclaredFeatures")
    """

    minor: int = DEFAULT_MINOR
    gates: tuple[tuple[str, bool], ...] = ()
    patch: int = 0

    def __post_init__(self) -> None:
        if not _has_rules(self.minor):
            expected = f"{_FIRST} to {_LAST}, such as {DEFAULT_MINOR} for v1.{DEFAULT_MINOR}"
            raise ValueError(f"minor: found {self.minor!r:.60}; expected {expected}")
        if self.gates and not _are_pairs(self.gates):
            example = '(("PodLevelResources", False),)'
            raise ValueError(
                f"gates: found {self.gates!r:.60}; expected pairs such as {example}, or with_gates and a mapping"
            )
        if self.patch and self.patch != CORRECTED.get(self.minor):
            raise ValueError(f"patch: found {self.patch!r:.60}; expected {self._expected_patch}")

    @property
    def _expected_patch(self) -> str:
        recorded = f"0 for the rules of {self.recorded}"
        first = CORRECTED.get(self.minor)
        return f"{recorded}, or {first} for those of v1.{self.minor}.{first}" if first else recorded

    def has(self, name: str) -> bool:
        """Whether a feature gate is on."""
        for known, is_on in self.gates:
            if known == name:
                return is_on
        found = feature_gate(name, self.minor)
        return found is not None and found.is_on

    def before(self, minor: int) -> bool:
        """Whether the version is older than v1.`minor`."""
        return self.minor < minor

    def with_gates(self, gates: Mapping[str, bool]) -> "Release":
        """The release with these gates set; those that have the default of the version leave no trace."""
        bare = self.bare
        changed = {name: is_on for name, is_on in (dict(self.gates) | dict(gates)).items() if bare.has(name) != is_on}
        return msgspec.structs.replace(bare, gates=tuple(sorted(changed.items())))

    @property
    def bare(self) -> "Release":
        """The same with the default gates of the version."""
        return msgspec.structs.replace(self, gates=())

    @property
    def recorded(self) -> str:
        """The version that its rules were recorded from, such as `v1.36.3`."""
        return f"v1.{self.minor}.{RECORDED[self.minor]}"

    @property
    def version(self) -> str:
        """Its name without gates, such as `v1.36`, or `v1.36.6` where a rule is as since that patch."""
        return f"v1.{self.minor}" + (f".{self.patch}" if self.patch else "")

    def __str__(self) -> str:
        gates = ",".join(f"{name}={str(is_on).lower()}" for name, is_on in self.gates)
        return self.version + (f" with {gates}" if gates else "")


RELEASES: Final = tuple(map(Release, RECORDED))
"""Every version whose rules kubesched has, the oldest first, as its patch was recorded."""

DEFAULT_RELEASE: Final = Release()
"""What decides where nothing says which version the cluster has."""


def release_of(text: str) -> tuple[Release, str]:
    """The release of a version as people and API servers write it: `1.36`, `v1.36.3`, `1.36+`, `v1.36.3-eks-1a2b3c`.

    Returns: the release, the nearest one where kubesched does not have the rules of the version, and a sentence about
        that; empty where nothing is to be said.
    Raises:
        InputError: the text is not a version of Kubernetes.
    """
    match, numbers = _VERSION.fullmatch(text.strip()), numbers_of(text)
    if match is None or numbers is None:
        raise InputError(f"found {text[:60]!r}; expected a version of Kubernetes, {KNOWN}, such as 1.36 or v1.36.3")
    major, minor, patch = numbers
    known = min(max(minor, _FIRST), _LAST) if major == 1 else (_LAST if major > 1 else _FIRST)
    has_patch = match[3] is not None
    if (major, minor) != (1, known):
        asked = f"v{major}.{minor}" + (f".{patch}" if has_patch else "")
        return Release(known), f"kubesched has the rules of {KNOWN}; {asked} is decided as v1.{known}"
    return _of_patch(known, patch) if has_patch else (Release(known), "")


def _of_patch(minor: int, patch: int) -> tuple[Release, str]:
    """The release of a patch, and what is to be said about it."""
    first = CORRECTED.get(minor, patch + 1)
    release = Release(minor, patch=first) if patch >= first else Release(minor)
    had = first if release.patch else RECORDED[minor]
    decided = f"v1.{minor}.{patch} is decided as v1.{minor}.{had}"
    since, what = EARLIER.get(minor, (0, ""))
    if patch < since:
        return release, f"{decided}; only since v1.{minor}.{since} {what}"
    return release, decided if patch > had else ""


def releases_after(release: Release) -> Iterator[Release]:
    """Every later one whose rules kubesched has, the nearest first: also a patch of the same version."""
    if release.minor in CORRECTED and not release.patch:
        yield Release(release.minor, patch=CORRECTED[release.minor])
    yield from (one for one in RELEASES if release.before(one.minor))


def numbers_of(text: str) -> tuple[int, int, int] | None:
    """The numbers in a version, with 0 for a patch that it does not have; None where the text is not one."""
    match = _VERSION.fullmatch(text.strip())
    return None if match is None else (int(match[1]), int(match[2]), int(match[3] or 0))
