"""Advice on the arguments of plugins."""

from collections.abc import Iterator

from kubesched.config import ARGS_PLUGINS, DEFAULT_PLUGINS, Finding, dig, written_entries
from kubesched.review.plugin_successors import what_is_meant
from kubesched.review.reviewed import Review, ReviewedProfile


def argument_advice(review: Review) -> Iterator[Finding]:
    """Find arguments without effect, and arguments that few people intend."""
    for profile in review.profiles:
        yield from _unused_args(profile, review)
        yield from _flat_shape(profile)
        yield from _hard_constraints(profile)


def _unused_args(profile: ReviewedProfile, review: Review) -> Iterator[Finding]:
    enabled = {name for names in profile.points.values() for name in names} | profile.written.plugins.enabled_names
    for path, name, entry in written_entries(profile.document, "pluginConfig"):
        points = review.points_of(name)
        if points is None and name not in enabled:
            near = what_is_meant(name, (*enabled, *ARGS_PLUGINS), enabled)
            message = f'no plugin has the name "{name}", so its arguments are not used'
            yield Finding("unused-args", profile.at(path), message, near or "load it with --plugin FILE.py:Class")
        elif name not in enabled:
            message = f"{name} is not enabled in this profile, so its arguments are not used"
            yield Finding("unused-args", profile.at(path), message, "enable it, or remove its arguments")
        elif name in DEFAULT_PLUGINS.enabled_names and name not in ARGS_PLUGINS:
            if entry.get("args"):
                yield Finding("unused-args", profile.at(f"{path}.args"), f"{name} has no arguments, and ignores these")
        elif name == "NodeResourcesFit" and name not in profile.points["score"]:
            if dig(entry, "args", "scoringStrategy"):
                message = "NodeResourcesFit does not score in this profile, so scoringStrategy has no effect"
                yield Finding("unused-args", profile.at(f"{path}.args.scoringStrategy"), message)


def _arguments(profile: ReviewedProfile, name: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The arguments of a plugin as they are written, and their path."""
    for path, named, entry in written_entries(profile.document, "pluginConfig"):
        if named == name and isinstance(args := entry.get("args"), dict):
            yield profile.at(f"{path}.args"), args


def _flat_shape(profile: ReviewedProfile) -> Iterator[Finding]:
    for path, args in _arguments(profile, "NodeResourcesFit"):
        strategy = args.get("scoringStrategy")
        shape = dig(strategy, "requestedToCapacityRatio", "shape")
        if dig(strategy, "type") != "RequestedToCapacityRatio" or not isinstance(shape, list):
            continue
        scores = [dig(point, "score") or 0 for point in shape]
        if scores and all(score == scores[0] for score in scores):
            where = f"{path}.scoringStrategy.requestedToCapacityRatio.shape"
            message = f"every utilization gets the score {scores[0]}, so NodeResourcesFit scores all nodes alike"
            advice = "to pack, let the score rise from 0 to 10; to spread, let it fall"
            yield Finding("flat-shape", where, message, advice)


def _hard_constraints(profile: ReviewedProfile) -> Iterator[Finding]:
    for path, args in _arguments(profile, "PodTopologySpread"):
        constraints = args.get("defaultConstraints")
        for i, constraint in enumerate(constraints if isinstance(constraints, list) else ()):
            if dig(constraint, "whenUnsatisfiable") == "DoNotSchedule":
                key = dig(constraint, "topologyKey")
                yield Finding(
                    "hard-default-constraint",
                    f"{path}.defaultConstraints[{i}].whenUnsatisfiable",
                    f"pods that say nothing about spreading stay pending where they cannot be spread over {key}",
                    f"nodes without the label {key} get none of them; ScheduleAnyway prefers instead of demanding",
                )
