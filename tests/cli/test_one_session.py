"""A command builds its cluster once: what it tries beside it is tried in a fork."""

from pathlib import Path

import pytest

from kubesched.session import Session
from tests.cli.clusters import run, shop, write

COMMANDS = {
    "simulate": ("simulate",),
    "simulate one by one": ("simulate", "--no-preemption-effects"),
    "simulate with a change": ("simulate", "--cordon", "n2"),
    "simulate with several changes": ("simulate", "--without-nodes", "n1", "--add-nodes", "2", "--like", "n2"),
    "simulate a change one by one": ("simulate", "--cordon", "n2", "--no-preemption-effects"),
    "simulate a change in lines": ("simulate", "--cordon", "n2", "--no-preemption-effects", "-o", "jsonl"),
    "explain a pending pod": ("explain", "default/fits"),
    "explain it in the queue": ("explain", "default/fits", "--queue"),
    "explain a pod on a node": ("explain", "default/cheap"),
    "explain all": ("explain",),
    "explain on a node": ("explain", "default/huge", "--node", "n1"),
    "fit": ("fit", "--resource", "cpu=1"),
    "fit --max": ("fit", "--resource", "cpu=1", "--max"),
    "drain": ("drain", "n1"),
    "drain --each": ("drain", "--each"),
    "check": ("check",),
}
N_SESSIONS = {"fit --max": 2}  # pods that are pending take room: the new ones are asked about without them, too


@pytest.mark.parametrize("name", COMMANDS)
def test_one_session_is_built(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    original = Session.__init__

    def counting(self, *arguments, **options) -> None:
        built.append(type(self))
        original(self, *arguments, **options)

    monkeypatch.setattr(Session, "__init__", counting)
    command, *options = COMMANDS[name]
    result = run(command, str(write(tmp_path, *shop())), *options)
    assert result.exit_code in (0, 1), result.stderr
    assert built == [Session] * N_SESSIONS.get(name, 1)
