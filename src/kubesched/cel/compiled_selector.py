"""Compiles selectors, keeps what is compiled, and evaluates it for devices."""

import json
from functools import cached_property, lru_cache
from typing import Any, Final

from kubesched.cel.bounds import is_bounded
from kubesched.cel.cel_values import not_a_bool
from kubesched.cel.checker import check_expression
from kubesched.cel.closures import Evaluate
from kubesched.cel.conjuncts import Conjunct, Conjunction, Refusal
from kubesched.cel.device_reads import Reads, reads_of
from kubesched.cel.device_value import DeviceValue
from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.library import BUDGET
from kubesched.cel.literal_comparisons import LiteralComparison, comparisons_of
from kubesched.cel.metered_compiler import MeteredCompiler
from kubesched.cel.metering import COUNTER
from kubesched.cel.parser import parse_expression
from kubesched.cel.selector_compiler import Compiler
from kubesched.cel.semantic_versions import Semver
from kubesched.errors import CelCompileError
from kubesched.release import DEFAULT_RELEASE, RELEASES, Release

_KEPT: Final = 1024
_LATER: Final = RELEASES[-1]


class CompiledSelector:
    """A CEL expression about a device.

    Attributes:
        text: as written.
    """

    def __init__(self, text: str, release: Release = DEFAULT_RELEASE) -> None:
        self.text = text
        self._tree = parse_expression(text, release)
        check_expression(self._tree, text, release)
        self._is_bounded = is_bounded(self._tree)
        compiler = Compiler(self._tree)
        self._evaluate = compiler.compile(self._tree)
        self._places = [None] * (compiler.places - 1)

    @cached_property
    def reads(self) -> Reads:
        """The facts of a device that decide."""
        return reads_of(self._tree)

    @cached_property
    def comparisons(self) -> tuple[LiteralComparison, ...]:
        """The comparisons of facts with literals, wherever they are in the expression."""
        return tuple(comparisons_of(self._tree))

    @property
    def conjuncts(self) -> tuple[Conjunct, ...]:
        """The parts that all have to hold."""
        return self._conjunction.conjuncts

    @cached_property
    def _conjunction(self) -> Conjunction:
        return Conjunction(self._tree, self.text)

    def refusal(self, device: DeviceValue) -> Refusal | None:
        """The part of the expression that a device does not meet, None if it matches."""
        return self._conjunction.refusal(device)

    def with_literal(self, comparison: LiteralComparison, literal: str) -> str:
        """The text with another literal in a comparison; what was in quotes stays in quotes.

        Raises:
            ValueError: no literal is written there, as in `has(...)`.
        """
        if comparison.start < 0:
            raise ValueError(f"{comparison.operator} has no literal")
        is_text = isinstance(comparison.literal, str | Quantity | Semver)
        written = json.dumps(literal, ensure_ascii=False) if is_text else literal
        return self.text[: comparison.start] + written + self.text[comparison.end :]

    def matches(self, device: DeviceValue) -> bool:
        """Whether the expression holds for a device.

        Raises:
            CelRuntimeError: it cannot be evaluated; the text is upstream's.
        """
        if self._is_bounded and device.is_small:
            result = self._evaluate([device, *self._places])
        else:
            result, _ = self.evaluate_metered(device)
        if type(result) is bool:
            return result
        raise not_a_bool(result)

    @cached_property
    def _metered(self) -> tuple[Evaluate, list[None]]:
        compiler = MeteredCompiler(self._tree)
        return compiler.compile(self._tree), [None] * (compiler.places - 2)

    def evaluate_metered(self, device: DeviceValue) -> tuple[Any, int]:
        """The value for a device, and what it cost.

        Raises:
            CelRuntimeError: it cannot be evaluated, or costs too much.
        """
        evaluate, places = self._metered
        frame: list[Any] = [device, BUDGET, *places]
        result = evaluate(frame)
        return result, BUDGET - frame[COUNTER]


def compile_selector(text: str, release: Release = DEFAULT_RELEASE) -> CompiledSelector:
    """Compile an expression. The last 1,024 different ones are kept, whether they compile or not.

    Rule: v1.33 to v1.36 have one language; that of v1.37 differs.

    Args:
        release: the version of Kubernetes whose language it is.
    Raises:
        CelCompileError: the expression does not compile; the text is upstream's.
    """
    compiled = _compiled(text, DEFAULT_RELEASE if release.before(37) else _LATER)
    if isinstance(compiled, str):
        raise CelCompileError(compiled)
    return compiled


def compile_in_any_version(text: str) -> CompiledSelector:
    """Compile an expression in the first version that accepts it, where the question is what it means.

    Raises:
        CelCompileError: none does; as from `compile_selector` for the default version.
    """
    compiled = _compiled(text, DEFAULT_RELEASE)
    if isinstance(compiled, str) and isinstance(later := _compiled(text, _LATER), CompiledSelector):
        return later
    return compile_selector(text)


@lru_cache(maxsize=_KEPT)
def _compiled(text: str, release: Release) -> CompiledSelector | str:
    """A selector, or the error of what is none."""
    try:
        return CompiledSelector(text, release)
    except CelCompileError as error:
        return str(error)
