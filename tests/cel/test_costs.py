"""An evaluation that costs too much ends with upstream's error, and soon. Costs are those of upstream."""

import time

import pytest

from campaigns.cel.answers import device_of
from kubesched.cel import compile_selector
from kubesched.errors import CelCompileError, CelRuntimeError
from tests.cel.devices import GPU, like_gpu, selector
from tests.cel.recorded import recorded

LIMIT = "operation cancelled: actual cost limit exceeded"
HUNDRED = f"[{', '.join('1' * 100)}]"
LONG = "lists.range(20000).map(x, '1111111111').join('')"


def test_nearly_all_costs_are_those_of_upstream():
    """All but 2 of 100: upstream's maps have no order, a search of many steps costs more here, and errors cost less."""
    devices = [device_of(fields) for fields in recorded()["devices"]]
    costs = [
        (case["expression"], cost, found)
        for case in recorded()["expressions"]
        if "results" in case
        for cost, found in zip(case["costs"], _costs(case["expression"], devices), strict=True)
        if found is not None
    ]
    different = [expression for expression, cost, found in costs if cost != found]
    assert len(costs) > 2000
    assert len(different) < 0.02 * len(costs), different


def _costs(expression, devices):
    try:
        compiled = compile_selector(expression)
    except CelCompileError:
        return [None] * len(devices)
    return [_cost(compiled, device) for device in devices]


def _cost(compiled, device):
    try:
        return compiled.evaluate_metered(device)[1]
    except CelRuntimeError:
        return None


def chain(count, first, step):
    """`cel.bind` in `cel.bind`: each variable is made of the one before."""
    names = ["v0", *(f"v{i}" for i in range(1, count))]
    binds = "".join(
        f"cel.bind({name}, {first if not i else step.replace('$', names[i - 1])}, " for i, name in enumerate(names)
    )
    return f"{binds}{names[-1]} == {names[-1]}{')' * count}"


@pytest.mark.parametrize(
    "text",
    [
        chain(40, "'x'", "$ + $"),
        chain(40, "[1]", "$ + $"),
        chain(40, "[1]", "[$, $]"),
        chain(40, "{'a': 1}", "{'a': $, 'b': $}"),
        chain(12, "[1, 1]", "[$, $, $, $, $, $, $, $, $, $]"),
        chain(30, "[1]", "optional.of($).optMap(y, [y, y]).value()"),
        f"{HUNDRED}.all(a, {HUNDRED}.all(b, {HUNDRED}.all(c, {HUNDRED}.all(d, true))))",
        "lists.range(2000000).size() > 0",
        "lists.range(900000).all(x, x >= 0)",
        "lists.range(50000).distinct().size() > 0",
        f"cel.bind(a, {LONG}, a.replace('1', a).size() > 0)",
        f"cel.bind(a, {LONG}, lists.range(20000).map(x, a).join('').size() > 0)",
        f"cel.bind(a, {LONG}, '%s'.format([lists.range(20000).map(x, a)]).size() > 0)",
        f"cel.bind(a, {LONG}, a.matches('(a|1)*a(a|1){{900}}c'))",
        f"cel.bind(a, {LONG}, lists.range(50000).all(x, int(a) == 1 || true))",
        "lists.range(900000).all(x, true) || true",
    ],
)
def test_what_costs_too_much_ends_soon(text):
    began = time.perf_counter()
    with pytest.raises(CelRuntimeError, match=LIMIT):
        compile_selector(text).matches(GPU)
    assert time.perf_counter() - began < 10


def test_what_costs_too_much_is_refused_with_that_error():
    text = "lists.range(900000).all(x, x >= 0) || {a}.ecc"
    refusal = selector(text).refusal(GPU)
    assert refusal is not None
    assert refusal.error == LIMIT


def test_a_device_with_long_texts_is_metered():
    text = f"{{a}}.model.contains('{'b' * 5000}') || " * 20 + "{a}.ecc"
    assert selector(text[:9000].rpartition(" || ")[0] + " || {a}.ecc").matches(GPU)
    with pytest.raises(CelRuntimeError, match=LIMIT):
        selector("{a}.model.matches('^(a+)+$') || {a}.ecc").matches(like_gpu(model="a" * 6_000_000))


def test_usual_loops_cost_little():
    assert selector("{a}.exists(name, name == 'numa') && [1, 2].map(x, x * 2) == [2, 4]").matches(GPU)
