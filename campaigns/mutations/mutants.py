"""Small changes to a program, each of which some test should notice.

Left alone are texts, annotations, decorators, the options of classes, assertions, log calls, `__all__`, `TYPE_CHECKING`
and `strict` of zip.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

PAIRS: Final[list[tuple[type[ast.AST], type[ast.AST]]]] = [
    *[(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn), (ast.Is, ast.IsNot)],
    *[(ast.And, ast.Or), (ast.BitAnd, ast.BitOr), (ast.Add, ast.Sub), (ast.Mult, ast.FloorDiv)],
]
SWAPPED: Final = dict(PAIRS) | {b: a for a, b in PAIRS} | {ast.Div: ast.Mult, ast.Mod: ast.FloorDiv}
STATEMENTS: Final = {"assignment", "call", "return"}
LOG: Final = {"debug", "info", "warning", "error", "exception", "log"}
FIELDS_LEFT_ALONE: Final = {"annotation", "returns", "decorator_list", "type_params"}
OF_CLASSES_LEFT_ALONE: Final = {"bases", "keywords"}

Site = ast.expr | ast.stmt
Change = tuple[str, Site, Site]  # its kind, the node, and what replaces it


@dataclass(frozen=True)
class Mutant:
    """One change to one file.

    Attributes:
        path: the file, from the root of the working copy.
        line: the number of the line where the change is; `text` is that line.
        kind: comparison, arithmetic, boolean, constant, condition, or one of STATEMENTS.
        old, new: what is changed, as Python writes it.
        lines: from the begin of the statement to the change. A test that executes none of them cannot notice the
            change. Empty for what runs when the module is imported.
        start, end: the bytes of the file that `new` replaces.
    """

    path: str
    line: int
    text: str
    kind: str
    old: str
    new: str
    lines: range
    start: int
    end: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"

    @property
    def change(self) -> str:
        return f"{self.old} → {self.new}"

    @property
    def room(self) -> str:
        """The room of the source that the file is in, such as `state/volumes`."""
        return self.path.removeprefix("src/kubesched/").rpartition("/")[0]

    def applied_to(self, source: bytes) -> bytes:
        """The file with the change."""
        new = self.new if self.kind in STATEMENTS else f"({self.new})"
        return source[: self.start] + new.encode() + source[self.end :]


def find_mutants(source: bytes, path: str) -> list[Mutant]:
    """All changes to a file, in its order."""
    lines = source.split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    found = []
    for kind, node, new, statement in _changes_in(ast.parse(source), None):
        span = (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)
        text = lines[node.lineno - 1].decode().strip()
        around = range(statement.lineno, node.end_lineno + 1) if statement else range(0)
        found.append(Mutant(path, node.lineno, text, kind, ast.unparse(node), ast.unparse(new), around, *span))
    return sorted(set(found), key=lambda mutant: (mutant.start, mutant.end, mutant.new))


def _changes_in(node: ast.AST, statement: ast.stmt | None) -> Iterator[tuple[str, Site, Site, ast.stmt | None]]:
    """The changes to a node and all below it, each with the statement of a function that it is in."""
    if _is_left_alone(node):
        return
    if isinstance(node, ast.stmt) and statement:
        statement = node
    for change in _changes_to(node):
        yield *change, statement
    for name, value in ast.iter_fields(node):
        if name in FIELDS_LEFT_ALONE or (isinstance(node, ast.ClassDef) and name in OF_CLASSES_LEFT_ALONE):
            continue
        is_body = name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes_in(child, node if is_body else statement)


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")) | ast.Assign(targets=[ast.Name("__all__")]):
            return True
        case ast.Assert() | ast.JoinedStr() | ast.keyword(arg="strict"):
            return True
        case ast.Expr(ast.Call(ast.Attribute(attr=name))):
            return name in LOG
    return False


def _changes_to(node: ast.AST) -> Iterator[Change]:
    """The changes to one node."""
    match node:
        case ast.Compare(left, ops, others):
            for i, op in enumerate(ops):
                yield "comparison", node, ast.Compare(left, [*ops[:i], _swapped(op), *ops[i + 1 :]], others)
        case ast.BinOp(left, op, right) if type(op) in SWAPPED and not _is_text(left) and not _is_text(right):
            yield "arithmetic", node, ast.BinOp(left, _swapped(op), right)
        case ast.AugAssign(target, op, value) if type(op) in SWAPPED and not _is_text(value):
            yield "assignment", node, ast.AugAssign(target, _swapped(op), value)
        case ast.BoolOp(op, values):
            yield "boolean", node, ast.BoolOp(_swapped(op), values)
        case ast.UnaryOp(op, operand):
            yield "arithmetic" if isinstance(op, ast.USub) else "boolean", node, operand
        case ast.Constant(bool(value)):
            yield "boolean", node, ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield "constant", node, ast.Constant(value + 1)
        case ast.Expr(ast.Call() | ast.Await(ast.Call())):
            yield "call", node, ast.Pass()
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return", node, ast.Return(ast.Constant(None))
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            yield from _flipped(test)
        case ast.comprehension(ifs=tests):
            for test in tests:
                yield from _flipped(test)


def _swapped(op: ast.AST) -> ast.AST:
    return SWAPPED[type(op)]()


def _flipped(test: ast.expr) -> Iterator[Change]:
    """A condition the other way round, unless another kind of change does the same."""
    match test:
        case ast.UnaryOp(ast.Not()) | ast.Constant():
            return
        case ast.Compare(ops=[ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn() | ast.Is() | ast.IsNot()]):
            return
    yield "condition", test, ast.UnaryOp(ast.Not(), test)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
