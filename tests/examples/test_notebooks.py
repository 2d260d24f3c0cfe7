"""The notebooks of examples/ run, and the outputs in them are what their code gives today."""

from importlib.util import find_spec

import pytest

from tests.examples.notebooks import COLUMNS, NOTEBOOKS, as_text, executed

pytestmark = pytest.mark.skipif(not find_spec("pandas"), reason="pandas is not installed: install the extra [dev]")


@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_the_outputs_of_a_notebook_are_current(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(NOTEBOOKS)
    monkeypatch.setenv("COLUMNS", COLUMNS)
    stored = (NOTEBOOKS / name).read_text(encoding="utf-8")
    current = as_text(executed(NOTEBOOKS / name))
    assert current == stored, "write the outputs again: python -m tests.examples.notebooks"
