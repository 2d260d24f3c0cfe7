"""Credentials from an external program: `exec` in a kubeconfig, as cloud providers use it.

Rule: client.authentication.k8s.io/v1 and v1beta1: the program gets the request in KUBERNETES_EXEC_INFO and prints
an ExecCredential. Its standard error goes where ours goes, as with kubectl: login hints go there. Nothing that it
prints to standard output, which is secret, gets into a message.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final

import msgspec

from kubesched.cluster.credentials import Auth, Credentials
from kubesched.cluster.timing import Timing
from kubesched.documents import describe_fault
from kubesched.errors import UnauthorizedError

EXEC_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")

_SECONDS_TO_ANSWER: Final = 60.0
_SECONDS_TO_END: Final = 5.0
_SECONDS_TO_LOG_IN: Final = 600.0  # somebody types a password, or looks for the browser window
_MAX_OUTPUT: Final = 2**20
_RENEW_BEFORE_EXPIRY: Final = 75.0  # so that a program may take all its time, and fail, once
_KEEP_AT_LEAST: Final = 10.0  # however soon the answer of the program expires
_RETRY_SECONDS: Final = 10.0  # of a program that failed while its last answer holds
_log = logging.getLogger(__name__)


class ExecCluster(msgspec.Struct, frozen=True, rename="kebab", omit_defaults=True):
    """What the program gets about the cluster, with `provideClusterInfo`."""

    server: str
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority_data: bytes = b""
    proxy_url: str = ""
    disable_compression: bool = False
    config: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class ExecPlugin(msgspec.Struct, frozen=True):
    """A program to run.

    Attributes:
        label: how messages call it, such as `kubeconfig k: users[0].user.exec`.
        api_version: one of EXEC_VERSIONS.
        command: a path, or a name to be found in PATH.
        env: added to our own environment.
        install_hint: shown when there is no such program.
        interactive_mode: `Never`, `IfAvailable` or `Always`; whether it may read our standard input.
        cluster: passed on, if it asked for it.
    """

    label: str
    api_version: str
    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    install_hint: str = ""
    interactive_mode: str = "IfAvailable"
    cluster: ExecCluster | None = None

    def __repr__(self) -> str:
        return f"ExecPlugin({self.command!r})"


class _Request(msgspec.Struct, rename="camel", omit_defaults=True):
    interactive: bool
    cluster: ExecCluster | None = None


class _Info(msgspec.Struct, rename="camel"):
    api_version: str
    spec: _Request
    kind: str = "ExecCredential"


class _Granted(msgspec.Struct, rename="camel"):
    expiration_timestamp: datetime | None = None
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None

    @property
    def fault(self) -> str:
        """What is missing, empty if nothing is."""
        if bool(self.client_certificate_data) != bool(self.client_key_data):
            return "has only one of status.clientCertificateData and status.clientKeyData; expected both or none"
        if not self.token and not self.client_key_data:
            return "has neither status.token nor a client certificate; at least one is needed"
        if self.token and not self.token.isprintable():
            return "has a line break or a control character in status.token"
        return ""


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Granted | None = None


class ExecCredentials(Credentials):
    """Runs the program when there is nothing to show yet, shortly before that expires, or when it was not accepted.

    The lease is lost if requests wait too long. So before the last answer expires, the program runs in the background.

    Args:
        plugin: the program.
        is_terminal: whether our standard input is a terminal; asked of the machine when None.
    """

    def __init__(self, plugin: ExecPlugin, timing: Timing, *, is_terminal: bool | None = None) -> None:
        self._plugin = plugin
        self._timing = timing
        self._is_terminal = sys.stdin is not None and sys.stdin.isatty() if is_terminal is None else is_terminal
        self._lock = asyncio.Lock()
        self._auth: Auth | None = None
        self._renew_at = self._expires_at = float("inf")
        self._renewing: asyncio.Task[Auth] | None = None  # until then, the last answer is in use

    async def current(self) -> Auth:
        """The last answer of the program, or a new one once that has expired.

        Raises:
            UnauthorizedError: it cannot be run, fails, or gives no credentials.
        """
        now = self._timing.now()
        if self._auth is None or now >= max(self._renew_at, self._expires_at):
            return await self._renew_if_due()
        if now >= self._renew_at and self._renewing is None:
            self._renewing = asyncio.create_task(self._renew_if_due())
            self._renewing.add_done_callback(self._end_renewing)
        return self._auth

    async def _renew_if_due(self) -> Auth:
        async with self._lock:
            if self._auth is None or self._timing.now() >= self._renew_at:
                self._auth = await self._run_in_time()
            return self._auth

    def _end_renewing(self, task: asyncio.Task[Auth]) -> None:
        self._renewing = None
        if not task.cancelled() and (error := task.exception()):
            _log.warning("%s; its earlier credentials have expired", error)

    async def renew(self, rejected: Auth) -> Auth:
        """A new answer of the program, unless another request got one since `rejected` was in use.

        Raises:
            UnauthorizedError: as with `current`.
        """
        async with self._lock:
            if self._auth is None or self._auth == rejected:
                self._auth = await self._run()
            return self._auth

    async def _run_in_time(self) -> Auth:
        """A new answer, or the last one if the program fails before it has expired."""
        try:
            return await self._run()
        except UnauthorizedError as error:
            now = self._timing.now()
            if self._auth is None or now >= self._expires_at:
                raise
            self._renew_at = min(now + _RETRY_SECONDS, self._expires_at)
            _log.warning("%s; its earlier credentials stay in use until they expire", error)
            return self._auth

    async def _run(self) -> Auth:
        granted = self._read(await self._ask())
        now = self._timing.now()
        self._renew_at = self._expires_at = float("inf")
        if granted.expiration_timestamp is not None:
            expires = self._expires_at = granted.expiration_timestamp.timestamp()
            self._renew_at = max(expires - _RENEW_BEFORE_EXPIRY, (now + expires) / 2, now + _KEEP_AT_LEAST)
            if expires <= now:
                _log.warning("%s: it returned credentials that have already expired", self._plugin.label)
        return Auth(
            f"Bearer {granted.token}" if granted.token else "",
            (granted.client_certificate_data or "").encode(),
            (granted.client_key_data or "").encode(),
        )

    @property
    def _command(self) -> str:
        return self._plugin.command

    async def _ask(self) -> bytes:
        """What the program prints."""
        plugin = self._plugin
        is_interactive = plugin.interactive_mode != "Never" and self._is_terminal
        if plugin.interactive_mode == "Always" and not is_interactive:
            raise self._fault("asks questions (interactiveMode: Always), but standard input is not a terminal")
        try:
            process = await asyncio.create_subprocess_exec(
                plugin.command,
                *plugin.args,
                stdin=None if is_interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                env=self._environment(os.environ, is_interactive),
                process_group=None if is_interactive else 0,  # only ours may read from the terminal
            )
        except OSError as error:
            hint = f"; {plugin.install_hint.strip()}" if plugin.install_hint else "; install it, or name its full path"
            raise self._fault(f"cannot be run: {error.strerror or error}{hint}") from error
        output = await self._wait(process, _SECONDS_TO_LOG_IN if is_interactive else _SECONDS_TO_ANSWER)
        if process.returncode:
            raise self._fault(f"ended with exit code {process.returncode}; its own message is above")
        return output

    def _environment(self, ours: Mapping[str, str], is_interactive: bool) -> dict[str, str]:
        plugin = self._plugin
        info = _Info(plugin.api_version, _Request(is_interactive, plugin.cluster))
        text = msgspec.json.encode(info).decode()
        return {**ours, **dict(plugin.env), "KUBERNETES_EXEC_INFO": text}

    async def _wait(self, process: asyncio.subprocess.Process, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                output = await self._output(process)
                await process.wait()
                return output
        except TimeoutError:
            raise self._fault(f"gave no answer within {seconds:g} s") from None
        finally:
            if process.returncode is None:
                _kill(process)
                await _ended(process)

    async def _output(self, process: asyncio.subprocess.Process) -> bytes:
        output, stream = b"", process.stdout
        while stream is not None and (part := await stream.read(_MAX_OUTPUT)):
            output += part
            if len(output) > _MAX_OUTPUT:
                raise self._fault(f"printed more than {_MAX_OUTPUT >> 20} MiB; expected an ExecCredential")
        return output

    def _read(self, output: bytes) -> _Granted:
        try:
            answer = msgspec.json.decode(output, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._fault(f"did not print an ExecCredential: {describe_fault(error)}") from None
        if answer.kind != "ExecCredential" or answer.api_version != self._plugin.api_version:
            raise self._fault(
                f"printed kind {answer.kind!r}, apiVersion {answer.api_version!r}; the kubeconfig says "
                f"'ExecCredential', {self._plugin.api_version!r}"
            )
        if answer.status is None:
            raise self._fault("printed an ExecCredential without status")
        if answer.status.fault:
            raise self._fault(f"printed an ExecCredential that {answer.status.fault}")
        return answer.status

    def _fault(self, what: str) -> UnauthorizedError:
        return UnauthorizedError(f"{self._plugin.label}: {self._plugin.command!r} {what}", status=401)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a program that was killed. Its output is read until then: while the pipe is full, its end is
    not noticed. A child that left the process group may keep the pipe open, and is not waited for.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS_TO_END):
            while process.stdout is not None and await process.stdout.read(_MAX_OUTPUT):
                pass
            await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    """End a program with everything that it has started, if it leads a process group."""
    with suppress(ProcessLookupError):
        if hasattr(os, "killpg") and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
