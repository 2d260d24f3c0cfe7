"""A property that holds for the inputs of `make test`, and not for all that the campaign tries."""

from pathlib import Path

import pytest

from campaigns.properties.campaign import ROOT, files_with_properties, run

PROPERTY = """\
import pytest
from tests.trials import examples, seeds

@pytest.mark.parametrize("seed", seeds(2))
def test_seeds(seed):
    assert seed != 4

def test_examples():
    assert examples(10).max_examples == 30
"""


def test_more_inputs_are_tried(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "test_seeds.py"
    file.write_text(PROPERTY)
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert False\n")
    assert files_with_properties(tmp_path) == [file]
    assert run([file], 3, "-p", "no:cacheprovider", "-n0") == 1
    printed = capfd.readouterr().out
    assert "test_seeds[4]" in printed
    assert "1 failed, 6 passed" in printed


def test_properties_of_the_tests_are_found() -> None:
    found = {str(file.relative_to(ROOT)) for file in files_with_properties(ROOT / "tests")}
    assert {"tests/properties/test_column_rules.py", "tests/planning/test_drain_properties.py"} <= found
