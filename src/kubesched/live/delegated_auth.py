"""Asks the API server who a client is and what it may do.

Rule: kube-scheduler v1.36.3, delegated authentication and authorization. A client certificate gives the user and its
groups, a bearer token a TokenReview; a client without either is system:anonymous, and a wrong token is answered 401. A
SubjectAccessReview decides on the path, except for some paths and for system:masters; a token is reviewed for those
paths, too. Answers hold for 10 seconds.

One difference: a client certificate of another authority fails the TLS handshake, where kube-scheduler answers 401.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Final, Generic, TypeVar

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from kubesched.cluster import ApiClient
from kubesched.errors import ClusterError
from kubesched.serving import peer_common_names, peer_organizations

_SECONDS: Final = 10.0
_MAX_KEPT: Final = 1000
_AUTHENTICATED: Final = "system:authenticated"
_ALWAYS_ALLOWED_GROUP: Final = "system:masters"
_TOKEN_REVIEWS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
_ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_HEADERS: Final = {"Cache-Control": "no-cache, private", "X-Content-Type-Options": "nosniff"}
_LOG: Final = logging.getLogger("kubesched.endpoints")

A = TypeVar("A")


class _User(msgspec.Struct, frozen=True, omit_defaults=True):
    """A client, as TokenReviews and SubjectAccessReviews have it."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class _TokenReviewStatus(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: _User = _User()


class _TokenReview(msgspec.Struct, frozen=True):
    status: _TokenReviewStatus = _TokenReviewStatus()


class _AccessReviewStatus(msgspec.Struct, frozen=True):
    allowed: bool = False
    reason: str = ""


class _AccessReview(msgspec.Struct, frozen=True):
    status: _AccessReviewStatus = _AccessReviewStatus()


_ANONYMOUS: Final = _User("system:anonymous", groups=("system:unauthenticated",))


class DelegatedAuth:
    """Lets requests pass whose client may ask for their path.

    Args:
        authentication, authorization: clients for the two kinds of review.
        always_allow_paths: asked by anyone; a path that ends with `*` stands for all that begin like it.
    """

    def __init__(
        self, authentication: ApiClient, authorization: ApiClient, *, always_allow_paths: Collection[str]
    ) -> None:
        self._authentication = authentication
        self._authorization = authorization
        self._always_allowed = {path for path in always_allow_paths if not path.endswith("*")}
        self._always_allowed_prefixes = tuple(path[:-1] for path in always_allow_paths if path.endswith("*"))
        self._users: _Recent[_User | None] = _Recent(authentication.timing.monotonic)
        self._verdicts: _Recent[_AccessReviewStatus] = _Recent(authorization.timing.monotonic)

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pass a request on, or answer 401, 403, or 500 where the API server has no answer."""
        user = await self._user(request)
        if user is None:
            return _refusal(401, "Unauthorized", "Unauthorized")
        path, verb = _served_path(request), request.method.lower()
        try:
            verdict = await self._verdict(user, verb, path)
        except ClusterError as error:
            _LOG.error("cannot authorize a request: %s", error)
            return web.Response(status=500, text=f'Internal Server Error: "{path}": {error}\n', headers=_HEADERS)
        if verdict.allowed:
            return await handler(request)
        because = f": {verdict.reason}" if verdict.reason else ""
        message = f'forbidden: User "{user.username}" cannot {verb} path "{path}"{because}'
        return _refusal(403, "Forbidden", message, details={})

    # --- who ---

    async def _user(self, request: web.Request) -> _User | None:
        """The client; None for a token that is not valid, or that cannot be checked."""
        names = peer_common_names(request)
        if len(names) == 1:
            return _authenticated(_User(names[0], groups=tuple(peer_organizations(request))))
        token = _bearer_token(request.headers.get("Authorization", ""))
        if not token:
            return _ANONYMOUS
        try:
            return await self._users.get(hashlib.sha256(token.encode()).digest(), lambda: self._review_token(token))
        except ClusterError as error:
            _LOG.error("cannot authenticate a request: %s", error)
            return None

    async def _review_token(self, token: str) -> _User | None:
        spec = {"token": token}
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        review = await self._authentication.request("POST", _TOKEN_REVIEWS, body=body, type=_TokenReview, retry=True)
        return _authenticated(review.status.user) if review.status.authenticated else None

    # --- what ---

    async def _verdict(self, user: _User, verb: str, path: str) -> _AccessReviewStatus:
        if (
            _ALWAYS_ALLOWED_GROUP in user.groups
            or path in self._always_allowed
            or path.startswith(self._always_allowed_prefixes)
        ):
            return _AccessReviewStatus(allowed=True)
        spec: dict[str, Any] = {"user": user.username, "uid": user.uid, "groups": user.groups, "extra": user.extra}
        spec["nonResourceAttributes"] = {"path": path, "verb": verb}
        key = hashlib.sha256(msgspec.json.encode(spec)).digest()
        return await self._verdicts.get(key, lambda: self._review_access(spec))

    async def _review_access(self, spec: dict[str, Any]) -> _AccessReviewStatus:
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        review = await self._authorization.request("POST", _ACCESS_REVIEWS, body=body, type=_AccessReview, retry=True)
        return review.status


class _Recent(Generic[A]):
    """Answers of the last seconds; a question that is being asked is not asked twice. Failures are not kept."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._kept: dict[bytes, tuple[float, asyncio.Future[A]]] = {}  # the oldest first

    async def get(self, key: bytes, ask: Callable[[], Awaitable[A]]) -> A:
        """The answer to a question, asked now if need be."""
        now = self._monotonic()
        asked_at, answer = self._kept.get(key, (0.0, None))
        if answer is None or now - asked_at >= _SECONDS:
            self._kept.pop(key, None)
            if len(self._kept) >= _MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            answer = asyncio.ensure_future(ask())
            self._kept[key] = now, answer
        try:
            return await asyncio.shield(answer)
        except Exception:  # raised again: of any kind, since a fault that was kept would be answered for seconds
            if self._kept.get(key, (0.0, None))[1] is answer:
                del self._kept[key]
            raise


def _authenticated(user: _User) -> _User:
    if _AUTHENTICATED in user.groups:
        return user
    return msgspec.structs.replace(user, groups=(*user.groups, _AUTHENTICATED))


def _bearer_token(header: str) -> str:
    """The token of an Authorization header; "" for one without. Bytes that are not UTF-8 are replaced, as by Go."""
    scheme, _, rest = header.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip().partition(" ")
    return rest.partition(" ")[0] if scheme.lower() == "bearer" else ""


def _served_path(request: web.Request) -> str:
    """The path that answers the request, which is /metrics for `//metrics`; as it is where there is none."""
    resource = request.match_info.route.resource
    return request.path if resource is None else resource.canonical


def _refusal(code: int, reason: str, message: str, **more: object) -> web.Response:
    """A Status, as API servers answer."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message}
    body = msgspec.json.encode({**status, "reason": reason, **more, "code": code}) + b"\n"
    return web.Response(status=code, body=body, content_type="application/json", headers=_HEADERS)
