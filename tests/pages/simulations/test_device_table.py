"""The table of devices: its columns add up to all devices."""

import pytest

from kubesched.pages.simulations import device_table
from kubesched.session import DeviceCounts, DeviceFill

WHOLE, SHARED = DeviceCounts(free=3, taken=1), DeviceCounts(free=2, shared=1, taken=1)


@pytest.mark.parametrize(
    ("before", "after", "is_shown"), [(WHOLE, WHOLE, False), (WHOLE, SHARED, True), (SHARED, WHOLE, True)]
)
def test_shared_devices_have_a_column_where_there_are_some(before, after, is_shown):
    table = device_table((DeviceFill("d", ("nic",), "", before, after),))
    (column,) = (one for one in table.columns if one.key == "shared")
    assert column.is_wide != is_shown
