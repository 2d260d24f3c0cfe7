"""A log line for each attempt, with pod, node, profile, attempt, plugins and durations as fields.

Rule: kube-scheduler v1.36 logs a bound pod and a pod without a node from verbosity 2 on, and errors always.
"""

import logging
from typing import Final

from kubesched.framework import Decision
from kubesched.metrics import Observer

ATTEMPT_LOG: Final = logging.getLogger("kubesched.attempts")
"""Attempts that end well, or without a node, are its debug messages; faults are warnings."""


class AttemptLog(Observer):
    """Writes the lines."""

    def decided(self, decision: Decision, seconds: float) -> None:
        """A scheduling cycle ended; one that chose a node is logged when the pod is bound."""
        if not decision.outcome.status.is_success and not decision.pod.is_terminating:
            _log_failure(decision, seconds)

    def bound(self, decision: Decision, seconds: float, queued_seconds: float) -> None:
        """A pod was bound."""
        if ATTEMPT_LOG.isEnabledFor(logging.DEBUG):
            nodes = {"evaluatedNodes": decision.n_evaluated, "feasibleNodes": decision.n_feasible}
            ATTEMPT_LOG.debug("Successfully bound pod to node", extra=_fields(decision, seconds) | nodes)

    def failed(self, decision: Decision, seconds: float) -> None:
        """A binding cycle failed."""
        _log_failure(decision, seconds)


def _log_failure(decision: Decision, seconds: float) -> None:
    is_rejected = decision.outcome.status.is_rejected
    level = logging.DEBUG if is_rejected else logging.WARNING
    if ATTEMPT_LOG.isEnabledFor(level):
        text = "Unable to schedule pod; no fit; waiting" if is_rejected else "Error scheduling pod; retrying"
        plugins = sorted({*decision.unschedulable_plugins, *decision.pending_plugins} - {""})
        further = {"plugins": ",".join(plugins), "err": decision.outcome.located}
        if decision.outcome.status.place:
            further |= {"plugin": decision.outcome.status.plugin, "place": decision.outcome.status.place}
        ATTEMPT_LOG.log(level, text, extra=_fields(decision, seconds) | further)


def _fields(decision: Decision, seconds: float) -> dict[str, object]:
    return {
        "pod": decision.pod.key,
        "node": decision.node_name,
        "profile": decision.profile,
        "attempt": decision.attempt,
        "seconds": round(seconds, 6),
    }
