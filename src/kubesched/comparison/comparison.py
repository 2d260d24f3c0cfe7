"""Compares two configurations on one cluster: the figures of both, how far chance moves them, and which pods move."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from kubesched.api import KubeObject, Pod, completed
from kubesched.comparison.candidates import Candidate, ReadCandidate
from kubesched.comparison.comparison_result import Comparison, FigureDifference, Range
from kubesched.comparison.figures import FIGURES, Figure
from kubesched.comparison.measure import Ruler
from kubesched.comparison.passes import Passes
from kubesched.comparison.placed_again import PodChoice, may_be_lost, parse_pod_choice
from kubesched.comparison.pool_use import change_of_all, pool_changes
from kubesched.comparison.replicas import find_moved
from kubesched.comparison.runs import Run
from kubesched.comparison.settings import PastedSettings, providers, settings
from kubesched.comparison.upgrade import Upgrade, upgrade, with_verdicts
from kubesched.config import effective
from kubesched.controllers import Prices
from kubesched.errors import ConfigError, InputError, UndecidedGateError
from kubesched.release import DecidingVersion, Release
from kubesched.review import review_of, scoring_advice
from kubesched.session import Progress, Unserved, unserved_pods
from kubesched.setup import ConfigurationLike, PluginTimes, find_plugins
from kubesched.snapshot import as_read, version_of

if TYPE_CHECKING:
    pass

_FEWEST_RUNS: Final = 5
_OF_POOLS: Final = ("nodesInUse", "pricePerHour")
MANY_RUNS: Final = 20


def compare(
    snapshot: Iterable[KubeObject],
    a: Candidate | ConfigurationLike = None,
    b: Candidate | ConfigurationLike = None,
    *,
    pods: str = "pending",
    seeds: int = 20,
    prices: Prices | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Place the same pods with two configurations, several times each, and compare what comes of it.

    Args:
        snapshot: the cluster, as load_snapshot gives it.
        a, b: the sides; a configuration, or a Candidate, which also has plugins and a name.
        pods: `pending`; `all`: also every running pod that a controller would re-create; or `rollout=SELECTOR`: also
            those of them that the selector selects.
        seeds: how many runs of each side there are, at least 5; every run breaks ties in another random way.
        prices: instance type -> price of a node for an hour, or of its capacity types `on-demand`, `spot`, `reserved`.
        progress: called after each run with the number of runs so far, and of all.
    Raises:
        InputError: an argument is not valid, or a configuration cannot be read. With two versions of Kubernetes, a
            configuration that one of them rejects is part of the answer.
        PluginError: a plugin cannot be loaded or started.

    Example:
        comparison = compare(load_snapshot("cluster.json"), None, "scheduler.yaml", seeds=5)
        print([difference.figure.name for difference in comparison.findings])
    """
    if seeds < _FEWEST_RUNS:
        raise InputError(
            f"seeds: found {seeds}; expected at least {_FEWEST_RUNS}, because fewer runs do not show what chance does"
        )
    choice = parse_pod_choice(pods)
    known = as_read(snapshot)
    version = version_of(known)
    given = [_candidate(side, name) for side, name in ((a, "A"), (b, "B"))]
    read = [completed(one) for one in known]
    sides, notice = _read(given, version.release, read)
    if len(sides) < len(given):
        return _not_run(given, choice, version, notice)
    passes = Passes(read, sides, choice, prices, seeds, progress)
    last, staying, replicas = passes.last()
    ruler, first, (of_a, of_b), stay = last.runs.ruler, last.first(), last.of_sides, tuple(staying)
    not_placed_a, not_placed_b = last.not_placed()
    uses = ruler.all_of_pools(), _typical(of_a).pools, _typical(of_b).pools
    fields: dict[str, Any] = {name: getattr(first, name) for name in first.__struct_fields__}
    if notice is not None and not any(side.plugins for side in sides):
        fields["faults"] = ("", "")  # an error is what the version decides
    return Comparison(
        a=sides[0].name,
        b=sides[1].name,
        choice=choice,
        n_pods=len(ruler.pods),
        n_runs=seeds,
        differences=tuple(_differences(ruler, of_a, of_b)),
        **fields,
        widest=(_widest(of_a), _widest(of_b)),
        settings=settings(sides[1]),
        times=(last.runs.times[0], last.runs.times[1]),
        providers=providers(last.objects),
        unpriced=ruler.unpriced,
        extenders=tuple(dict.fromkeys(one.url_prefix for side in sides for one in side.configuration.extenders)),
        taken_at=known.taken_at,
        versions=(_deciding(sides[0], version), _deciding(sides[1], version)),
        misspelt=ruler.misspelt,
        outvoted=(_outvoted(sides[0]), _outvoted(sides[1])),
        may_be_lost=may_be_lost(read, last.objects),
        pools=tuple(pool_changes(*uses)),
        nodes=change_of_all(*uses),
        drained=tuple(dict.fromkeys(move.a for move in first.moves if move.pod in passes.running)),
        not_placed=((*stay, *not_placed_a), (*stay, *not_placed_b)),
        staying=staying,
        staying_with=replicas,
        unserved=(_unserved(read, sides[0], sides[1]), _unserved(read, sides[1], sides[0])),
        upgrade=notice and with_verdicts(notice, read, sides),
    )


