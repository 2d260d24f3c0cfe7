"""Runs every configuration on every snapshot with every seed, and keeps the rows in a file from which it goes on."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.api import KubeObject
from kubesched.comparison import Candidate, PodChoice, ReadCandidate, parse_pod_choice, settings
from kubesched.controllers import Prices
from kubesched.errors import InputError, KubeschedError
from kubesched.parallel import TaskGroup, carry_out, connected
from kubesched.session import Progress
from kubesched.setup import ArgsLike, ConfigurationLike, PluginLike
from kubesched.snapshot import ClusterObjects, as_read, load_snapshot
from kubesched.sweeps.contents import content_key, of_plugin
from kubesched.sweeps.row_files import check_rows_file, read_rows, write_rows
from kubesched.sweeps.rows import SweepRow
from kubesched.sweeps.runner import RowOutcome, SettingRuns
from kubesched.sweeps.sweep_result import Sweep, pareto_figures, summarized
from kubesched.version import VERSION

SnapshotLike = str | os.PathLike[str] | Iterable[KubeObject]
_NO_ARGS: Final[Mapping[str, ArgsLike]] = {}
_WRITE_SECONDS: Final = 1.0
_WRITE_SHARE: Final = 20  # a large file is written less often


def sweep(
    snapshots: Sequence[SnapshotLike],
    configurations: Sequence[Candidate | ConfigurationLike] = (None,),
    *,
    plugins: Iterable[PluginLike] = (),
    plugin_args: Sequence[Mapping[str, ArgsLike]] = (_NO_ARGS,),
    seeds: int = 10,
    pods: str = "pending",
    prices: Prices | None = None,
    pareto: Sequence[str] = (),
    rows: str | os.PathLike[str] | None = None,
    on: str | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Place the pods of every snapshot with every configuration and every entry of `plugin_args`, once for each seed.

    Args:
        snapshots: files, or clusters as load_snapshot gives them.
        configurations: as for load_configuration, or Candidates, which also have names and plugins.
        plugins: plugins of every configuration.
        plugin_args: arguments of plugins; each entry is tried.
        seeds: how many runs each has; every run breaks ties in another random way.
        pods, prices: as for `compare`; no pod stays because no configuration places it.
        pareto: figures by which configurations are compared; by default price (with prices) or nodes in use, and
            pending pods.
        rows: a file in `.jsonl`, `.csv` or `.parquet` for the rows. Those that it has are not run again, if all that
            they depend on is the same.
        on: the address of a Dask scheduler; by default the active Dask client, else the cores of this machine.
        progress: called after each run with the number of rows so far, and of all.
    Raises:
        InputError: an argument is not valid, or a file cannot be read or written. A configuration or snapshot that
            cannot be used is the reason in its rows instead.
        WorkerError: the Dask cluster cannot do the work.

    Example:
        result = sweep(["cluster.json"], [None, "scheduler.yaml"], seeds=2)
        print(len(result.rows))
    """
    chosen = pareto_figures(pareto or ("nodesInUse" if prices is None else "pricePerHour", "pending"))
    file = None if rows is None else check_rows_file(rows)
    if seeds < 1:
        raise InputError(f"seeds: found {seeds}; expected at least 1")
    plan = _Plan(snapshots, _candidates(configurations, tuple(plugins), plugin_args), parse_pod_choice(pods), prices)
    runs = [*plan.runs(range(1, seeds + 1))]
    if not runs:
        raise InputError("there is nothing to run: give at least one snapshot and one configuration")
    table = _RowTable(runs, file)
    with connected(on):
        _carry_out(plan, table, progress)
    done = table.rows()
    to_paste = {(one.name, one.plugin_args): one.candidate for one in plan.settings}
    found = [
        msgspec.structs.replace(one, to_paste=_to_paste(to_paste[one.configuration, one.plugin_args]))
        if one.is_best
        else one
        for one in summarized(done, chosen)
    ]
    return Sweep(tuple(done), tuple(found), chosen, table.n_kept)


class _Setting(NamedTuple):
    name: str
    plugin_args: str
    candidate: Candidate
    key: str


def _candidates(
    configurations: Sequence[Candidate | ConfigurationLike],
    plugins: tuple[PluginLike, ...],
    plugin_args: Sequence[Mapping[str, ArgsLike]],
) -> list[_Setting]:
    found = []
    for i, given in enumerate(configurations, 1):
        one = given if isinstance(given, Candidate) else Candidate(_name_of(given, i), given)
        one = msgspec.structs.replace(one, plugins=(*plugins, *one.plugins))
        for args in plugin_args:
            candidate = msgspec.structs.replace(one, plugin_args={**one.plugin_args, **args})
            text = json.dumps(args, default=repr, sort_keys=True) if args else ""
            found.append(_Setting(one.name, text, candidate, _key_of(candidate)))
    names = [(one.name, one.plugin_args) for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"configurations: {twice[0]} is there twice; give each one another name")
    return found


def _name_of(configuration: ConfigurationLike, i: int) -> str:
    if configuration is None:
        return "defaults"
    return str(configuration) if isinstance(configuration, str | os.PathLike) else f"configuration {i}"


def _key_of(candidate: Candidate) -> str:
    """What the outcome depends on, of all that a candidate has."""
    configuration, args = candidate.configuration, candidate.plugin_args
    file = Path(configuration) if isinstance(configuration, str) else configuration
    given = {name: Path(one) if isinstance(one, str) else one for name, one in args.items()}
    plugins = [of_plugin(one) for one in candidate.plugins]
    return content_key(file, plugins, given, candidate.is_packed, candidate.release)


