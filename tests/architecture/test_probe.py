"""What watches the calls of plugins is a probe: nobody overrides a Framework, and nothing looks at the stack."""

import ast

from tests.architecture.sources import MODULES, parse_module

STACKS = {"_current_frames", "setprofile", "settrace", "_getframe", "monitoring"}


def bases(tree: ast.AST) -> dict[str, set[str]]:
    """The base classes of each class, by their last names."""
    return {
        node.name: {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in node.bases}
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def stack_readers(tree: ast.AST) -> set[str]:
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return attributes & STACKS


def test_one_framework_reports_to_probes() -> None:
    naming = [one for one in MODULES if one.has_any(["Framework"])]
    overriding = {f"{one.name}.{name}" for one in naming for name, of in bases(one.tree).items() if "Framework" in of}
    assert overriding == {"kubesched.framework.watched_framework.WatchedFramework"}


def test_nothing_looks_at_the_stack() -> None:
    assert {one.name for one in MODULES if one.has_any(STACKS) and stack_readers(one.tree)} == set()


def test_another_way_to_watch_is_found() -> None:
    tree = parse_module("kubesched.metrics.timed", "class Timed(Framework): pass\nsys._current_frames()").tree
    assert bases(tree) == {"Timed": {"Framework"}}
    assert stack_readers(tree) == {"_current_frames"}
