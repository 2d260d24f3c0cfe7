"""A selector says which facts of a device decide."""

import pytest

from kubesched.cel import Reads
from tests.cel.devices import DRIVER, GPU, like_gpu, selector


def attributes(*names: str) -> Reads:
    return Reads(attributes=frozenset(names))


NUMA = attributes(f"{DRIVER}/numa")
ALL = Reads(attributes=None)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("device.driver == 'a'", Reads(driver=True)),
        ("device.allowMultipleAllocations", Reads(allow_multiple_allocations=True)),
        ("{a}.numa == 1", NUMA),
        ("{a}['numa'] == 1", NUMA),
        ("has({a}.numa)", NUMA),
        ("'numa' in {a}", NUMA),
        (f"device.attributes[?'{DRIVER}'].?numa.orValue(1) == 1", NUMA),
        ("cel.bind(a, {a}, a.numa == 1)", NUMA),
        ("cel.bind(d, device, cel.bind(a, d.attributes, a['" + DRIVER + "'].numa == 1))", NUMA),
        ("[1].exists(x, x == {a}.numa)", NUMA),
        ("{a}.numa == 1 && {a}.model == 'x'", attributes(f"{DRIVER}/numa", f"{DRIVER}/model")),
        ("{m}.isLessThan(quantity('1'))", Reads(capacity=frozenset({f"{DRIVER}/memory"}))),
        ("{a}.size() == 1", ALL),
        ("device.attributes.size() == 1", ALL),
        ("{a}.exists(k, k == 'numa')", ALL),
        ("{a}[{a}.model] == 1", ALL),
        ("device.attributes[device.driver].numa == 1", Reads(driver=True, attributes=None)),
        ("cel.bind(a, {a}, a.exists(k, k == 'numa'))", ALL),
        ("device == device", Reads(True, True, None, None)),
        ("[1].all(device, device > 0)", Reads()),
        ("true", Reads()),
    ],
)
def test_reads(text, reads):
    assert selector(text).reads == reads


def test_devices_that_differ_in_what_is_not_read_are_equal():
    reads = selector("{a}.model == 'A100' && {a}.ecc").reads
    assert reads.project(GPU) == reads.project(like_gpu(uuid="GPU-2"))
    assert reads.project(GPU) != reads.project(like_gpu(model="H100"))
    assert reads.project(GPU) != reads.project(like_gpu(ecc=1))


def test_what_two_selectors_read_together():
    both = NUMA | selector("{a}.model == 'x'").reads | Reads(driver=True)
    assert both == Reads(driver=True, attributes=frozenset({f"{DRIVER}/numa", f"{DRIVER}/model"}))
    assert (both | ALL).attributes is None


def test_all_attributes_are_projected_where_a_name_is_not_clear():
    assert ALL.project(GPU) != ALL.project(like_gpu(uuid="GPU-2"))
    assert hash(ALL.project(GPU)) == hash(ALL.project(like_gpu()))