def _read(
    given: Sequence[Candidate], of_cluster: Release, objects: Sequence[KubeObject]
) -> tuple[list[ReadCandidate], Upgrade | None]:
    """The sides, and what two versions change; without a side whose version rejects what the other one accepts.

    Raises:
        ConfigError: the only version, or both, reject the configuration; or kubesched cannot decide as a version, and
            none rejects it.
    """
    sides: list[ReadCandidate] = []
    rejected: dict[str, str] = {}
    undecided = [one.undecided for one in given if one.undecided]
    releases = [of_cluster if one.release is None else one.release for one in given]
    for name, one, release in zip("ab", given, releases, strict=True):
        try:
            side = ReadCandidate(one, release)
            if releases[0] != releases[1]:
                side.set_up()  # the version may lack a plugin
            sides.append(side)
        except UndecidedGateError as error:
            undecided.append(str(error))
        except ConfigError as error:
            if rejected or releases[0] == releases[1]:
                raise
            rejected[name] = str(error)
    if undecided and not rejected:
        raise UndecidedGateError(undecided[0])
    if releases[0] == releases[1]:
        return sides, None
    return sides, upgrade(objects, releases[0], releases[1], (rejected.get("a", ""), rejected.get("b", "")))


def _not_run(
    given: Sequence[Candidate], choice: PodChoice, version: DecidingVersion, notice: Upgrade | None
) -> Comparison:
    """The answer where a version rejects the configuration: nothing can be placed with it."""
    return Comparison(
        a=given[0].name,
        b=given[1].name,
        choice=choice,
        n_pods=0,
        n_runs=0,
        differences=(),
        pending=(),
        moves=(),
        fills=(),
        widest=("", ""),
        settings=PastedSettings(""),
        times=(PluginTimes(), PluginTimes()),
        versions=(_deciding(given[0], version), _deciding(given[1], version)),
        upgrade=notice,
    )


def _deciding(side: Candidate | ReadCandidate, version: DecidingVersion) -> DecidingVersion:
    return version if side.release is None else msgspec.structs.replace(version, release=side.release)


def _unserved(objects: Iterable[KubeObject], side: ReadCandidate, other: ReadCandidate) -> tuple[Unserved, ...]:
    """The pods that only the other side has a profile for."""
    pods = (one for one in objects if isinstance(one, Pod) and one.scheduler_name in other.scheduler_names)
    return unserved_pods(pods, side.scheduler_names)


def _typical(runs: Sequence[Run]) -> Run:
    """A run with the median of nodes in use, and of these the one whose price is nearest the median."""
    median = {name: _median_and_range([run.measured[name] or 0.0 for run in runs])[0] for name in _OF_POOLS}
    return min(runs, key=lambda run: [abs((run.measured[name] or 0.0) - median[name]) for name in _OF_POOLS])


def _candidate(side: Candidate | ConfigurationLike, name: str) -> Candidate:
    return side if isinstance(side, Candidate) else Candidate(name, side)


def _outvoted(side: ReadCandidate) -> str:
    document = effective(side.configuration, side.release)
    registry = find_plugins(side.plugins, release=side.release)
    findings = scoring_advice(review_of(side.configuration, document, registry))
    return next((f"{one.message}; {one.help}" for one in findings if one.rule == "packing-outvoted"), "")


def _differences(ruler: Ruler, of_a: Sequence[Run], of_b: Sequence[Run]) -> Iterable[FigureDifference]:
    for figure in FIGURES:
        if figure.name == "moved":
            values = _n_moved(ruler, of_a, of_a), _n_moved(ruler, of_a, of_b)
        else:
            values = _values(of_a, figure), _values(of_b, figure)
        if values[0] and values[1]:
            (a, range_a), (b, range_b) = map(_median_and_range, values)
            is_finding = _is_beyond_chance(a, b, range_a, range_b, len(of_a))
            yield FigureDifference(figure, a, b, range_a, range_b, is_finding)


def _is_beyond_chance(a: float, b: float, range_a: Range, range_b: Range, n_runs: int) -> bool:
    """Whether chance alone hardly makes two sides differ like this.

    The ranges must not overlap. With many runs the ranges are wide, and it is enough that the median of one side is
    outside the range of the other. If both sides had the same distribution, this would be so for 1 of 126 figures with
    5 runs, 1 of 462 with 6, and fewer than 1 of 1,000 with more.
    """
    if n_runs < MANY_RUNS:
        return range_a[1] < range_b[0] or range_b[1] < range_a[0]
    return not (range_a[0] <= b <= range_a[1] and range_b[0] <= a <= range_b[1])


def _values(runs: Sequence[Run], figure: Figure) -> list[float]:
    return [value for run in runs if (value := run.measured[figure.name]) is not None]


def _widest(runs: Sequence[Run]) -> str:
    """The workload with the largest zone skew in the first run that has the median."""
    skews = [run.measured["skew"] or 0.0 for run in runs]
    return runs[skews.index(_median_and_range(skews)[0])].widest


def _n_moved(ruler: Ruler, of_a: Sequence[Run], of_b: Sequence[Run]) -> list[float]:
    """How many pods are on another node than in the run of A with the next seed.

    With A on both sides this is what chance alone moves.
    """
    moved = []
    for i, run in enumerate(of_b):
        rows, _ = find_moved(ruler.replicas, of_a[(i + 1) % len(of_a)].where, run.where)
        moved.append(float(len(rows)))
    return moved


def _median_and_range(values: Sequence[float]) -> tuple[float, Range]:
    """The median (the lower one of two), the least and the greatest value."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2], (ordered[0], ordered[-1])
