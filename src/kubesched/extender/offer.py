"""The calls that an extender offers, and the stanza for kube-scheduler's configuration."""

from collections.abc import Iterable
from typing import Final

import msgspec

from kubesched.config import Duration, ExtenderManagedResource
from kubesched.extender.merged_scores import extender_weight
from kubesched.framework import Profile

BINDING_POINTS: Final = ("reserve", "permit", "preBind", "bind", "postBind")
"""Extension points for which an extender offers bind."""


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """The verbs that make sense with the plugins of an extender.

    Attributes:
        filter, prioritize, preempt, bind: whether some plugin takes part.
        weight: the sum of the plugins' score weights.
    """

    filter: bool
    prioritize: bool
    preempt: bool
    bind: bool
    weight: int

    @property
    def verbs(self) -> list[str]:
        """The offered verbs, in the order of a scheduling cycle."""
        return [verb for verb in ("filter", "prioritize", "preempt", "bind") if getattr(self, verb)]

    def stanza(
        self,
        url_prefix: str,
        *,
        node_cache_capable: bool,
        http_timeout: float,
        ignorable: bool = False,
        tls: dict[str, str] | None = None,
        managed_resources: Iterable[ExtenderManagedResource] = (),
    ) -> str:
        """The `extenders:` part of a KubeSchedulerConfiguration v1, as YAML.

        Args:
            url_prefix: where kube-scheduler reaches the extender.
            http_timeout: seconds.
            tls: tlsConfig, for an https URL; values as written in the file.
            managed_resources: kube-scheduler calls the extender only for pods that request one of them, if there are
                some.
        """
        lines = ["extenders:", f"- urlPrefix: {_quoted(url_prefix)}"]
        lines += [f"  {verb}Verb: {verb}" for verb in self.verbs]
        if self.prioritize:
            lines.append(f"  weight: {self.weight}")
        lines.append(f"  nodeCacheCapable: {str(node_cache_capable).lower()}")
        lines.append(f"  httpTimeout: {Duration(http_timeout)!s}")
        if ignorable:
            lines.append("  ignorable: true")
        if tls is not None:
            lines += ["  enableHTTPS: true", "  tlsConfig:"]
            lines += [f"    {key}: {_quoted(value)}" for key, value in tls.items()]
        lines += _managed(tuple(managed_resources))
        return "\n".join(lines) + "\n"


def find_offer(profiles: Iterable[Profile], *, bind: bool = False) -> Offer:
    """What the plugins of some profiles offer together.

    Args:
        bind: offer bind although no plugin takes part in binding.
    """
    profiles = tuple(profiles)
    points = {point for profile in profiles for point, plugins in profile.points.items() if plugins}
    return Offer(
        filter=bool(points & {"preFilter", "filter"}),
        prioritize="score" in points,
        preempt=any(plugin.defines("preempt") for profile in profiles for plugin in profile.plugins),
        bind=bind or bool(points & set(BINDING_POINTS)),
        weight=extender_weight(profiles),
    )


def _managed(resources: tuple[ExtenderManagedResource, ...]) -> list[str]:
    lines = ["  managedResources:"] if resources else []
    for resource in resources:
        lines.append(f"  - name: {_quoted(resource.name)}")
        if resource.ignored_by_scheduler:
            lines.append("    ignoredByScheduler: true")
    return lines


def _quoted(text: str) -> str:
    """A YAML text in double quotes, which JSON's are."""
    return msgspec.json.encode(text).decode()
