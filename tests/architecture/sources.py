"""The source tree as the architecture tests see it: modules, what they import, what they export."""

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
PACKAGE = "kubesched"
DEFINITIONS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
SPLIT = {"pages"}
"""Packages that are no room themselves: each of their packages is one, with a door and a layer of its own."""


@dataclass(frozen=True)
class Import:
    """One imported module, and the names taken from it (none for `import module`)."""

    module: str
    names: tuple[str, ...]
    line: int
    in_function: bool


@dataclass(frozen=True)
class Module:
    """One source file under its dotted name."""

    name: str
    text: str
    is_door: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree, parsed when it is first asked for."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return list(ast.walk(self.tree))

    def has_any(self, words: Iterable[str]) -> bool:
        """Whether one of the words is in its text: to parse no module in vain."""
        return any(word in self.text for word in words)

    @property
    def room(self) -> str:
        """The room it stands in: "api", "errors"; a part of a split package: "pages.formats"."""
        return room_of(self.name)

    @cached_property
    def imports(self) -> list[Import]:
        return list(_find_imports(self.tree, in_function=False))

    @property
    def own_imports(self) -> list[Import]:
        """Imports of kubesched itself."""
        return [i for i in self.imports if i.module.split(".")[0] == PACKAGE]

    @property
    def listing(self) -> list[ast.ImportFrom]:
        """The statements `from MODULE import X as X` of a door, below `with lazy_exports(__name__)`."""
        blocks = [node for node in self.tree.body if isinstance(node, ast.With)]
        return [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]

    @property
    def exported(self) -> list[str]:
        """What the statements of a door list; what any other module defines."""
        if self.is_door:
            return [alias.asname or alias.name for statement in self.listing for alias in statement.names]
        targets = [t for node in self.tree.body for t in getattr(node, "targets", [getattr(node, "target", None)])]
        names = [node.name for node in self.tree.body if isinstance(node, DEFINITIONS)]
        return [name for name in (*names, *(t.id for t in targets if isinstance(t, ast.Name))) if name[0] != "_"]


def room_of(module: str) -> str:
    """Name the room of a dotted module name; the package root is ""."""
    parts = module.split(".")[1:]
    depth = 2 if parts and parts[0] in SPLIT else 1
    return ".".join(parts[:depth])


def parse_module(name: str, text: str, *, is_door: bool = False) -> Module:
    return Module(name, text, is_door)


def source_modules() -> list[Module]:
    """Every module of src, by name."""
    modules = []
    for path in sorted((SRC / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        is_door = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_door else parts)
        modules.append(parse_module(name, path.read_text(encoding="utf-8"), is_door=is_door))
    return modules


class SourceModules:
    """Every module of src, by name, read when a test goes through them, and not when tests are collected."""

    def __init__(self) -> None:
        self._kept: list[Module] | None = None

    def __iter__(self) -> Iterator[Module]:
        return iter(source_modules() if self._kept is None else self._kept)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Parse them once for all tests in the block."""
        self._kept = source_modules()
        yield
        self._kept = None


MODULES = SourceModules()


def _find_imports(node: ast.AST, *, in_function: bool):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, (), child.lineno, in_function)
        elif isinstance(child, ast.ImportFrom):
            module = "." * child.level + (child.module or "")
            yield Import(module, tuple(alias.name for alias in child.names), child.lineno, in_function)
        else:
            inside = in_function or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _find_imports(child, in_function=inside)


def check_all(rule: Callable[[Module], Iterable[str]]) -> None:
    """Hold every module against a rule, and fail with all findings."""
    findings = [finding for module in MODULES for finding in rule(module)]
    assert not findings, "\n".join(findings)
