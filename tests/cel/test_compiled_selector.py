"""Selectors are compiled and evaluated as the API server and kube-scheduler do."""

import pytest

from kubesched.cel import compile_selector
from kubesched.cel.compiled_selector import _compiled
from kubesched.errors import CelCompileError, CelRuntimeError
from tests.cel.devices import DRIVER, GPU, selector

FAILED = "compilation failed: ERROR: <input>:"
SECOND = "ERROR: <input>:1:11: undeclared reference to 'bar' (in container '')\n | foo || bar(1)\n | ..........^"


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        (f'device.driver == "{DRIVER}" && {{a}}.model == "A100" && {{m}}.compareTo(quantity("40Gi")) >= 0', True),
        ('{m}.compareTo(quantity("40.5Gi")) >= 0', False),
        ('{a}.driverVersion.isGreaterThan(semver("1.2.2"))', True),
        ('device.attributes["unknown"].size() == 0', True),
        ('"unknown" in device.attributes', False),
        ("has({a}.nope) || {a}.numa == 1", True),
        ("{a}.nope == 1 || true", True),
        ("{a}.?nope.orValue(7) == 7", True),
        ("cel.bind(a, {a}, a.ecc && a.numa > 0)", True),
        ('[1, 2].exists(x, x == {a}.numa) && {a}.all(name, name != "")', True),
        ("{a}.numa == 1.0 && {a}.numa < 1.5", True),
        ("{a}.ecc == 1", False),
        ('{a}.driverVersion != "1.2.3"', True),
    ],
)
def test_a_device_matches(text, matches):
    assert selector(text).matches(GPU) is matches


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{a}.nope == 1", "no such key: nope"),
        ("{a}.model > 5", "no such overload"),
        ('{a}.driverVersion == "1.2.3"', "no such overload"),
        ("1 / ({a}.numa - 1) == 1", "division by zero"),
        ("9223372036854775807 + {a}.numa == 0", "integer overflow"),
        ("[1][{a}.numa] == 1", "index out of bounds: 1"),
        ('quantity("x").isInteger()', "quantities must match the regular expression "),
        ('semver("1.2") == semver("1.2.0")', "No Major.Minor.Patch elements found"),
        ("{a}.numa", "CEL result of type int could not be converted to bool: "),
    ],
)
def test_an_evaluation_fails_with_the_text_of_upstream(text, error):
    with pytest.raises(CelRuntimeError) as caught:
        selector(text).matches(GPU)
    assert str(caught.value).startswith(error)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("device.foo", f"{FAILED}1:7: undefined field 'foo'\n | device.foo\n | ......^"),
        (
            "true &&\n (1 > 'a')",
            f"{FAILED}2:5: found no matching overload for '_>_' applied to '(int, string)'\n |  (1 > 'a')\n | ....^",
        ),
        (
            "foo || bar(1)",
            f"{FAILED}1:1: undeclared reference to 'foo' (in container '')\n | foo || bar(1)\n | ^\n{SECOND}",
        ),
        ("(1", f"{FAILED}1:3: Syntax error: missing ')' at '<EOF>'\n | (1\n | ..^"),
        ("1", "must evaluate to bool or the unknown type, not int"),
    ],
)
def test_an_expression_does_not_compile_with_the_text_of_upstream(text, error):
    with pytest.raises(CelCompileError) as caught:
        compile_selector(text)
    assert str(caught.value) == error


@pytest.mark.parametrize(
    "text",
    [
        *(start * 3000 for start in ("(", "[", "f(", "{1:", "-", "!", "'a'")),
        *(f"a{rest * 2400}" for rest in (".b", "[0]", "+1", " x")),
        "true ? true : " * 600,
        "[1].map(x, " * 900,
        "x" * 20_000,
    ],
)
def test_no_depth_or_size_exhausts_the_stack(text):
    with pytest.raises(CelCompileError):
        compile_selector(text)


def test_a_long_disjunction_is_not_deep():
    assert selector(" || ".join(["{a}.numa == 7"] * 200)).matches(GPU) is False


def test_what_is_compiled_is_kept_and_given_back():
    first = compile_selector("true")
    assert compile_selector("true") is first
    for number in range(1100):
        compile_selector(f"{number} == 1")
    assert compile_selector("true") is not first
    assert _compiled.cache_info().currsize <= 1024
