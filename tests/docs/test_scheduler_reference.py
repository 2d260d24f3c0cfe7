"""The reference of `kubesched scheduler` names every option, path, series, and reason for the end of a watch."""

import re

import click
import pytest
from aiohttp import web

from kubesched.cli.scheduler_command import scheduler
from kubesched.cluster import Discard, Restart
from kubesched.live import EndpointOptions, Endpoints, HealthChecks
from kubesched.serving import Registry
from kubesched.setup import set_up
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "reference" / "scheduler.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [scheduler, *scheduler.commands.values()], ids=lambda command: command.name)
def test_every_option_is_described(command: click.Command):
    shown = [param for param in command.params if not getattr(param, "hidden", False)]
    names = {name for param in shown for name in (*param.opts, *param.secondary_opts)}
    assert {name for name in names if name.startswith("--") and f"`{name}" not in PAGE} == set()


def test_every_described_option_exists():
    names = {name for one in (scheduler, *scheduler.commands.values()) for param in one.params for name in param.opts}
    assert {name for name in re.findall(r"`(--[a-z-]+)", PAGE) if name not in names} == set()


def test_every_path_is_described():
    checks = HealthChecks(leader_election=lambda: "", is_stopping=lambda: False, is_synced=lambda: True)
    app = web.Application()
    Endpoints(
        EndpointOptions(),
        set_up().configuration,
        checks,
        metrics=Registry(),
        resources=Registry(),
        new_client=lambda kubeconfig: None,
    )._add_routes(app)
    paths = {resource.canonical for resource in app.router.resources()}
    checks_alone = {path for path in paths if path.startswith(("/healthz/", "/livez/", "/readyz/"))}
    assert "/readyz/leaderElection" in checks_alone
    assert {path for path in paths - checks_alone if f"`{path}`" not in PAGE} == set()
    names = {path.rpartition("/")[2] for path in checks_alone if path.startswith("/readyz/")}
    assert {name for name in names if f"\n| `{name}` |" not in PAGE} == set()


def test_every_series_of_shadow_mode_is_described():
    source = (ROOT / "src/kubesched/metrics/shadow_metrics.py").read_text(encoding="utf-8")
    series = set(re.findall(r'"(kubesched_[a-z_]+)"', source))
    assert series
    assert {name for name in series if f"`{name}`" not in PAGE and f"`{name}_total`" not in PAGE} == set()


def test_every_reason_for_a_discarded_event_is_described():
    section = PAGE.partition("\n## Events\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == {reason.value for reason in Discard}


def test_every_reason_of_a_log_line_is_described():
    logged = {restart.value for restart in Restart} - {Restart.CLOSED.value}
    assert set(re.findall(r"^\| `\((\w+)\)`", PAGE, re.MULTILINE)) == logged
