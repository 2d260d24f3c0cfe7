"""Health checks and the version, in the format of Kubernetes' own components.

Rule: Kubernetes API health endpoints: `ok`, or with `?verbose` and on failure one line for each check; 500 on failure.
"""

import logging
import platform
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from aiohttp import web

from kubesched.version import VERSION

HEALTH_PATHS: Final = ("/healthz", "/livez", "/readyz")

Check = Callable[[], str]
"""Returns what is wrong, in a few words; "" when nothing is. Called on the event loop, so it must be quick."""

_LOG: Final = logging.getLogger(__name__)
_HEADERS: Final = {"Cache-Control": "no-cache, private", "X-Content-Type-Options": "nosniff"}


def add_health(app: web.Application, *, live: Mapping[str, Check], ready: Mapping[str, Check]) -> None:
    """Answer /healthz, /livez, /readyz, each with `/NAME` for one check, and /version.

    Args:
        app: gets the routes.
        live: what only a restart would fix; asked by /livez and /healthz.
        ready: what else has to be true before requests make sense; asked by /readyz.
    """
    alive = {"ping": ping, **live}
    for path, checks in zip(HEALTH_PATHS, (alive, alive, {**alive, **ready}), strict=True):
        add_checks(app, path, checks)
    add_version(app)


def add_checks(app: web.Application, path: str, checks: Mapping[str, Check]) -> None:
    """Answer a path with all checks, and `PATH/NAME` with one of them."""
    app.router.add_get(path, _Endpoint(path.strip("/"), checks).answer)
    for name, check in checks.items():
        app.router.add_get(f"{path}/{name}", _Endpoint(name, {name: check}).answer)


def add_version(app: web.Application) -> None:
    """Answer /version."""
    app.router.add_get("/version", _answer_version)


def ping() -> str:
    """Find nothing wrong: the server answers."""
    return ""


class _Endpoint:
    def __init__(self, name: str, checks: Mapping[str, Check]) -> None:
        self._name = name
        self._checks = checks

    async def answer(self, request: web.Request) -> web.Response:
        """Run the checks that are not excluded."""
        excluded = set(request.query.getall("exclude", ()))
        faults = {name: "" if name in excluded else check() for name, check in self._checks.items()}
        failed = {name: fault for name, fault in faults.items() if fault}
        if not failed and "verbose" not in request.query:
            return web.Response(text="ok", headers=_HEADERS)
        if failed:
            _LOG.warning("%s failed: %s", self._name, "; ".join(f"{name}: {fault}" for name, fault in failed.items()))
        lines = [_line(name, fault, name in excluded) for name, fault in faults.items()]
        if unknown := sorted(excluded - faults.keys()):
            quoted = ",".join(f'"{name}"' for name in unknown)
            lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
        text = "\n".join([*lines, f"{self._name} check {'failed' if failed else 'passed'}", ""])
        return web.Response(status=500 if failed else 200, text=text, headers=_HEADERS)


def _line(name: str, fault: str, excluded: bool) -> str:
    if excluded:
        return f"[+]{name} excluded: ok"
    return f"[-]{name} failed: {fault}" if fault else f"[+]{name} ok"


async def _answer_version(_request: web.Request) -> web.Response:
    """Answer with the fields of Kubernetes' version.Info; those that are Go's are empty."""
    major, minor = VERSION.split(".")[:2]
    info = {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{VERSION}",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "",
        "goVersion": "",
        "compiler": platform.python_implementation(),
        "platform": f"{platform.system().lower()}/{platform.machine()}",
    }
    return web.Response(body=msgspec.json.encode(info), content_type="application/json", headers=_HEADERS)
