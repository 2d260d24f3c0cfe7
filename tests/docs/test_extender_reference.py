"""The reference of the extender names every option of its commands and every path of its server."""

import re

import click
import pytest
from aiohttp import web

from kubesched.cli.extender import extender
from kubesched.extender.paths import VerbPaths
from kubesched.extender.service import add_routes
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "extender.md").read_text(encoding="utf-8")
FAULTS = (ROOT / "docs" / "reference" / "extender-faults.md").read_text(encoding="utf-8")


def options(command: click.Command) -> set[str]:
    """The long options of a command."""
    return {name for param in command.params for name in (*param.opts, *param.secondary_opts) if name.startswith("--")}


@pytest.mark.parametrize("command", [extender, *extender.commands.values()], ids=lambda command: command.name)
def test_every_option_is_described(command: click.Command):
    assert {name for name in options(command) if f"`{name}" not in PAGE} == set()


def test_every_path_is_described():
    class Anything:
        def __getattr__(self, name: str) -> object:
            async def handler(request: web.Request) -> web.Response:
                raise NotImplementedError

            return handler

    app = web.Application()
    add_routes(app, Anything(), VerbPaths(()))
    paths = {resource.canonical.replace("{name}", "NAME") for resource in app.router.resources()} - {"/{path}"}
    assert {path for path in paths if f"`{path}`" not in PAGE} == set()


def test_every_series_is_described():
    source = (ROOT / "src/kubesched/extender/extender_metrics.py").read_text(encoding="utf-8")
    series = set(re.findall(r'"(kubesched_[a-z_]+)"', source))
    assert len(series) > 10
    assert {name for name in series if f"`{name}`" not in PAGE and f"`{name}_total`" not in PAGE} == set()


def test_every_fault_names_its_tests():
    rows = [line.split(" | ") for line in FAULTS.splitlines() if line.startswith("| ")]
    faults = [row for row in rows if row[0] != "| fault"]
    assert len(faults) > 30
    for row in rows:
        assert len(row) == 5, row[0]
    for row in faults:
        assert re.search(r"\(\.\./\.\./(tests|campaigns)/[a-z/_]*/[a-z_]+\.py\)", row[-1]), row[0]
