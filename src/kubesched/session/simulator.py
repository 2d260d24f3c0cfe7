"""A session that is asked once."""

from collections.abc import Callable

from kubesched.errors import InputError
from kubesched.framework import Decision
from kubesched.session.queue_run import Progress
from kubesched.session.report import Report
from kubesched.session.session import Session


class Simulator(Session):
    """A session that is asked once; the arguments are those of a Session.

    Example:
        report = Simulator(load_snapshot("cluster.json")).run()
        assert [placement.node for placement in report.placements] == ["n1"]
    """

    def run(self, progress: Progress | None = None, until: Callable[[Decision], bool] | None = None) -> Report:
        """Schedule every pending pod, as `schedule` does, and close.

        Raises:
            InputError: the simulator has run already, or is closed.
        """
        if self._is_closed:
            raise InputError("this simulator has already run; create a new one")
        return self.schedule(progress, until)

    def rest(self) -> None:
        """Close after the run."""
        self.close()
