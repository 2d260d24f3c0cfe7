"""Joins plugins that score resources by themselves with NodeResourcesFit, which has one scoring strategy.

The one with the highest weight stays, with its weight; of equal weights, NodeResourcesFit.
"""

from typing import Any, Final

from kubesched.legacy.conversion import Document, Notice, Use
from kubesched.legacy.dialects.raw_sets import (
    args_of,
    change_args,
    enable,
    entry_at,
    listed,
    remove,
    uses_of,
    weight_at,
)
from kubesched.legacy.dialects.replaced import STRATEGIES

_FIT: Final = "NodeResourcesFit"
_RATIO: Final = "RequestedToCapacityRatio"
_DEFAULT: Final = "LeastAllocated"
_TYPES: Final = {**STRATEGIES, _RATIO: _RATIO}
_EFFECTS: Final = {"LeastAllocated": "spreads pods", "MostAllocated": "packs pods", _RATIO: "scores by its shape"}

STRATEGY_PLUGINS: Final = tuple(_TYPES)
"""The score plugins that became strategies of NodeResourcesFit."""


def join_strategies(profile: Document, where: str, known: tuple[Use, ...]) -> list[Notice]:
    """Make one strategy of NodeResourcesFit of those that score in a profile, and remove the plugins.

    Args:
        profile: of v1; changed in place.
        known: the priorities that the profile comes from.
    Returns: a notice for each plugin, and for the strategy of NodeResourcesFit if it does not stay.
    """
    sets = profile["plugins"]
    own = args_of(profile, _FIT).get("scoringStrategy") or {"type": _DEFAULT}
    weight = weight_at(sets, "score", _FIT)
    uses = [use for plugin in _TYPES for use in uses_of(profile, plugin, known)]
    strategies = {use.plugin: _strategy(use.plugin, args_of(profile, use.plugin), own) for use in uses}
    strongest = max(uses, key=lambda use: use.weight, default=None)
    chosen = own
    if strongest is not None and strongest.weight > weight:
        chosen = strategies[strongest.plugin]
        _score(profile, strongest)
    stays = max(weight, strongest.weight if strongest else 0)
    instead = f"NodeResourcesFit has one strategy, {_shown(chosen, stays)}"
    notices = [
        Notice(_joined(use, chosen), where)
        if strategies[use.plugin] == chosen
        else Notice(f"no equivalent: {use}; {instead}", where, is_loss=True)
        for use in uses
    ]
    if weight and own != chosen:
        named = next((use for use in known if _TYPES.get(use.plugin) == own.get("type", _DEFAULT)), None)
        lost = named or f"{own.get('type', _DEFAULT)} of NodeResourcesFit (weight {weight})"
        notices.append(Notice(f"no equivalent: {lost}; {instead}", where, is_loss=True))
    for plugin in _TYPES:
        remove(sets, plugin)
    if own != chosen:
        change_args(profile, _FIT, scoringStrategy=chosen)
    return notices


def _strategy(plugin: str, args: Document, own: Document) -> dict[str, Any]:
    """The strategy that does what the plugin did.

    Args:
        own: the strategy of NodeResourcesFit; it has the resources if it is of the same type and the plugin has none.
    """
    strategy: dict[str, Any] = {"type": _TYPES[plugin]}
    if plugin == _RATIO:
        strategy["requestedToCapacityRatio"] = {"shape": args.get("shape", [])}
    if args.get("resources"):
        strategy["resources"] = args["resources"]
    is_part = all(own.get(field, _DEFAULT) == value for field, value in strategy.items())
    return own if is_part else strategy


def _score(profile: Document, use: Use) -> None:
    """Let NodeResourcesFit score with the weight of a plugin, in its place."""
    sets = profile["plugins"]
    if not entry_at(sets, "score", _FIT) and entry_at(sets, "score", use.plugin):
        entries = [{**one, "name": _FIT} if one.get("name") == use.plugin else one for one in listed(sets, "score")]
        sets["score"] = {**sets["score"], "enabled": entries}
    enable(sets, "score", _FIT, use.weight)
    if not weight_at(sets, "preScore", _FIT):
        enable(sets, "preScore", _FIT)


def _joined(use: Use, chosen: Document) -> str:
    text = f"{use} is NodeResourcesFit now, with the strategy {chosen['type']}"
    return f"{text}; the utilization is rounded down, no longer up" if use.plugin == _RATIO else text


def _shown(strategy: Document, weight: int) -> str:
    kind = strategy.get("type", _DEFAULT)
    return f"{kind}, which {_EFFECTS.get(kind, 'scores')}, weight {weight}"
