"""One round of small uploads that break off: the extender counts them and gives their memory back."""

from pathlib import Path

import pytest

from campaigns.memory import scenarios
from campaigns.memory.scenarios import Size, play


def test_uploads_that_break_off_do_no_harm(tmp_path: Path) -> None:
    account = play("small uploads, reset", tmp_path, Size(rounds=1, clients=10))
    assert account.harm == []
    assert account.before > 10


def test_harm_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "GROWTH", 0.5)
    monkeypatch.setattr(scenarios, "SETTLE_SECONDS", 0.2)
    (harm,) = play("announced bodies", tmp_path, Size(rounds=1, clients=5)).harm[-1:]
    assert "MiB after it" in harm
