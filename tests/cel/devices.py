"""Devices for tests of selectors."""

from kubesched.cel import CompiledSelector, DeviceValue, Semver, compile_selector, device_value

DRIVER = "gpu.example.com"
GPU = device_value(
    DRIVER,
    {
        "model": "A100",
        "numa": 1,
        "ecc": True,
        "driverVersion": Semver.parse("1.2.3+b1"),
        "uuid": "GPU-1",
        "other.com/x": -5,
    },
    {"memory": "40Gi", "other.com/bw": "2500m"},
    allow_multiple_allocations=True,
)
ATTRIBUTES = f'device.attributes["{DRIVER}"]'
MEMORY = f'device.capacity["{DRIVER}"].memory'


def selector(text: str) -> CompiledSelector:
    """A selector; `{a}` and `{m}` stand for the attributes and the memory of the driver."""
    return compile_selector(text.replace("{a}", ATTRIBUTES).replace("{m}", MEMORY))


def like_gpu(**attributes: bool | int | str | Semver) -> DeviceValue:
    """The device with some other attributes."""
    merged = {f"{domain}/{name}": value for domain, values in GPU.attributes.items() for name, value in values.items()}
    merged.update({f"{DRIVER}/{name}": value for name, value in attributes.items()})
    return device_value(DRIVER, merged, {"memory": "40Gi"}, allow_multiple_allocations=True)
