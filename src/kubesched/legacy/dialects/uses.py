"""Finds what asks for a legacy plugin: predicates and priorities of a Policy, or the plugin sets of a profile."""

from typing import Final

from kubesched.legacy.conversion import Document, Use
from kubesched.legacy.dialects.raw_sets import args_of, weight_at

_FIELDS: Final = {
    ("NodeLabel", "filter"): ("presentLabels", "absentLabels"),
    ("NodeLabel", "score"): ("presentLabelsPreference", "absentLabelsPreference"),
    ("ServiceAffinity", "filter"): ("affinityLabels",),
    ("ServiceAffinity", "score"): ("antiAffinityLabelsPreference",),
}
"""Without one of these arguments, the plugin rejects no node, or gives each the same score."""


def uses_of(profile: Document, plugin: str, known: tuple[Use, ...]) -> list[Use]:
    """What asks for a plugin of a v1 profile and gets something from it.

    Args:
        known: the predicates and priorities that the profile comes from.
    """
    sets, args = profile["plugins"], args_of(profile, plugin)
    uses = []
    for point in ("filter", "score"):
        fields = _FIELDS.get((plugin, point), ())
        enabled = weight_at(sets, point, plugin) if fields or point == "score" else 0
        weight = enabled if point == "score" else 0
        named = [use for use in known if (use.plugin, use.point) == (plugin, point)]
        if sum(use.weight for use in named) != weight:  # a v1alpha1 file enables plugins beside those of its Policy
            named = []
        asking = named or [Use(plugin, point, "", weight, args)]
        uses += [use for use in asking if enabled and (not fields or any(use.args.get(field) for field in fields))]
    return uses
