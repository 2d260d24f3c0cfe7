"""The fix that is another version of Kubernetes, tried as all others are: the filters of that version run."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final

from kubesched.api import Pod
from kubesched.errors import ConfigError
from kubesched.explanation.before_fix import before_of
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.effort import Effort
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.fix import Fix
from kubesched.explanation.fixes import has_no_fix
from kubesched.explanation.trial import Trial
from kubesched.release import Release, releases_after
from kubesched.session import Session

_N_NAMED: Final = 5


def upgrade_fixes(
    evaluation: Evaluation, pod: Pod, session: Session, explained: Callable[[Session], AbstractContextManager[object]]
) -> Iterator[Fix]:
    """The nearest later version with which the pod fits while nothing else changes; nothing where none helps.

    The cluster is loaded again for a version, so this is done only where a rule decides that is another one later.

    Args:
        pod: without a node, with the fields that the version does not read.
        session: decided.
        explained: has a session keep the room of nominated pods while it is asked, and closes it.
    """
    may_help = not evaluation.fits and any(rule.may_fit_later for rule in evaluation.version_rules)
    if not may_help or has_no_fix(evaluation):
        return
    release = session.version.release
    for later in releases_after(release):
        other = _in_version(session, later.with_gates(dict(release.gates)))
        names = [] if other is None else _feasible(pod, other, explained)
        if names:
            before = before_of(evaluation, Change(), ())
            text, first, answers = f"upgrade to {later}", tuple(names[:_N_NAMED]), names[0]
            yield Fix(text, len(names), first, True, "upgrade", answers=answers, effort=Effort.UPGRADE, before=before)
            return


def _in_version(session: Session, release: Release) -> Session | None:
    """The same cluster in a version; None where it rejects the configuration, or the profiles are built."""
    try:
        return session.in_version(release)
    except ConfigError:
        return None


def _feasible(pod: Pod, session: Session, explained: Callable[[Session], AbstractContextManager[object]]) -> list[str]:
    """The nodes on which the pod fits in another version; where it runs, as if it did not."""
    with explained(session):
        trial = Trial(session.frameworks[pod.scheduler_name], pod)
        runs = session.cluster_state.objects.get("Pod", pod.key) is not None
        names = trial.feasible(Change(edits=(Edit("Pod", pod.key, lambda _: None),) if runs else ()))
        return [] if trial.fault or trial.is_undecided else names
