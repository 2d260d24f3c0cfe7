"""A selector that refuses a device is written so that it matches it."""

import pytest

from kubesched.cel import loosened
from tests.cel.devices import GPU, selector


@pytest.mark.parametrize(
    ("text", "changed", "literals"),
    [
        ("{m}.compareTo(quantity('80Gi')) >= 0", '{m}.compareTo(quantity("40Gi")) >= 0', ["40Gi"]),
        ("{m}.isGreaterThan(quantity('40Gi'))", '{m}.isGreaterThan(quantity("39Gi"))', ["39Gi"]),
        ("{m} == quantity('80Gi')", '{m} == quantity("40Gi")', ["40Gi"]),
        ("{a}.numa > 3", "{a}.numa > 0", ["0"]),
        ("{a}.driverVersion.isLessThan(semver('1.0.0'))", None, []),
        ('{a}.model == "H100"', '{a}.model in ["H100", "A100"]', [("H100", "A100")]),
        ("{a}.model in ['H100', 'é']", '{a}.model in ["H100", "é", "A100"]', [("H100", "é", "A100")]),
        ("{a}.numa == 0", "{a}.numa in [0, 1]", [("0", "1")]),
        (
            "{a}.model == 'H100' && {a}.ecc && {m}.compareTo(quantity('80Gi')) >= 0",
            '{a}.model in ["H100", "A100"] && {a}.ecc && {m}.compareTo(quantity("40Gi")) >= 0',
            [("H100", "A100"), "40Gi"],
        ),
        ("{a}.ecc", "{a}.ecc", []),
        ("!{a}.ecc", None, []),
        ('"H100" == {a}.model', None, []),
        ("{a}.model != 'A100'", None, []),
        ("{a}.absent == 'x'", None, []),
        ("{a}.model.size() == 3", None, []),
        ("{a}.model == 3", None, []),
    ],
)
def test_the_literals_that_refuse_a_device_become_its_values(text, changed, literals):
    found = loosened(selector(text), GPU)
    if changed is None:
        assert found is None
    else:
        assert found is not None
        assert found.text == selector(changed).text
        assert [one.literal for one in found.changes] == literals
        assert selector(changed).matches(GPU)
