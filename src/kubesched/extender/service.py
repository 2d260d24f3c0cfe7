"""The calls over HTTP: routes, deadlines, counters and logs.

Everything up to the answer of filter, prioritize and preempt runs in one go on the event loop, so that a request sees
one state of the cluster; binds wait concurrently. A filter that counts pods waits for those of earlier calls first.
"""

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from aiohttp import web

from kubesched.errors import DeadlineExceeded
from kubesched.extender.answer import Answer
from kubesched.extender.extender_metrics import ExtenderMetrics
from kubesched.extender.history import History
from kubesched.extender.paths import BelowPrefix, VerbPaths
from kubesched.extender.plugin_extender import Extender
from kubesched.extender.pods_in_flight import DECISION_SECONDS, PodsInFlight
from kubesched.extender.recording import Recorder
from kubesched.extender.shown_bodies import shown_body
from kubesched.extender.verbs import Checkpoint, Verbs
from kubesched.framework import LimitedLog, in_one_line, located_line
from kubesched.serving import SHOWN_PATH, Bodies, QuickAnswer, QuickHandler, expect_body, is_loopback, peer_common_names
from kubesched.wire import Body, binding_answer, filter_answer_error, utf8_text

_NEAR: Final = 0.8
_FAILED: Final = 500
_LOG: Final = logging.getLogger("kubesched.extender")


