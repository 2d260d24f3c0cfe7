"""Keys of tables and columns have one spelling, which is that of JSON."""

import ast
import re

from tests.architecture.sources import MODULES

KEY = re.compile(r"[a-z][A-Za-z0-9]*")
MAKERS = {"Table", "Column", "victims_table", "_why", "_left", "_placed", "_pending", "_table"}


def keys() -> set[str]:
    """What tables and columns of reports are called, where the source spells it out."""
    modules = (module for module in MODULES if module.has_any(MAKERS))
    calls = (node for module in modules for node in module.nodes if isinstance(node, ast.Call))
    named = (call.args[0] for call in calls if getattr(call.func, "id", "") in MAKERS and call.args)
    return {first.value for first in named if isinstance(first, ast.Constant) and isinstance(first.value, str)}


def test_keys_are_written_in_camel_case():
    spelled = keys()
    assert {"evictedAgain", "keepsIntent"} < spelled
    assert {key for key in spelled if not KEY.fullmatch(key)} == set()
