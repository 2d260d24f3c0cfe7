"""`python -m kubesched`."""

import runpy
import sys

import pytest

from kubesched.version import VERSION


def test_the_package_runs_as_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["kubesched", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("kubesched", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"kubesched {VERSION}, ")