class ExtenderService:
    """Answers the calls of kube-schedulers.

    Attributes:
        unready: why calls cannot be answered yet; empty once they can.
    """

    def __init__(
        self,
        extender: Extender,
        bodies: Bodies,
        metrics: ExtenderMetrics,
        *,
        budget_seconds: float,
        recorder: Recorder | None = None,
        describe: Callable[[], dict[str, object]] = dict,
    ) -> None:
        """Answer with an extender's verbs.

        Args:
            bodies: reads requests and writes answers.
            budget_seconds: how long a call may take, less than the client waits.
            describe: more for /inspect.
        """
        self.unready = "starting"
        self._extender = extender
        self._bodies = bodies
        self._metrics = metrics
        self._budget = budget_seconds
        self._recorder = recorder
        self._describe = describe
        self._history = History()
        self._unread = LimitedLog(_LOG, "%d more calls without a pod were not logged", time.monotonic)

    # --- the routes ---

    async def filter(self, request: web.Request) -> web.Response:
        """POST /filter and /predicates/NAME."""
        return await self._at_once(request, "filter")

    async def prioritize(self, request: web.Request) -> web.Response:
        """POST /prioritize and /priorities/NAME."""
        return await self._at_once(request, "prioritize")

    async def preempt(self, request: web.Request) -> web.Response:
        """POST /preempt and /preemption."""
        return await self._at_once(request, "preempt")

    async def bind(self, request: web.Request) -> web.Response:
        """POST /bind."""
        binder = self._extender.binder
        if binder is None:
            raise web.HTTPNotFound(
                text="this extender does not bind: no plugin takes part in binding; start it with --bind\n"
            )
        deadline = time.monotonic() + self._budget

        async def work(body: Body) -> Answer:
            if self.unready:
                return _refused("bind", f"kubesched extender: not ready: {self.unready}")
            try:
                return await binder.bind(bytes(body), max(deadline - time.monotonic(), 0.0))
            except Exception as error:  # noqa: BLE001 - as in _now
                return _internal("bind", error)

        return await self._answer(request, "bind", work)

    async def inspect(self, request: web.Request) -> web.Response:
        """GET /inspect: state and last calls of the extender; for clients with a certificate, and on loopback."""
        if not peer_common_names(request) and not is_loopback(request.remote or ""):
            raise web.HTTPForbidden(
                text="/inspect answers only clients with a certificate and clients on this machine\n"
            )
        extender = self._extender
        shown = {
            "ready": not self.unready,
            "unready": self.unready,
            "verbs": extender.offer.verbs,
            "nodes": extender.cluster_state.columns.n_nodes,
            "assumedPods": [
                {"pod": pod, "node": node} for pod, node in (extender.binder.assumed() if extender.binder else ())
            ],
            **self._describe(),
            "calls": self._history.latest(),
        }
        return web.Response(body=msgspec.json.encode(shown), content_type="application/json")

    # --- one call ---

    def quick_handlers(self) -> dict[bytes, QuickHandler]:
        """What answers small calls in one step, by path: everything but bind, and a filter that has to wait."""
        verbs, singles = self._extender.verbs, self._extender.singles
        paths = {
            "/filter": ("filter", verbs),
            "/prioritize": ("prioritize", verbs),
            "/preempt": ("preempt", verbs),
            "/preemption": ("preempt", verbs),
            **{f"/predicates/{name}": ("filter", single) for name, single in singles.items()},
            **{f"/priorities/{name}": ("prioritize", single) for name, single in singles.items()},
        }
        may_wait = {"filter"} if self._extender.pods_in_flight is not None else set()
        return {
            path.encode(): self._quick(verb, chosen, path)
            for path, (verb, chosen) in paths.items()
            if verb not in may_wait
        }

    def _quick(self, verb: str, verbs: Verbs, path: str) -> QuickHandler:
        def answer_now(body: bytearray) -> QuickAnswer:
            start = time.monotonic()
            with self._metrics.in_flight:
                answer = self._now(verb, verbs, body, _deadline(self._budget))
            self._keep(verb, path, body, answer)
            pieces = answer.pieces
            self._note(verb, answer, time.monotonic() - start)
            return answer.status, _content_type(answer).encode(), pieces

        return QuickHandler(answer_now, lambda remote: self._note_unread(verb, remote, "the client disconnected"))

    async def _at_once(self, request: web.Request, verb: str) -> web.Response:
        name = request.match_info.get("name", "")
        verbs = self._extender.singles.get(name) if name else self._extender.verbs
        if verbs is None:
            known = ", ".join(sorted(self._extender.singles))
            raise web.HTTPNotFound(text=f"no plugin named {name[:100]!r}; expected one of {known}\n")
        chosen = verbs
        checkpoint = _deadline(self._budget)
        end = time.monotonic() + self._budget

        async def answer(body: Body) -> Answer:
            if not await self._bodies.has_room_to_answer(max(end - time.monotonic(), 0.0)):
                return _refused(
                    verb, "kubesched extender: too many answers that clients have not read; try again later"
                )
            if verb == "filter" and self._extender.pods_in_flight is not None and not self.unready:
                return await self._in_turn(self._extender.pods_in_flight, chosen, body, checkpoint)
            return self._now(verb, chosen, body, checkpoint)

        return await self._answer(request, verb, answer)

    async def _in_turn(self, in_flight: PodsInFlight, verbs: Verbs, body: Body, checkpoint: Checkpoint) -> Answer:
        """Answer filter once it is known where the pods went that earlier calls let pass."""
        pod = verbs.pod_of(body)
        if pod is not None:
            await in_flight.settle(pod.uid, min(DECISION_SECONDS, self._budget / 2))
        answer = self._now("filter", verbs, body, checkpoint)
        if pod is not None and answer.n_kept:
            in_flight.add(pod)
        return answer

    def _now(self, verb: str, verbs: Verbs, body: Body, checkpoint: Checkpoint) -> Answer:
        """Answer filter, prioritize or preempt, whatever happens."""
        if self.unready:
            return _refused(verb, f"kubesched extender: not ready: {self.unready}")
        try:
            work: Callable[[Body, Checkpoint], Answer] = getattr(verbs, verb)
            return work(body, checkpoint)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not take the scheduler down
            return _internal(verb, error)
        except BaseException as error:  # noqa: BLE001 - nothing waits in there, so a plugin raised it
            return _refused(verb, f"kubesched extender: a plugin raised {located_line(error)}")

    async def _answer(self, request: web.Request, verb: str, work: Callable[[Body], Awaitable[Answer]]) -> web.Response:
        start = time.monotonic()
        with self._metrics.in_flight:
            try:
                async with self._bodies.receive(request) as body:
                    answer = await work(body)
                    self._keep(verb, _exact_path(request), body, answer)
            except web.HTTPException as error:
                self._note_unread(verb, request.remote, (error.text or error.reason).rstrip())
                raise
            del body
            response = self._bodies.answer(answer.pieces, status=answer.status, content_type=_content_type(answer))
        self._note(verb, answer, time.monotonic() - start)
        return response

    def _note(self, verb: str, answer: Answer, seconds: float) -> None:
        is_near = seconds > _NEAR * self._budget
        self._metrics.note(verb, answer, seconds, is_near=is_near)
        self._history.note(verb, answer, seconds, time.time())
        if answer.error and not answer.pod and not answer.plugin:  # any client can send such calls
            self._unread.note(f"{verb} ?: {answer.error}")
        elif answer.error:
            _LOG.warning(
                "%s %s: %s",
                verb,
                answer.pod or "?",
                answer.error,
                extra={"plugin": answer.plugin} if answer.plugin else {},
            )
        elif is_near:
            _LOG.warning("%s %s took %.3f s of its %g s", verb, answer.pod, seconds, self._budget)
        else:
            _LOG.debug("%s %s: %d of %d nodes, %.3f s", verb, answer.pod, answer.n_kept, answer.n_offered, seconds)

    def _note_unread(self, verb: str, remote: str | None, why: str) -> None:
        self._metrics.note_unread(verb)
        self._unread.note(f"{verb} from {remote}: the body was not read: {why}")

    def _keep(self, verb: str, path: str, body: Body, answer: Answer) -> None:
        """Log the bodies at debug, and record them where that is asked for."""
        if _LOG.isEnabledFor(logging.DEBUG):
            _LOG.debug("%s request: %s", verb, shown_body(body))
            _LOG.debug("%s answer: %s", verb, shown_body(b"".join(answer.pieces)))
        if self._recorder is not None and not self.unready:
            self._recorder.call(path, body, answer)


