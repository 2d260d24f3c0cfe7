"""--kubernetes-version and --feature-gates: whose rules decide."""

from typing import TYPE_CHECKING, Final

import click

from kubesched.cli.parameters import Decorator, not_empty, option_group
from kubesched.release import DEFAULT_NUMBER, KNOWN_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubesched.api import KubeObject
    from kubesched.cli.inputs import SetupOptions
    from kubesched.release import Release
    from kubesched.snapshot import ClusterObjects

feature_gates_option: Final = click.option(
    "--feature-gates",
    metavar="NAME=BOOL,...",
    multiple=True,
    help="kube-scheduler's feature gates, as its own option takes them. Repeatable.",
)


def _version_options(help: str) -> Decorator:
    """Both."""
    version = click.option("--kubernetes-version", metavar="VERSION", callback=not_empty, help=help)
    return option_group(version, feature_gates_option)


version_options: Final = _version_options(
    f"Decide as this version of Kubernetes does, {KNOWN_NUMBERS}.  "
    "[default: that of the API server, else of the kubelets]"
)
"""Both, where a cluster is there."""

reader_version_options: Final = _version_options(
    f"Read FILE as this version of kube-scheduler does, {KNOWN_NUMBERS}.  [default: {DEFAULT_NUMBER}]"
)
"""Both, where configurations are read and nothing is decided."""

beside_version_options: Final = _version_options(
    f"Decide as this version of Kubernetes does, {KNOWN_NUMBERS}: that of the kube-scheduler that calls the extender.  "
    f"[default: {DEFAULT_NUMBER}]"
)
"""Both, for an extender."""


def named_release(options: "SetupOptions") -> "Release | None":
    """The version that --kubernetes-version names, with the gates of --feature-gates; None where it names none.

    Raises:
        InputError, ConfigError: as from `release_for`.
    """
    from kubesched.config import read_feature_gates

    if not options.kubernetes_version:
        return None
    release, _ = _read(options.kubernetes_version)
    return release.with_gates(read_feature_gates(options.feature_gates, release))


def _read(named: str) -> "tuple[Release, str]":
    """The version, and what is to be said about it."""
    from kubesched.errors import InputError
    from kubesched.release import release_of

    try:
        return release_of(named)
    except InputError as error:
        raise InputError(f"--kubernetes-version: {error}") from None


def release_for(
    cluster: "ClusterObjects | None", options: "SetupOptions", asked: str | None, *, names_unread: bool = True
) -> "tuple[Release, str]":
    """The version that decides, with the gates of --feature-gates, and a note on what it does not do as one may think.

    Args:
        cluster: its version decides where none is asked for; None for the default version.
        asked: what --kubernetes-version says, if anything.
        names_unread: whether the note names the fields of the cluster that the version does not read.
    Raises:
        InputError: the text is not a version.
        ConfigError: --feature-gates has something that the version does not take.
    """
    from kubesched.config import read_feature_gates
    from kubesched.snapshot import version_of

    if asked is None:
        version = version_of(() if cluster is None else cluster)  # one without objects has a version, too
        release, about_it = version.release, ""
    else:
        release, about_it = _read(asked)
    release = release.with_gates(read_feature_gates(options.feature_gates, release))
    ignored = unread_words(release, cluster or ()) if names_unread else ""
    inexact = _inexact_words(release, cluster or ())
    return release, "; ".join(text for text in (about_it, ignored, inexact) if text)


def unread_words(release: "Release", objects: "Iterable[KubeObject]") -> str:
    """Which fields of some objects the version does not read; empty for none."""
    from kubesched.api import ignored_fields
    from kubesched.documents import count, listed

    words = {"Pod": "pod"}
    parts = [
        f"{field.spelled} of "
        f"{count(n, words.get(field.kind.__name__, field.kind.__name__))} (feature gate {field.gate})"
        for field, n in ignored_fields(release, objects).items()
    ]
    return f"{release} does not read {listed(parts)}" if parts else ""


def _inexact_words(release: "Release", objects: "Iterable[KubeObject]") -> str:
    """What of the cluster is not decided as the version does, as far as that is known.

    Rule: kube-scheduler before v1.36 takes any device that will do.
    """
    from kubesched.api import ResourceSlice

    takes_any = release.before(36) and release.has("DynamicResourceAllocation")
    if not takes_any or not any(isinstance(one, ResourceSlice) for one in objects):
        return ""
    return (
        f"{release} takes a random one of the devices that do, so claims may get others than here; the nodes that fit "
        "are those of this version, except for requests for all devices among alternatives"
    )
