"""The HTTPS endpoints of a scheduler: health, metrics, its configuration and its version.

They run in a separate thread with a separate event loop and separate clients of the API server. Nothing that they do
needs the main loop, so they answer while a plugin keeps it busy. Health checks run in that thread, collectors in
another one: they must read single values, or copy in one step.

Rule: kube-scheduler v1.36.3, --secure-port. /version is ours; /metrics/slis, /flagz, /statusz, /debug/pprof and
/debug/flags are missing.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
from aiohttp import web

from kubesched.cluster import ApiClient
from kubesched.config import KubeSchedulerConfiguration, effective, without_secrets
from kubesched.live.delegated_auth import DelegatedAuth
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.serving import (
    HEALTH_PATHS,
    Check,
    LoopThread,
    Registry,
    Server,
    ServerOptions,
    TlsFiles,
    add_checks,
    add_metrics,
    add_version,
    pair_in_memory,
    ping,
    self_signed_pair,
)

NewClient = Callable[[str], ApiClient]
"""Builds a client with the credentials of a kubeconfig; of the scheduler itself for ""."""

_PAIR_NAME: Final = "kube-scheduler"  # as kube-scheduler names the files
_MAX_CONNECTIONS: Final = 128
_DRAIN_SECONDS: Final = 2.0


class EndpointOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where the endpoints are, and who may ask them.

    Attributes:
        host, port: to listen on; port 0 picks a free port.
        certificate, key: PEM files, both or none; without them, the server makes a certificate for itself.
        certificate_folder: for a pair that the server makes, kept for the next start; in memory without.
        client_ca: authorities of client certificates.
        min_version, cipher_suites: of TLS.
        authentication_kubeconfig, authorization_kubeconfig: for reviews; the scheduler's own where empty.
        always_allow_paths: that anyone may ask.
    """

    host: str = "127.0.0.1"
    port: int = 10259
    certificate: Path | None = None
    key: Path | None = None
    certificate_folder: Path | None = None
    client_ca: Path | None = None
    min_version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_2
    cipher_suites: tuple[str, ...] = ()
    authentication_kubeconfig: str = ""
    authorization_kubeconfig: str = ""
    always_allow_paths: tuple[str, ...] = HEALTH_PATHS


class HealthChecks(msgspec.Struct, frozen=True, kw_only=True):
    """What the health paths ask; each is called in the thread of the endpoints.

    Attributes:
        leader_election: what is wrong with the lease; None without leader election.
        is_stopping: whether the process ends.
        is_synced: whether everything that exists is known.
    """

    leader_election: Check | None = None
    is_stopping: Callable[[], bool]
    is_synced: Callable[[], bool]


class Endpoints:
    """Serves inside `async with`.

    Args:
        configuration: shown at /configz, as the version of the release does.
        checks: for the health paths.
        metrics: shown at /metrics.
        resources: shown at /metrics/resources, where there is one.
        new_client: called in the thread of the endpoints.

    Attributes:
        url: where they are, inside `async with`.
    """

    def __init__(
        self,
        options: EndpointOptions,
        configuration: KubeSchedulerConfiguration,
        checks: HealthChecks,
        *,
        metrics: Registry,
        resources: Registry | None = None,
        new_client: NewClient,
        release: Release = DEFAULT_RELEASE,
    ) -> None:
        self.url = ""
        self._options = options
        self._configuration = configuration
        self._release = release
        self._checks = checks
        self._metrics = metrics
        self._resources = resources
        self._new_client = new_client
        self._stack = AsyncExitStack()
        self._thread: LoopThread | None = None

    async def __aenter__(self) -> Self:
        """Open the port.

        Raises:
            InputError: the port or a file cannot be used.
            ClusterError: a kubeconfig has no usable credentials.
        """
        self._thread = thread = LoopThread("endpoints")
        try:
            await thread.call(self._open())
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Answer what is in flight, then close the port."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await thread.call(self._stack.aclose())
            await thread.stop()

    # --- in the thread ---

    async def _open(self) -> None:
        options, stack = self._options, self._stack
        authentication = await stack.enter_async_context(self._new_client(options.authentication_kubeconfig))
        authorization = await stack.enter_async_context(self._new_client(options.authorization_kubeconfig))
        auth = DelegatedAuth(authentication, authorization, always_allow_paths=options.always_allow_paths)
        app = web.Application()
        server_options = ServerOptions(
            host=options.host,
            port=options.port,
            tls=self._tls_files(),
            max_connections=_MAX_CONNECTIONS,
            drain_seconds=_DRAIN_SECONDS,
        )
        server = Server(app, server_options)
        app.middlewares.append(auth.check)
        self._add_routes(app)
        await server.start()
        self.url = server.url
        stop = asyncio.Event()
        run = asyncio.create_task(server.run(stop), name="endpoints")

        async def end() -> None:
            stop.set()
            await run

        stack.push_async_callback(end)

    def _tls_files(self) -> TlsFiles:
        options = self._options
        if options.certificate is not None and options.key is not None:
            certificate, key = options.certificate, options.key
        elif options.certificate_folder is not None:
            certificate, key = self_signed_pair(options.certificate_folder, _PAIR_NAME)
        else:
            certificate, key = self._stack.enter_context(pair_in_memory(_PAIR_NAME))
        return TlsFiles(
            certificate=certificate,
            key=key,
            client_ca=options.client_ca,
            requires_client=False,  # a bearer token is as good
            min_version=options.min_version,
            cipher_suites=options.cipher_suites,
        )

    def _add_routes(self, app: web.Application) -> None:
        checks = self._checks
        election = {} if checks.leader_election is None else {"leaderElection": checks.leader_election}
        add_checks(app, "/healthz", election or {"ping": ping})
        add_checks(app, "/livez", {"ping": ping})
        add_checks(app, "/readyz", {**election, "shutdown": self._shutdown, "sched-handler-sync": self._handler_sync})
        add_metrics(app, self._metrics)
        if self._resources is not None:
            add_metrics(app, self._resources, "/metrics/resources")
        add_version(app)
        app.router.add_get("/configz", self._answer_configz)

    def _shutdown(self) -> str:
        return "process is shutting down" if self._checks.is_stopping() else ""

    def _handler_sync(self) -> str:
        return "" if self._checks.is_synced() else "handlers are not fully synchronized"

    async def _answer_configz(self, _request: web.Request) -> web.Response:
        shown = without_secrets(effective(self._configuration, self._release))
        body = msgspec.json.encode({"componentconfig": shown})
        return web.Response(body=body, content_type="application/json")
