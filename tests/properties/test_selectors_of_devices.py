"""CEL selectors: the closures equal a plain interpreter, what is read decides, and no text breaks the compiler."""

from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from campaigns.cel.answers import device_of
from campaigns.cel.random_expressions import expressions_of, mutated
from campaigns.cel.record import DEVICES, read_expressions
from kubesched.cel import CompiledSelector, DeviceValue, Semver, compile_selector, device_value
from kubesched.errors import CelCompileError, CelRuntimeError
from tests.cel.direct_interpreter import FailedError, UnknownError, interpret

GPUS = [device_of(fields) for fields in DEVICES]
WORDS = st.sampled_from(
    [
        *("device", ".driver", ".attributes", '["gpu.example.com"]', ".model", ".?x", "[?0]", "cel.bind(", "x", ","),
        *("(", ")", "&&", "||", "!", "-", "==", "<=", "in", "?", ":", "[", "]", "{", "}", "1", "1.5", "2u", '"a"', "'"),
        *('"""', "r'", "b'", ".all(x,", ".map(x,", "has(", "true", "null", "quantity(", ".matches(", "\\", "\n", "\t"),
        *("//", "é", "@", "`", "0x", "9" * 30),
    ]
)
WRITTEN = read_expressions()
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(WORDS, max_size=30).map("".join),
    st.lists(WORDS, max_size=30).map(" ".join),
    st.integers(0, 10**9).map(lambda seed: mutated(seed, WRITTEN)),
)


def expression(seed: int) -> CompiledSelector:
    """A random expression that compiles."""
    try:
        return compile_selector(expressions_of(seed, 1)[0])
    except CelCompileError:
        assume(condition=False)
        raise


def answer(function: Any, *arguments: Any) -> Any:
    """A result, or the text of an error."""
    try:
        return function(*arguments)
    except CelRuntimeError as error:
        return str(error)


@given(st.integers(0, 10**9))
def test_closures_equal_a_plain_interpreter(seed):
    compiled = expression(seed)
    for device in GPUS:
        found = answer(compiled.matches, device)
        if str(found).startswith("internal error"):  # where upstream panics
            continue
        try:
            expected = interpret(compiled._tree, device)
        except FailedError:
            assert isinstance(found, str)
        except UnknownError:
            assume(condition=False)
        else:
            assert found == expected or type(expected) is not bool


@given(st.integers(0, 10**9))
def test_metered_closures_equal_the_others(seed):
    compiled = expression(seed)
    for device in GPUS:
        plain = answer(lambda device=device: compiled._evaluate([device, *compiled._places]))
        metered = answer(lambda device=device: compiled.evaluate_metered(device)[0])
        assert metered == plain or "cost limit" in metered


@given(st.integers(0, 10**9), st.dictionaries(st.sampled_from(["numa", "uuid", "ecc", "x"]), st.integers(0, 9)))
def test_facts_that_are_not_read_do_not_matter(seed, other):
    compiled = expression(seed)
    reads = compiled.reads
    for device in GPUS:
        changed = with_attributes(device, other)
        if reads.project(changed) == reads.project(device):
            assert answer(compiled.matches, changed) == answer(compiled.matches, device)


def with_attributes(device: DeviceValue, other: dict[str, int]) -> DeviceValue:
    attributes: dict[str, bool | int | str | Semver] = {
        f"{domain}/{name}": value for domain, values in device.attributes.items() for name, value in values.items()
    }
    attributes |= {f"{device.driver}/{name}": value for name, value in other.items()}
    capacity = {f"{d}/{n}": str(amount) for d, amounts in device.capacity.items() for n, amount in amounts.items()}
    shares = device.allow_multiple_allocations
    return device_value(device.driver, attributes, capacity, allow_multiple_allocations=shares)


@given(st.integers(0, 10**9))
def test_a_device_is_refused_where_it_does_not_match(seed):
    compiled = expression(seed)
    for device in GPUS:
        refusal, matches = compiled.refusal(device), answer(compiled.matches, device)
        assert (refusal is None) == (matches is True)
        if refusal is not None and not refusal.error:
            assert matches is False


@given(st.integers(0, 10**9))
def test_literals_are_where_the_comparisons_say(seed):
    compiled = expression(seed)
    for comparison in compiled.comparisons:
        if comparison.start >= 0 and not isinstance(comparison.literal, tuple):
            written = compiled.text[comparison.start : comparison.end]
            assert str(comparison.literal).lower() in written.lower()
            assert compiled.with_literal(comparison, written.strip("\"'")) == compiled.text


@given(
    st.one_of(
        st.text(max_size=60), st.lists(WORDS, max_size=30).map("".join), st.lists(WORDS, max_size=30).map(" ".join)
    )
)
@example("'" + "\\" * 5)
@example("a.?b[?c]?d:e")
@example("\ud800")
@example("int(timestamp(null)) == 1")
@example("device.attributes[dyn(device.attributes)].x == 1")
@example("{dyn({'a': 1}): 1}.size() == 1 || {dyn(optional.of([1])): 1}.size() == 1")
@example('"\\ud800" == ""')
def test_no_text_raises_anything_else_than_a_compile_error(text):
    try:
        compiled = compile_selector(text)
    except CelCompileError:
        return
    for device in GPUS:
        answer(compiled.matches, device)
        compiled.refusal(device)
    assert compiled.reads is not None