class _Run(NamedTuple):
    """A row that is to be made: the index of its snapshot and of its setting, and the row without an outcome."""

    snapshot: int
    setting: int
    row: SweepRow


class _Plan:
    """What is run."""

    def __init__(
        self, snapshots: Sequence[SnapshotLike], chosen: list[_Setting], choice: PodChoice, prices: Prices | None
    ) -> None:
        if isinstance(snapshots, str | os.PathLike):
            snapshots = [snapshots]
        self.settings = chosen
        self._snapshots = [Path(one) if isinstance(one, str | os.PathLike) else as_read(one) for one in snapshots]
        self._choice = choice
        self._prices = prices
        self._loaded: tuple[int, ClusterObjects] | None = None

    def runs(self, seeds: Iterable[int]) -> Iterator[_Run]:
        """All runs, in the order of the rows."""
        for i, source in enumerate(self._snapshots):
            name = str(source) if isinstance(source, Path) else f"snapshot {i + 1}"
            of_snapshot = self._key_of(source)
            for j, setting in enumerate(self.settings):
                for seed in seeds:
                    row = SweepRow(
                        snapshot=name,
                        configuration=setting.name,
                        plugin_args=setting.plugin_args,
                        pods=str(self._choice),
                        seed=seed,
                        figures={},
                        kubesched_version=VERSION,
                        key=content_key(of_snapshot, setting.key, seed) if of_snapshot else "",
                    )
                    yield _Run(i, j, row)

    def _key_of(self, source: Any) -> str:
        """Empty if a snapshot cannot be read: the reason is in its rows, and they are not kept."""
        try:
            return content_key(source, str(self._choice), self._prices, VERSION)
        except InputError:
            return ""

    def runner(self, snapshot: int, setting: int) -> SettingRuns:
        """What carries out the runs of a setting on a snapshot, which is loaded for all settings in turn."""
        try:
            if self._loaded is None or self._loaded[0] != snapshot:
                self._loaded = None
                source = self._snapshots[snapshot]
                self._loaded = snapshot, load_snapshot(source) if isinstance(source, Path) else source
        except KubeschedError as error:
            return SettingRuns(None, error=str(error))
        return SettingRuns.of(self._loaded[1], self.settings[setting].candidate, self._choice, self._prices)


class _RowTable:
    """The rows of a sweep, and the file that keeps them.

    Attributes:
        n_kept: rows of this sweep that the file had already.
    """

    def __init__(self, runs: Sequence[_Run], file: Path | None) -> None:
        self._runs = runs
        self._file = file
        known = [] if file is None else read_rows(file)
        by_key = {one.key: one for one in known if not one.error}  # what failed may have been a file or the memory
        wanted = {"", *(one.row.key for one in runs)}
        self._others = [one for one in known if one.key not in wanted]
        self._done = {i: by_key[run.row.key] for i, run in enumerate(runs) if run.row.key in by_key}
        self.n_kept = len(self._done)
        self._written, self._took = perf_counter(), 0.0

    def parts(self) -> list[tuple[tuple[int, int], list[int]]]:
        """The runs that are left, as indices: those of a snapshot and a setting together."""
        left: dict[tuple[int, int], list[int]] = {}
        for i, run in enumerate(self._runs):
            if i not in self._done:
                left.setdefault((run.snapshot, run.setting), []).append(i)
        return [*left.items()]

    def seed(self, i: int) -> int:
        return self._runs[i].row.seed

    def rows(self) -> list[SweepRow]:
        """Those that are done, in their order, under the names that they have in this sweep."""
        return [self._named(i) for i in sorted(self._done)]

    def _named(self, i: int) -> SweepRow:
        row, wanted = self._done[i], self._runs[i].row
        return msgspec.structs.replace(
            row, snapshot=wanted.snapshot, configuration=wanted.configuration, plugin_args=wanted.plugin_args
        )

    def note(self, i: int, outcome: RowOutcome) -> tuple[int, int]:
        """Enter what came of a run. Returns: how many rows there are, and how many there will be."""
        row = self._runs[i].row
        self._done[i] = msgspec.structs.replace(
            row,
            figures=outcome.figures,
            seconds=round(outcome.seconds, 3),
            kubernetes_version=outcome.kubernetes_version,
            error=outcome.error,
        )
        if perf_counter() - self._written > max(_WRITE_SECONDS, _WRITE_SHARE * self._took):
            self.write()
        return len(self._done), len(self._runs)

    def write(self) -> None:
        """Replace the file, if there is one.

        Raises:
            InputError: that failed, and the file is as it was.
        """
        if self._file is None:
            return
        began = perf_counter()
        try:
            write_rows([*self._others, *self.rows()], self._file)
        except InputError as error:
            raise InputError(f"{error}; the rows in it are as they were; the same sweep goes on from there") from error
        self._written = perf_counter()
        self._took = self._written - began


def _carry_out(plan: _Plan, table: _RowTable, progress: Progress | None) -> None:
    left = table.parts()
    parts = [TaskGroup(_maker(plan, *where), [table.seed(i) for i in indices]) for where, indices in left]
    try:
        for part, task, outcome in carry_out(parts):
            done = table.note(left[part][1][task], outcome)
            if progress is not None:
                progress(*done)
    except BaseException:
        with suppress(InputError):  # the first error counts
            table.write()
        raise
    table.write()


def _maker(plan: _Plan, snapshot: int, setting: int) -> Any:
    return lambda: plan.runner(snapshot, setting)


def _to_paste(candidate: Candidate) -> str:
    return settings(ReadCandidate(candidate)).configuration
