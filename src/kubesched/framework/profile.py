"""The plugins of one profile, in order: `setup` builds it from a configuration, and a Framework runs it."""

from collections.abc import Mapping

import msgspec

from kubesched.framework.plugin import Plugin
from kubesched.release import DEFAULT_RELEASE, Release


class Profile(msgspec.Struct, eq=False):
    """The plugins that serve one scheduler name.

    Attributes:
        scheduler_name: pods ask for it in spec.schedulerName.
        percentage_of_nodes_to_score: the profile's own value, else that of the configuration.
        points: extension point, as configurations spell it -> instances in the order in which they are called.
        weights: score plugin -> its weight.
        plugins: every instance once, in the order of the registry.
        release: the version of Kubernetes whose rules they have.
        started: the plugins that were started and not stopped yet, in the order of their start.

    Example:
        (profile,) = set_up("scheduler.yaml").profiles
        assert profile.weights["TaintToleration"] == 3
    """

    scheduler_name: str
    percentage_of_nodes_to_score: int
    points: Mapping[str, tuple[Plugin, ...]]
    weights: Mapping[str, int]
    plugins: tuple[Plugin, ...]
    release: Release = DEFAULT_RELEASE
    started: tuple[Plugin, ...] = ()

    @property
    def is_running(self) -> bool:
        """Whether a plugin was started and not stopped yet: plugins serve one cluster at a time."""
        return bool(self.started)

    def only(self, name: str) -> "Profile":
        """The same profile with one of its plugins, at the points where it runs here."""
        return Profile(
            self.scheduler_name,
            self.percentage_of_nodes_to_score,
            {point: tuple(one for one in plugins if one.name == name) for point, plugins in self.points.items()},
            {key: weight for key, weight in self.weights.items() if key == name},
            tuple(one for one in self.plugins if one.name == name),
            self.release,
        )
