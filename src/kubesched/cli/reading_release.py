"""The version that --kubernetes-version names, where no cluster says which one decides."""

from typing import TYPE_CHECKING

from kubesched.cli.cluster import note
from kubesched.cli.inputs import SetupOptions
from kubesched.cli.release_options import release_for

if TYPE_CHECKING:
    from kubesched.release import Release
    from kubesched.setup import Setup


def reading_release(version: str | None, feature_gates: tuple[str, ...]) -> "Release":
    """The version that reads a configuration, with a note on standard error where it is not the one that is meant.

    Raises:
        InputError, ConfigError: as from `release_for`.
    """
    release, about_it = release_for(None, SetupOptions(feature_gates=feature_gates), version)
    if about_it:
        note(about_it)
    return release


def set_up_beside(options: SetupOptions) -> "Setup":
    """What decides where kube-scheduler runs the default plugins itself.

    Raises:
        InputError, ConfigError, PluginDefinitionError: as from `set_up`.
    """
    from kubesched.setup import set_up

    release = reading_release(options.kubernetes_version, options.feature_gates)
    given = (options.config, options.references, options.plugin_args)
    return set_up(*given, default_plugins=False, skipped=options.skipped, release=release)
