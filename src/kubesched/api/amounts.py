"""Amounts of resources as people write them."""

from typing import Final

__all__ = ["in_words"]

_BINARY: Final = ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki")
_BYTES: Final = ("memory", "ephemeral-storage")


def in_words(resource: str, amount: int) -> str:
    """An amount in canonical units as a short quantity, such as `250m`, `1.5`, `12.4Gi` or `3`."""
    if resource == "cpu":
        return f"{amount}m" if abs(amount) < 1000 and amount else _short(amount / 1000)
    if resource in _BYTES or resource.startswith("hugepages-"):
        for power, suffix in zip(range(6, 0, -1), _BINARY, strict=True):
            if abs(amount) >= 1024**power:
                return f"{_short(amount / 1024**power)}{suffix}"
    return str(amount)


def _short(value: float) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
