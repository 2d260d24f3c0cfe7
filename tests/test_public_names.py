"""The names that `from kubesched import ...` gives: listed, documented."""

import ast
import inspect
from pathlib import Path

import pytest

import kubesched

SOURCE = ast.parse(Path(kubesched.__file__).read_text(encoding="utf-8"))
FUNCTIONS_AND_CLASSES = [name for name in kubesched.__all__ if not name.startswith("__")]


def test_every_name_is_listed():
    (block,) = [node for node in SOURCE.body if isinstance(node, ast.With)]
    imported = [alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert kubesched.__all__ == sorted([*imported, "__version__"])


@pytest.mark.parametrize("name", FUNCTIONS_AND_CLASSES)
def test_every_public_name_is_documented(name: str):
    found = getattr(kubesched, name)
    if inspect.isclass(found) or inspect.isfunction(found):
        assert found.__doc__


def test_explain_stays_a_function_after_its_room_is_loaded():
    from kubesched import Explanation, explain

    assert callable(explain)
    assert Explanation.__module__.startswith("kubesched.explanation")


def test_the_version_is_a_name_of_the_package():
    assert kubesched.__version__ == kubesched.version.VERSION