def add_routes(app: web.Application, service: ExtenderService, paths: VerbPaths) -> None:
    """The verbs, and each also in the style of common samples, and all of them below a prefix, too."""
    app.router.add_routes(
        [
            web.post("/filter", service.filter, expect_handler=expect_body),
            web.post("/prioritize", service.prioritize, expect_handler=expect_body),
            web.post("/preempt", service.preempt, expect_handler=expect_body),
            web.post("/bind", service.bind, expect_handler=expect_body),
            web.post("/predicates/{name}", service.filter, expect_handler=expect_body),
            web.post("/priorities/{name}", service.prioritize, expect_handler=expect_body),
            web.post("/preemption", service.preempt, expect_handler=expect_body),
            web.get("/inspect", service.inspect),
        ]
    )
    app.router.register_resource(BelowPrefix(app.router, paths))
    app[SHOWN_PATH] = paths.shown


def _exact_path(request: web.Request) -> str:
    """The path of a call without a prefix."""
    resource = request.match_info.route.resource
    assert resource is not None
    return resource.canonical.replace("{name}", request.match_info.get("name", ""))


def _deadline(seconds: float) -> Checkpoint:
    end = time.monotonic() + seconds

    def checkpoint(_plugin: str) -> None:
        if time.monotonic() > end:
            raise DeadlineExceeded(f"kubesched extender: no answer within {seconds:g}s")

    return checkpoint


def _content_type(answer: Answer) -> str:
    return "application/json" if answer.status != _FAILED else "text/plain"


def _internal(verb: str, error: Exception) -> Answer:
    """An internal fault, for the client and, with its trace, for the log."""
    _LOG.error("%s failed", verb, exc_info=error)
    return _refused(verb, f"kubesched extender: internal error: {in_one_line(error)}")


def _refused(verb: str, error: str) -> Answer:
    """An answer with the error, in the field that the verb has for it."""
    error = utf8_text(error)
    if verb == "filter":
        return Answer([filter_answer_error(error)], error=error)
    if verb == "bind":
        return Answer([binding_answer(error)], error=error)
    return Answer([f"{error}\n".encode()], status=_FAILED, error=error)
