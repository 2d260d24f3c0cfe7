import msgspec
import pytest

from kubesched.api import DeviceCapacity
from kubesched.plugins.dynamic_resources.capacity_use import consumed_of
from kubesched.release import Release

STEPS = {"default": "1G", "validRange": {"min": "1G", "max": "8G", "step": "500M"}}
FINE = {"default": "1", "validRange": {"min": "500m", "max": "8", "step": "250m"}}


# Each as the real plugin of kube-scheduler v1.36.3 said.
@pytest.mark.parametrize(
    ("policy", "asked", "consumed"),
    [
        (None, "1.5Mi", "1536Ki"),
        (None, "0.5", "500m"),
        (None, None, "10G"),
        ({"default": "1G"}, None, "1G"),
        ({"default": "1", "validValues": ["500m", "1", "4"]}, "0.6", "1"),
        ({"default": "1", "validValues": ["500m", "1", "4"]}, "5", None),
        ({"validRange": {"min": "1", "max": "8"}}, "2.5", "2500m"),
        ({"validRange": {"min": "1", "max": "8"}}, "9", None),
        (STEPS, "500M", "1G"),
        (STEPS, "1G", "1000000000"),
        (STEPS, "1200M", "1500000000"),
        (STEPS, "6G", "5859375Ki"),
        (STEPS, "9G", None),
        (FINE, "100m", "500m"),
        (FINE, "600m", "1"),
        (FINE, "1300m", "2"),
    ],
)
def test_a_request_is_raised_to_what_the_policy_allows(policy: dict | None, asked: str | None, consumed: str | None):
    capacity = msgspec.convert({"value": "10G", "requestPolicy": policy}, DeviceCapacity)
    assert consumed_of(capacity, asked) == consumed


# Each as the real plugin of kube-scheduler v1.37.2 said.
@pytest.mark.parametrize(
    ("policy", "asked", "consumed"),
    [
        (STEPS, "1G", "1G"),
        (STEPS, "1.2G", "1500M"),
        (STEPS, "1.5Gi", "2G"),
        ({"validRange": {"min": "1Gi", "step": "500M"}}, "1Gi", "1073741824"),
        ({"validRange": {"min": "1G", "step": "512Mi"}}, "1500M", "1536870912"),
        ({"validRange": {"min": "1Gi", "step": "512Mi"}}, "1500M", "1536Mi"),
        ({"validRange": {"min": "1e3", "step": "1e3"}}, "1.5Mi", "1573e3"),
        (FINE, "600m", "1"),
    ],
)
def test_since_v1_37_an_amount_of_a_range_has_the_suffix_of_its_step(policy: dict, asked: str, consumed: str):
    capacity = msgspec.convert({"value": "10G", "requestPolicy": policy}, DeviceCapacity)
    assert consumed_of(capacity, asked, Release(37)) == consumed
