"""OpenTelemetry traces: a span for each attempt of a pod, with its queue, its scheduling cycle and its binding below.

Theory of operation. A scheduling cycle runs without a break, so what frameworks report in it belongs to the pod
that `decided` names at its end. The hooks of a binding cycle name their pod. The spans of an attempt are made at its
end, from the times that were noted for every pod until then: only the first span shows whether a pod is sampled.
"""

import os
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from kubesched.errors import InputError
from kubesched.framework import Clock, Decision, FrameworkStep, Probe, Status
from kubesched.metrics import Observer
from kubesched.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, Tracer

_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_OF_BINDING: Final = ("PreBind", "Bind")
_OUTSIDE: Final = ("PreEnqueue", "Unreserve")  # run when events come and when bindings fail
_LAST_SECONDS: Final = 3.0
_MAX_ATTEMPTS: Final = 10_000  # in flight; beyond that, the oldest is dropped: its end was never reported


class _Step(msgspec.Struct, frozen=True):
    """One extension point: its name, its status, and when it began and ended in the clock's seconds."""

    point: str
    status: Status
    began: float
    ended: float


class _Attempt(msgspec.Struct):
    """An attempt whose binding is under way."""

    began: float
    decided: float
    cycle: list[_Step]
    binding: list[_Step] = []


class Spans(Observer, Probe):
    """Makes the spans: an observer of the driver, and a probe of its frameworks.

    Args:
        provider: of the tracer that takes them.
        clock: of the driver.
    """

    single_hooks = frozenset(("pre_bind", "bind"))

    def __init__(self, provider: "TracerProvider", clock: Clock) -> None:
        self._provider = provider
        self._tracer: Tracer = provider.get_tracer("kubesched", VERSION)
        self._clock = clock
        self._offset = time.time_ns() - int(clock.monotonic() * 1e9)
        self._steps: list[_Step] = []  # of the scheduling cycle that runs
        self._binding: dict[str, _Attempt] = {}  # by uid

    def began(self, step: FrameworkStep) -> None:
        """Note when."""
        step.began = self._clock.monotonic()

    def ended(self, step: FrameworkStep) -> None:
        """Keep the time that an extension point took."""
        if step.point in _OUTSIDE:
            return
        taken = _Step(step.point, step.status, step.began, self._clock.monotonic())
        if step.point not in _OF_BINDING:
            self._steps.append(taken)
        elif (attempt := self._binding.get(step.pod.uid)) is not None:
            attempt.binding.append(taken)

    def decided(self, decision: Decision, seconds: float) -> None:
        """A scheduling cycle ended; the spans of one that failed are made."""
        steps, self._steps = self._steps, []
        now = self._clock.monotonic()
        began = now - seconds
        attempt = _Attempt(began, now, steps)
        if decision.outcome.status.is_success:
            if len(self._binding) >= _MAX_ATTEMPTS:
                del self._binding[next(iter(self._binding))]
            self._binding[decision.pod.uid] = attempt
        else:
            self._write(decision, attempt, now)

    def bound(self, decision: Decision, seconds: float, queued_seconds: float) -> None:
        """A pod was bound."""
        self._finish(decision)

    def failed(self, decision: Decision, seconds: float) -> None:
        """A binding cycle failed."""
        self._finish(decision)

    def shutdown(self) -> None:
        """Send the spans that are left, for a few seconds at most: the collector may be gone."""
        sending = threading.Thread(target=self._provider.shutdown, name="last traces", daemon=True)
        sending.start()
        sending.join(_LAST_SECONDS)

    def sizes(self) -> dict[str, int]:
        """What is kept."""
        return {"attempts under way": len(self._binding), "steps": len(self._steps)}

    def _finish(self, decision: Decision) -> None:
        attempt = self._binding.pop(decision.pod.uid, None)
        if attempt is not None:
            self._write(decision, attempt, self._clock.monotonic())

    # --- spans ---

    def _write(self, decision: Decision, attempt: _Attempt, ended: float) -> None:
        pod, queued = decision.pod, decision.initial_attempt_timestamp
        began = attempt.began if queued is None or decision.attempt > 1 else min(queued, attempt.began)
        root = self._span("schedule pod", began, None, _attributes(decision))
        if began < attempt.began:
            self._span("queue", began, root).end(self._at(attempt.began))
        self._phase("scheduling cycle", attempt.began, attempt.decided, attempt.cycle, root)
        if ended > attempt.decided:
            self._phase("binding cycle", attempt.decided, ended, attempt.binding, root)
        if not decision.outcome.status.is_success:
            from opentelemetry.trace import StatusCode

            root.set_status(StatusCode.ERROR, f"{pod.key}: {decision.outcome.located}")
        root.end(self._at(ended))

    def _phase(self, name: str, began: float, ended: float, steps: list[_Step], parent: "Span") -> None:
        phase = self._span(name, began, parent)
        for step in steps:
            status = {"kubesched.status": step.status.code.value, "kubesched.plugin": step.status.plugin}
            self._span(step.point, step.began, phase, status).end(self._at(step.ended))
        phase.end(self._at(ended))

    def _span(
        self, name: str, began: float, parent: "Span | None", attributes: Mapping[str, str | int] | None = None
    ) -> "Span":
        from opentelemetry.context import Context
        from opentelemetry.trace import set_span_in_context

        context = Context() if parent is None else set_span_in_context(parent, Context())
        return self._tracer.start_span(name, context, attributes=attributes, start_time=self._at(began))

    def _at(self, seconds: float) -> int:
        """Nanoseconds since 1970 of a time of the clock."""
        return self._offset + int(seconds * 1e9)


def _attributes(decision: Decision) -> dict[str, str | int]:
    pod = decision.pod
    return {
        "k8s.namespace.name": pod.namespace,
        "k8s.pod.name": pod.name,
        "k8s.pod.uid": pod.uid,
        "k8s.node.name": decision.node_name,
        "kubesched.profile": decision.profile,
        "kubesched.attempt": decision.attempt,
        "kubesched.nodes.evaluated": decision.n_evaluated,
        "kubesched.nodes.feasible": decision.n_feasible,
    }


def new_spans(clock: Clock, environ: Mapping[str, str] = os.environ) -> Spans | None:
    """Create the observer that traces, if OTEL_EXPORTER_OTLP_ENDPOINT or its variant for traces names an endpoint.

    The other variables of OpenTelemetry apply, too: OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, headers, certificates.

    Returns: the observer; None without an endpoint.
    Raises:
        InputError: the packages are not installed.
    """
    endpoint = next((name for name in _ENDPOINTS if environ.get(name)), "")
    if not endpoint:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise InputError(f"{endpoint} is set, and OpenTelemetry is not installed; install kubesched[tracing]") from None
    service = {"service.name": environ.get("OTEL_SERVICE_NAME", "kubesched"), "service.version": VERSION}
    resource = Resource.create(service)
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider, clock)
