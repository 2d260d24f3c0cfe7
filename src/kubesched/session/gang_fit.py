"""How many pods of a gang have a node: those that are to run at once, all of them or none."""

import msgspec

from kubesched.documents import count


class GangFit(msgspec.Struct, frozen=True):
    """What becomes of a gang.

    Attributes:
        gang: `namespace/name` of the group or of the Job.
        is_job: whether it is a Job with several pods at once, which kube-scheduler starts one by one.
        needs: how many pods it needs at once; of a Job, all of them.
        n_pods: how many it has, pending and running ones.
        n_placed: how many of these have a node, with those that get one in a run.
        n_running: how many have one without the run.
    """

    gang: str
    is_job: bool
    needs: int
    n_pods: int
    n_placed: int
    n_running: int = 0

    @property
    def runs(self) -> bool:
        """Whether enough of its pods have a node."""
        return self.n_placed >= self.needs

    @property
    def whole(self) -> str:
        """What it is, such as `gang ml/ring`."""
        return f"{'Job' if self.is_job else 'gang'} {self.gang}"

    @property
    def outcome(self) -> str:
        """What becomes of it, in words."""
        if self.runs:
            return f"all {self.needs:,} fit" if self.n_placed == self.n_pods == self.needs else "enough fit"
        if self.is_job:
            return f"only {self.n_placed:,} of {self.needs:,} fit: they would wait if they need the others"
        if self.n_pods < self.needs:
            return f"it has only {count(self.n_pods, 'pod')}, and needs {self.needs:,}: none would run"
        only = "only " if self.n_placed else ""
        if self.n_running:
            return f"only {self.n_placed:,} of the {self.needs:,} that it needs fit: those that run lack the others"
        return f"{only}{self.n_placed:,} of the {self.needs:,} that it needs fit: none would run"
