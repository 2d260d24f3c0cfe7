"""What the doors list is sorted, complete and there; what an import may load."""

import ast
import importlib
import json
import subprocess
import sys

import pytest

from tests.architecture.sources import ROOT, Module, check_all

NO_DOORS = {"kubesched", "kubesched.pages"}


def export_order(name: str) -> tuple[int, str]:
    """The order that ruff gives `__all__`: constants, classes, functions."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


def public_names(module: Module) -> set[str]:
    """What a door takes from the modules of its own room, and what it defines."""
    names: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(module.name + "."):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return {n for n in names if not n.startswith("_")}


def modules_after(code: str) -> set[str]:
    """Run code in a fresh interpreter and return the top-level modules it loaded."""
    report = "import json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})), file=sys.stderr)"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\n{code}\n{report}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return set(json.loads(done.stderr.splitlines()[-1]))


def own_modules_after(code: str) -> set[str]:
    """Run code in a fresh interpreter and return the modules of kubesched that it loaded."""
    count = "import sys; print(*(m for m in sys.modules if m.partition('.')[0] == 'kubesched'))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r})\n{code}\n{count}"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.split())


def run_help(*arguments: str) -> str:
    """Code that asks the command line for help and goes on."""
    call = f"main({[*arguments, '--help']!r})"
    return f"from kubesched.cli import main\ntry:\n    {call}\nexcept SystemExit as end:\n    assert not end.code"


def unlisted(module: Module) -> list[str]:
    if not module.is_door or module.name in NO_DOORS:
        return []
    return [f"{module.name}: {name} is not in its list" for name in public_names(module) - set(module.exported)]


def listed_twice(module: Module) -> list[str]:
    """Lists that `lazy_exports` makes: `__all__`, and names of modules that have no door."""
    if not module.has_any(["__all__"]):
        return []
    lists = [node for node in module.nodes if isinstance(node, ast.Name) and node.id == "__all__"]
    return [f"{module.name}:{node.lineno}: __all__" for node in lists]


def unsorted(module: Module) -> list[str]:
    """The statements of a door that are not in order."""
    if not module.is_door:
        return []
    places = [statement.module for statement in module.listing]
    lists = [[alias.name for alias in statement.names] for statement in module.listing]
    is_sorted = all(names == sorted(set(names), key=export_order) for names in lists)
    return [] if is_sorted and places == sorted(set(places)) else [f"{module.name}: what it lists is not sorted"]


def unknown(module: Module) -> list[str]:
    loaded = importlib.import_module(module.name) if module.is_door else None
    return [f"{module.name}: has no {n}" for n in module.exported if loaded and getattr(loaded, n, None) is None]


def test_every_door_lists_what_it_gives():
    check_all(unlisted)


def test_no_name_is_listed_twice():
    check_all(listed_twice)


def test_exports_are_sorted_and_stand_once():
    check_all(unsorted)


def test_every_exported_name_exists():
    check_all(unknown)


def test_the_package_root_lists_its_names():
    import kubesched

    assert set(kubesched.__all__) <= set(dir(kubesched))


def test_an_unknown_name_of_the_package_root_is_an_attribute_error():
    import kubesched

    with pytest.raises(AttributeError, match="Nonsense"):
        kubesched.Nonsense  # noqa: B018


def test_import_kubesched_loads_neither_numpy_nor_msgspec():
    assert not {"numpy", "msgspec", "yaml", "click", "rich"} & modules_after("import kubesched")


@pytest.mark.parametrize(
    ("names", "most"),
    [
        ("import kubesched.framework", 60),
        ("from kubesched.framework import Plugin", 130),
    ],
)
def test_an_import_loads_what_it_needs(names, most):
    assert len(own_modules_after(names)) < most


def test_a_cluster_without_devices_loads_no_expressions_of_selectors():
    explained = """
from kubesched.explanation import Explainer
from kubesched.testing import make_node, make_pod

with Explainer([make_node("n1"), make_pod("web", requests={"cpu": "900"})]) as explainer:
    assert explainer.fixes(explainer.explain("default/web"))
"""
    assert not {name for name in own_modules_after(explained) if name.startswith("kubesched.cel.")}


def test_help_loads_no_numpy():
    assert "numpy" not in modules_after(run_help())


def test_help_of_every_command_loads_no_numpy():
    from kubesched.cli import main

    assert main.commands
    for name in main.commands:
        assert "numpy" not in modules_after(run_help(name)), name
