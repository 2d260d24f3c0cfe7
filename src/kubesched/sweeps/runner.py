"""Carries out the runs of one configuration on one snapshot; what cannot be run is a reason instead of figures."""

from time import perf_counter
from typing import NamedTuple

from kubesched.api import completed
from kubesched.comparison import (
    Candidate,
    Measured,
    PodChoice,
    ReadCandidate,
    Ruler,
    SeededRuns,
    placed_again,
)
from kubesched.controllers import Prices
from kubesched.errors import KubeschedError
from kubesched.snapshot import ClusterObjects, version_of


class RowOutcome(NamedTuple):
    """What comes of a run, as in a SweepRow."""

    figures: Measured
    seconds: float
    kubernetes_version: str
    error: str


class SettingRuns:
    """The runs of one configuration on one snapshot; a task is a seed. It can be sent to other processes.

    Args:
        runs: None if there are none.
        version: of Kubernetes, whose rules decide.
        error: why there are none.
    """

    def __init__(self, runs: SeededRuns | None, version: str = "", error: str = "") -> None:
        self._runs = runs
        self._version = version
        self._error = error

    @classmethod
    def of(
        cls, cluster: ClusterObjects, candidate: Candidate, choice: PodChoice, prices: Prices | None
    ) -> "SettingRuns":
        """The runs of a candidate; a fault of it is their outcome."""
        try:
            side = ReadCandidate(candidate, version_of(cluster).release)
            objects = placed_again([completed(one) for one in cluster], choice, side.scheduler_names)
            ruler = Ruler(objects, side.scheduler_names, prices)
            return cls(SeededRuns(objects, [side], ruler), str(side.release))
        except KubeschedError as error:
            return cls(None, error=str(error))

    def __call__(self, seed: int) -> RowOutcome:
        """The run with a seed."""
        if self._runs is None:
            return RowOutcome({}, 0.0, self._version, self._error)
        began = perf_counter()
        try:
            run = self._runs((0, seed))
        except KubeschedError as error:
            return RowOutcome({}, perf_counter() - began, self._version, str(error))
        return RowOutcome(run.measured, perf_counter() - began, self._version, run.fault)

    def close(self) -> None:
        """Stop the plugins."""
        if self._runs is not None:
            self._runs.close()
