"""What functions cost, where it is not 1: a tenth for each character that is read.

Rule: cel-go v0.26 (interpreter) and Kubernetes v1.36 (apiserver CEL library), as far as costs can be observed.
"""

from typing import Any, Final

from kubesched.cel.cel_values import LISTS, MAPS
from kubesched.errors import CelRuntimeError

BUDGET: Final = 1_000_000
"""What an evaluation may cost."""

MOST_CHARACTERS: Final = 10_000_000
"""Of a text: reading it once costs the whole budget."""

MOST_ELEMENTS: Final = 100_000

_SIZED: Final = frozenset({str, bytes}) | LISTS | MAPS


def out_of_budget() -> CelRuntimeError:
    """The error of an evaluation that costs too much."""
    return CelRuntimeError("operation cancelled: actual cost limit exceeded", is_final=True)


def check_size(size: int, most: int) -> None:
    """Stop before something is made that is too large.

    Raises:
        CelRuntimeError: it would be.
    """
    if size > most:
        raise out_of_budget()


def size_of(value: Any) -> int:
    """The length of a text, list or map; 1 for anything else."""
    return len(value) if type(value) in _SIZED else 1


def tenth(size: int) -> int:
    """A tenth of a size, rounded up."""
    return -(-size // 10)


def cost_of_comparison(left: Any, right: Any, _result: Any) -> int:
    """Of `==` and `<`: as long as the shorter one."""
    return tenth(min(size_of(left), size_of(right)))


def cost_of_concatenation(left: Any, right: Any, _result: Any) -> int:
    """Of `+` on texts."""
    return tenth(size_of(left) + size_of(right))


def cost_of_text(text: Any, *_others: Any) -> int:
    """Of functions that read their first argument once."""
    return tenth(size_of(text))


def cost_of_search(text: Any, part: Any, *_others: Any) -> int:
    """Of functions that look for a text in another one."""
    return tenth(size_of(text)) * tenth(size_of(part))


def cost_of_pattern(text: Any, pattern: Any, *_others: Any) -> int:
    """Of functions that look for a regular expression."""
    return tenth(size_of(text) + 1) * -(-size_of(pattern) // 4)


def cost_nothing(*_values: Any) -> int:
    """Of searches in texts, which upstream takes for lists of nothing."""
    return 0


def cost_of_elements(elements: Any, *_others: Any) -> int:
    """Of functions that go over a list once."""
    return sum(len(element) // 10 if type(element) in _SIZED else 1 for element in elements)


NEW_LIST: Final = 11
"""What a function costs that makes a list, and 1 for each element that is moved."""


def cost_of_result(*values: Any) -> int:
    """Of functions that make a list as long as their result."""
    return NEW_LIST + len(values[-1])


def cost_of_sorting(elements: Any, *_others: Any) -> int:
    """Of functions that compare each element with each other one."""
    return NEW_LIST + 2 * len(elements) ** 2
