"""Amounts of resources as quantities of few digits: what a person writes into a manifest."""

from typing import Final

from kubesched.api import parse_quantity, whole_units

_GIBI, _MEBI, _KIBI = 2**30, 2**20, 2**10
_BYTES: Final = ("memory", "ephemeral-storage")
DIVISIBLE: Final = ("cpu", *_BYTES)
"""What a pod can do with a little less of."""


def at_most(name: str, amount: int) -> tuple[str, int]:
    """An amount rounded down to few digits: a quantity, and how much it is."""
    if name == "cpu":
        amount = amount // _step(amount) * _step(amount)
        return _cores(amount), amount
    if not _is_bytes(name):
        return str(amount), amount
    for text, unit in ((f"{amount * 10 // _GIBI / 10:g}Gi", _GIBI), (f"{amount // _MEBI}Mi", _MEBI)):
        if amount >= unit:
            return text, whole_units(name, parse_quantity(text))
    whole = amount // _KIBI
    return (f"{whole}Ki", whole * _KIBI) if whole else (f"{amount} bytes", amount)


def at_least(name: str, amount: int) -> tuple[str, int]:
    """An amount rounded up to few digits: a quantity, and how much it is."""
    if name == "cpu":
        amount = -(-amount // _step(amount)) * _step(amount)
        return _cores(amount), amount
    if not _is_bytes(name):
        return str(amount), amount
    tenth = -(-amount * 10 // _GIBI)
    for text, unit in ((f"{tenth / 10:g}Gi", _GIBI), (f"{-(-amount // _MEBI)}Mi", _MEBI)):
        if amount >= unit:
            return text, whole_units(name, parse_quantity(text))
    text = f"{-(-amount // _KIBI)}Ki"
    return text, whole_units(name, parse_quantity(text))


def exact(name: str, amount: int) -> str:
    """An amount as it is, for sums; of bytes to a Mi."""
    if name == "cpu":
        return _cores(amount)
    if not _is_bytes(name) or amount < _MEBI:
        return at_least(name, amount)[0]
    return f"{amount * 10 // _GIBI / 10:g}Gi" if amount * 10 % _GIBI == 0 else f"{round(amount / _MEBI)}Mi"


def _is_bytes(name: str) -> bool:
    return name in _BYTES or name.startswith("hugepages-")


def _step(milli_cpu: int) -> int:
    return 1 if milli_cpu < 1000 else 10 if milli_cpu < 10_000 else 100


def _cores(milli_cpu: int) -> str:
    return f"{milli_cpu}m" if milli_cpu < 1000 else f"{milli_cpu / 1000:.3f}".rstrip("0").rstrip(".")
