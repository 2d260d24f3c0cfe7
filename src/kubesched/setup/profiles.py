"""Builds profiles from a configuration and a registry: plugin instances, and their order at each point."""

from kubesched.config import KubeSchedulerConfiguration, KubeSchedulerProfile, error_of
from kubesched.framework import Profile
from kubesched.release import Release
from kubesched.setup.profile_findings import BuiltProfile, profile_findings
from kubesched.setup.registry import Registry


def build_profiles(
    configuration: KubeSchedulerConfiguration, registry: Registry, *, whole: bool = True
) -> tuple[Profile, ...]:
    """Build the plugins of every profile and put them in order.

    Args:
        configuration: complete and valid, as `load_configuration` gives it.
        whole: whether the profiles are to schedule by themselves, and so need a queue sort plugin, the same one in all,
            and a bind plugin.
    Returns: one Profile for each of the configuration's, in its order.
    Raises:
        ConfigError: the configuration asks for something that its plugins do not give.
        PluginDefinitionError: a plugin of an installed package does not load.
    """
    built: list[BuiltProfile] = []
    for finding in profile_findings(configuration, registry, built, whole=whole):
        raise error_of([finding])
    return tuple(
        _profile(profile, configuration.percentage_of_nodes_to_score, gets, registry.release)
        for profile, gets in zip(configuration.profiles, built, strict=True)
    )


def _profile(written: KubeSchedulerProfile, percentage: int, gets: BuiltProfile, release: Release) -> Profile:
    return Profile(
        written.scheduler_name,
        percentage if written.percentage_of_nodes_to_score is None else written.percentage_of_nodes_to_score,
        {point: tuple(gets.plugins[name] for name in names) for point, names in gets.points.items()},
        gets.weights,
        tuple(gets.plugins.values()),
        release,
    )
