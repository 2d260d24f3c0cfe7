"""Commands are short, and what their options exclude and need is data: one table, checked in one place."""

import ast
from collections.abc import Iterable, Iterator

from tests.architecture.sources import MODULES, Module, parse_module

LONGEST_BODY = 24
RULES = "kubesched.cli.option_rules"
PARSING = {"context", "option"}
"""Parameters of a function that parses the value of an option."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def of_cli() -> Iterable[Module]:
    return [module for module in MODULES if module.room == "cli"]


def commands(module: Module) -> Iterator[Function]:
    """The functions of a module that click runs as commands."""
    for node in module.nodes:
        if isinstance(node, Function) and any(_makes_command(one) for one in node.decorator_list):
            yield node


def _makes_command(decorator: ast.expr) -> bool:
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(made, ast.Attribute) and made.attr in ("command", "group")


def body_lines(function: Function) -> int:
    """The lines of a function below its docstring."""
    statements = function.body[1:] if ast.get_docstring(function) else function.body
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, and not in a function inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, Function):
            yield child
            yield from _own_nodes(child)


def refusals(module: Module) -> Iterator[str]:
    """The functions that refuse a command line; one that parses the value of an option may refuse this value."""
    for function in (node for node in module.nodes if isinstance(node, Function)):
        raised = [node.exc for node in _own_nodes(function) if isinstance(node, ast.Raise) and node.exc]
        names = {node.attr for error in raised for node in ast.walk(error) if isinstance(node, ast.Attribute)}
        parses = {argument.arg for argument in function.args.args} >= PARSING
        if "UsageError" in names or ("BadParameter" in names and not parses):
            yield f"{module.name}.{function.name}"


def test_a_command_asks_answers_prints_and_sets_the_exit_code() -> None:
    found = {f"{module.name}.{one.name}": body_lines(one) for module in of_cli() for one in commands(module)}
    assert len(found) > 15
    assert {name: lines for name, lines in found.items() if lines > LONGEST_BODY} == {}


def test_what_options_exclude_and_need_is_in_one_table() -> None:
    found = [name for module in of_cli() for name in refusals(module)]
    assert [name for name in found if not name.startswith(f"{RULES}.")] == []
    assert found


TEXT = '''
@click.command()
@click.option("--one")
def simulate(one):
    """Text.

    More.
    """
    if one:
        raise click.UsageError("no")
    return 1


def choice(names):
    def parse(context, option, value):
        raise click.BadParameter("no")

    return parse


def two_at_most(context, option, files):
    raise click.UsageError("no")
'''


def test_a_command_and_its_refusal_are_seen() -> None:
    module = parse_module("kubesched.cli.x", TEXT)
    assert [(one.name, body_lines(one)) for one in commands(module)] == [("simulate", 3)]
    assert list(refusals(module)) == ["kubesched.cli.x.simulate", "kubesched.cli.x.two_at_most"]
