"""The paths of the verbs: exact ones, and the same below a prefix, because an urlPrefix may have a path."""

import logging
import re
import time
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import unquote

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kubesched.documents import shorten
from kubesched.errors import InputError
from kubesched.framework import LimitedLog
from kubesched.serving import QuickHandler

_VERBS: Final = ("filter", "prioritize", "preempt", "preemption", "bind")
_STYLES: Final = ("predicates", "priorities")
_SEGMENT: Final = re.compile(r"[\w.~!$&'()*+,;=:@-]+")  # of a path in a URL, without %: paths are compared decoded
_ADVICE: Final = "compare urlPrefix and the verbs in kube-scheduler's configuration"
_LOG: Final = logging.getLogger("kubesched.extender")


class VerbPaths:
    """Which verb a path below a prefix asks for.

    Args:
        singles: names of plugins that are served separately, at `/predicates/NAME` and `/priorities/NAME`.
        prefix: the only one; None allows any.
    Raises:
        InputError: no client can call a path below the prefix.
    """

    def __init__(self, singles: Collection[str], prefix: str | None = None) -> None:
        self._singles = frozenset(singles)
        self._prefix = None if prefix is None else _checked(prefix)

    def exact(self, path: str) -> str:
        """Return the exact path that a raw path below a prefix stands for; "" where it asks for no verb.

        Example:
            assert VerbPaths(()).exact("/api/scheduler/filter") == "/filter"
        """
        path = unquote(path)
        if self._prefix is not None:
            if not path.startswith(f"{self._prefix}/"):
                return ""
            rest = path[len(self._prefix) :]
            return rest if rest == self._last(rest) else ""
        return self._last(path)

    def shown(self, path: str) -> str:
        """Return the path of a route as clients should call it: that of a verb below the only prefix, if there is one.

        Example:
            assert VerbPaths((), "/api").shown("/filter") == "/api/filter"
        """
        return f"{self._prefix}{path}" if self._prefix and self._last(path) == path else path

    def _last(self, path: str) -> str:
        """The end of a path that is a verb, as an exact path."""
        before, _, last = path.rpartition("/")
        style = before.rpartition("/")[2]
        if style in _STYLES and (last in self._singles or last not in _VERBS):
            return f"/{style}/{last}"  # also of a plugin that does not exist, for the answer that names those that do
        return f"/{last}" if last in _VERBS else ""


def _checked(prefix: str) -> str:
    """A prefix as paths begin with it; empty for none."""
    segments = prefix.strip("/").split("/")
    if segments == [""]:
        return ""
    if all(_SEGMENT.fullmatch(one) and one not in (".", "..") for one in segments):
        return f"/{'/'.join(segments)}"
    shown = shorten(prefix.encode(errors="backslashreplace").decode())
    raise InputError(
        f"--path-prefix: found {shown}; expected the path of urlPrefix alone, for example /api/scheduler: "
        "without host, query, %, blanks, and empty, . or .. segments"
    )


class BelowPrefix(web.DynamicResource):
    """Resolves a path below a prefix to the route of the exact path."""

    def __init__(self, router: web.UrlDispatcher, paths: VerbPaths) -> None:
        super().__init__("/{path:.*}")
        self._router = router
        self._paths = paths

    async def resolve(self, request: web.Request) -> tuple[web.UrlMappingMatchInfo | None, set[str]]:
        """Find the route, and its methods where the request has another."""
        path = request.rel_url.raw_path
        exact = self._paths.exact(path)
        if exact in ("", path):
            return None, set()
        match = await self._router.resolve(request.clone(rel_url=request.rel_url.with_path(exact)))
        refusal = match.http_exception
        if refusal is None:
            return match, set()
        return None, refusal.allowed_methods if isinstance(refusal, web.HTTPMethodNotAllowed) else set()


class QuickBelowPrefix:
    """Quick handlers by path, below a prefix, too."""

    def __init__(self, exact: Mapping[bytes, QuickHandler], paths: VerbPaths) -> None:
        self._exact = exact
        self._paths = paths

    def get(self, path: bytes) -> QuickHandler | None:
        """What answers at a path."""
        handler = self._exact.get(path)
        return handler or self._exact.get(self._paths.exact(path.decode(errors="replace")).encode())


def log_unknown_paths() -> Middleware:
    """Build the middleware that logs what is answered with 404: a warning for each path, a few in a minute."""
    warnings = LimitedLog(_LOG, "%d more requests of unknown paths were not logged", time.monotonic)

    @web.middleware
    async def log(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPNotFound as error:
            text = (error.text or error.reason).rstrip()
            warnings.note(f"{request.method} from {request.remote}: {text}; {_ADVICE}")
            raise

    return log
