"""A setup as plain values that can be compared with those of another one."""

from typing import Any, Final

from kubesched.config import effective
from kubesched.framework import Profile
from kubesched.setup.setup import Setup

_UNORDERED: Final = ("preScore", "score")


def comparable(setup: Setup) -> dict[str, Any]:
    """The effective configuration, with the plugins as they run: a list in the order of the calls at each point, and in
    `multiPoint` those that only strike nodes from preemption plans.

    Two configurations that enable the same plugins in different ways, such as at `multiPoint` and one by one, are
    equal. The plugins of preScore and score are sorted: their order does not count. Arguments have no apiVersion and
    kind.

    Example:
        profile = comparable(set_up())["profiles"][0]
        assert profile["plugins"]["score"][-1] == {"name": "VolumeBinding", "weight": 1}
    """
    document: dict[str, Any] = {"extenders": [], **effective(setup.configuration, setup.release)}
    for plain, profile in zip(document["profiles"], setup.profiles, strict=True):
        plain["plugins"] = _plugins(profile)
        plain["pluginConfig"] = [_own_fields(entry) for entry in plain.get("pluginConfig", ())]
    return document


def _own_fields(entry: dict[str, Any]) -> dict[str, Any]:
    args = entry["args"]
    fields = {key: args[key] for key in args if key not in ("apiVersion", "kind")} if isinstance(args, dict) else args
    return {"name": entry["name"], "args": fields}


def _plugins(profile: Profile) -> dict[str, list[dict[str, Any]]]:
    points = {point: [plugin.name for plugin in plugins] for point, plugins in profile.points.items()}
    called = {name for names in points.values() for name in names}
    for point in _UNORDERED:
        points[point].sort()
    points["multiPoint"] = [one.name for one in profile.plugins if one.name not in called and one.defines("preempt")]
    return {point: [_entry(name, point, profile) for name in names] for point, names in points.items()}


def _entry(name: str, point: str, profile: Profile) -> dict[str, Any]:
    return {"name": name, "weight": profile.weights[name]} if point == "score" else {"name": name}
