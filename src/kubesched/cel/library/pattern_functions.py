"""Regular expressions: the standard `matches`, and `find` and `findAll` of Kubernetes."""

from kubesched.cel.library.costs import cost_of_pattern
from kubesched.cel.overloads import FunctionTable
from kubesched.cel.regular_expressions import Pattern, compile_pattern
from kubesched.errors import CelRuntimeError


def _cost(text: str, pattern: str, *_others: object) -> int:
    """Upstream's cost, and more for a search that took many steps."""
    return cost_of_pattern(text, pattern) + max(compile_pattern(pattern).effort - _USUAL_EFFORT, 0) // 2


_USUAL_EFFORT = 100

PATTERN_FUNCTIONS = FunctionTable()
declare = PATTERN_FUNCTIONS.declare


@declare("matches(string, string) -> bool", cost=_cost, is_standard=True)
@declare("string: matches(string) -> bool", cost=_cost, is_standard=True)
def _matches(text: str, pattern: str) -> bool:
    return compile_pattern(pattern).is_in(text)


def _legal(pattern: str) -> Pattern:
    try:
        return compile_pattern(pattern)
    except CelRuntimeError as error:
        raise CelRuntimeError(f"Illegal regex: {error}") from None


@declare("string: find(string) -> string", cost=_cost)
def _find(text: str, pattern: str) -> str:
    span = _legal(pattern).find(text)
    return "" if span is None else text[span[0] : span[1]]


@declare("string: findAll(string) -> list(string)", cost=_cost)
@declare("string: findAll(string, int) -> list(string)", cost=_cost)
def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    return [text[start:end] for start, end in _legal(pattern).find_all(text, most)]
