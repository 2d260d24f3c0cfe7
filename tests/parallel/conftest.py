"""Two cores, and work that always goes to workers."""

import pytest

from kubesched.parallel import carried_out


@pytest.fixture(autouse=True)
def two_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carried_out, "_WORTH_SECONDS", -1.0)
    monkeypatch.setattr(carried_out, "_LONG_SECONDS", -1.0)
    monkeypatch.setattr(carried_out, "n_cores", lambda: 2)
