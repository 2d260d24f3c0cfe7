"""The answer of a sweep: every run, what each configuration comes to, and which of them no other one beats."""

from collections.abc import Iterable, Mapping, Sequence, Set
from statistics import median_low
from typing import TYPE_CHECKING, Final

import msgspec

from kubesched.comparison import FIGURES, Figure, figure
from kubesched.errors import InputError
from kubesched.shown import Shown, data_frame
from kubesched.sweeps.rows import SweepRow

if TYPE_CHECKING:
    import pandas as pd

_BETTER: Final = tuple(one.name for one in FIGURES if one.better and one.name != "moved")


class SettingFigure(msgspec.Struct, frozen=True):
    """A figure of one configuration.

    Attributes:
        value: the median over the seeds, on average over the snapshots.
        least, most: of all its runs.
    """

    value: float
    least: float
    most: float


class Setting(msgspec.Struct, frozen=True):
    """A configuration with arguments of plugins, over all snapshots and seeds.

    Attributes:
        configuration, plugin_args: as in its rows.
        n_runs: its rows, and `n_failed` those of them with an error.
        figures: by name; without those that some run does not have.
        is_best: whether no other setting is at least as good in every chosen figure, and better in one.
        to_paste: of the best ones, a KubeSchedulerConfiguration in YAML: what differs from the defaults.
    """

    configuration: str
    plugin_args: str
    n_runs: int
    n_failed: int
    figures: Mapping[str, SettingFigure]
    is_best: bool = False
    to_paste: str = ""


class Sweep(Shown, msgspec.Struct, frozen=True, eq=False):
    """What a sweep found.

    Attributes:
        rows: of every run, by snapshot, configuration, arguments and seed.
        settings: in their order.
        pareto: the figures by which settings are compared.
        n_kept: rows that a file had already.

    Example:
        result = sweep(["cluster.json"], [None, "scheduler.yaml"], seeds=2)
        print([setting.configuration for setting in result.settings if setting.is_best])
    """

    rows: tuple[SweepRow, ...]
    settings: tuple[Setting, ...]
    pareto: tuple[str, ...]
    n_kept: int = 0

    @property
    def best(self) -> tuple[Setting, ...]:
        """The settings that no other one beats, those with the best first figure first."""
        name = self.pareto[0]
        front = [one for one in self.settings if one.is_best]
        return tuple(sorted(front, key=lambda one: -figure(name).better * one.figures[name].value))

    @property
    def failed(self) -> tuple[SweepRow, ...]:
        """The rows with an error."""
        return tuple(row for row in self.rows if row.error)

    def rows_frame(self) -> "pd.DataFrame":
        """A DataFrame with every row, as in a file.

        Raises:
            InputError: pandas is not installed.
        """
        fields = [row.as_fields() for row in self.rows]
        return data_frame({name: [row[name] for row in fields] for name in fields[0]})


def pareto_figures(names: Sequence[str]) -> tuple[str, ...]:
    """The figures by which settings are compared.

    Raises:
        InputError: a name is not one, or it is not said whether more of it is better.
    """
    chosen = [figure(name) for name in names]
    for one in chosen:
        if one.name not in _BETTER:
            expected = f"expected one of {', '.join(_BETTER)}"
            raise InputError(f'pareto: it is not known whether more or less of "{one.name}" is better; {expected}')
    return tuple(one.name for one in chosen)


def summarized(rows: Iterable[SweepRow], pareto: Sequence[str]) -> tuple[Setting, ...]:
    """What each configuration comes to."""
    by_setting: dict[tuple[str, str], list[SweepRow]] = {}
    rows = [*rows]
    read = {row.snapshot for row in rows if not row.error}
    for row in rows:
        by_setting.setdefault((row.configuration, row.plugin_args), []).append(row)
    found = [_setting(*names, of_setting, read) for names, of_setting in by_setting.items()]
    figures = [figure(name) for name in pareto]
    comparable = [one for one in found if all(name in one.figures for name in pareto)]
    return tuple(
        msgspec.structs.replace(
            one, is_best=one in comparable and not any(_beats(other, one, figures) for other in comparable)
        )
        for one in found
    )


def _setting(configuration: str, plugin_args: str, rows: Sequence[SweepRow], read: Set[str]) -> Setting:
    """What a configuration comes to; without figures if a run failed on a snapshot that another one runs on."""
    n_failed = sum(bool(row.error) for row in rows)
    of_read = [row for row in rows if row.snapshot in read]
    has_all = bool(of_read) and not any(row.error for row in of_read)
    figures = {one.name: spread for one in FIGURES if has_all and (spread := _spread(of_read, one.name)) is not None}
    return Setting(configuration, plugin_args, len(rows), n_failed, figures)


def _spread(rows: Sequence[SweepRow], name: str) -> SettingFigure | None:
    """None if a run does not have the figure."""
    by_snapshot: dict[str, list[float]] = {}
    for row in rows:
        value = row.figures.get(name)
        if value is None:
            return None
        by_snapshot.setdefault(row.snapshot, []).append(value)
    values = [value for of_one in by_snapshot.values() for value in of_one]
    medians = [median_low(of_one) for of_one in by_snapshot.values()]
    return SettingFigure(sum(medians) / len(medians), min(values), max(values))


def _beats(one: Setting, other: Setting, figures: Sequence[Figure]) -> bool:
    gains = [each.better * (one.figures[each.name].value - other.figures[each.name].value) for each in figures]
    return min(gains) >= 0 and max(gains) > 0
