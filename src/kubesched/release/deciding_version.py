"""The version of Kubernetes that decided, and where it comes from, as reports print it."""

from enum import StrEnum
from typing import Final

import msgspec

from kubesched.errors import InputError
from kubesched.release.release import DEFAULT_RELEASE, Release, numbers_of, release_of


class VersionSource(StrEnum):
    """What the version of a cluster was found by."""

    SERVER = "server"
    KUBELETS = "kubelets"
    DEFAULT = "default"


_FOUND_BY: Final = {
    VersionSource.SERVER: "the version of the API server",
    VersionSource.KUBELETS: "the highest kubelet version of the nodes",
}


class DecidingVersion(msgspec.Struct, frozen=True):
    """The version of Kubernetes whose rules decide, beside the one that the cluster has.

    Attributes:
        release: its rules.
        source: what the version of the cluster was found by; `default` where it is not known.
        text: that version as the cluster has it, such as `v1.36.3-eks-1a2b3c`.
        reported: what the API server reports, where that is not a version and the kubelets have one.

    Example:
        version = DecidingVersion(Release(35), VersionSource.SERVER, "v1.35.4")
        assert version.words == "decided as kube-scheduler v1.35, the version of the API server"
    """

    release: Release = DEFAULT_RELEASE
    source: VersionSource = VersionSource.DEFAULT
    text: str = ""
    reported: str = ""

    @property
    def words(self) -> str:
        """Which version decided, and why this one."""
        decided = f"decided as kube-scheduler {self.release}"
        if self.source is VersionSource.DEFAULT:
            return f"{decided}; the version of the cluster is not known"
        found_by = _FOUND_BY[self.source]
        found_by += f" (the API server reports the version {self.reported[:60]!r})" if self.reported else ""
        if numbers_of(self.text) is None:
            return f"{decided}; {found_by} is {self.text[:60]!r}"
        if release_of(self.text)[0] != self.release.bare:
            return f"{decided}; {found_by} is {self.text}"
        return f"{decided}; {found_by} is {self.text}: {self.note}" if self.note else f"{decided}, {found_by}"

    @property
    def note(self) -> str:
        """Why the version of the cluster is decided as another one, or without what a patch changes; else empty."""
        try:
            return release_of(self.text)[1] if self.text else ""
        except InputError:
            return f"the API server reports the version {self.text[:60]!r}; decided as {DEFAULT_RELEASE}"


class ReadingVersion(DecidingVersion, frozen=True):
    """The version of kube-scheduler that reads a configuration, where nothing is decided."""

    @property
    def words(self) -> str:
        """Which version it is."""
        return f"read as kube-scheduler {self.release}"


DEFAULT_VERSION: Final = DecidingVersion()
"""What decides where nothing says which version the cluster has."""
