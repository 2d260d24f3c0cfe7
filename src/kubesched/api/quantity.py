"""Kubernetes resource quantities, exact: parsed to integer billionths, rounded up to the units of a scheduler.

Rule: k8s.io/apimachinery v0.36 resource.Quantity: decimal number, then nothing, `n u m k M G T P E`, `Ki Mi Gi Ti Pi
Ei`, or `e`/`E` and an integer; digits below one billionth are rounded up. Amounts beyond int64 mean nothing, but they
have to mean the same nothing as upstream: see `whole_units`.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

from kubesched.errors import QuantityError

MAX_INT64: Final = 2**63 - 1
NANO: Final = 10**9

_POWERS: Final = {"n": -9, "u": -6, "m": -3, "": 0, **{letter: 3 * i for i, letter in enumerate("kMGTPE", 1)}}
_BINARY: Final = {letter + "i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_BYTES: Final = ("memory", "ephemeral-storage")
_QUANTITY = re.compile(r"([+-]?)(?:([0-9]+)\.?([0-9]*)|\.([0-9]+))([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i|)")
_EXPONENT = re.compile(r"[eE][+-]?[0-9]+$")
_NEARLY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmgtp])(i?)b?", re.IGNORECASE)
_KEPT: Final = 100  # digits of an amount; an API server takes a million of them, and exponents of seven digits
_EXPONENT_DIGITS: Final = 7
_MAX_SHOWN: Final = 40
_SHORT: Final = 18  # digits that upstream keeps as an int64 and a power of ten; more of them make a big decimal
_WRAPPING_STEPS: Final = (1, 2, 3, 6, 9)
_ALWAYS_FITS: Final = MAX_INT64 // 1000 * NANO


class _ShortDecimal(int):
    """Billionths of an amount that may not fit int64, written as a decimal of at most 18 digits.

    Attributes:
        power: that of the last written digit.
    """

    power: int


def parse_quantity(text: str | int | float) -> int:
    """Read a quantity such as `100m`, `1.5Gi`, `1e3` or `.5`, as billionths: "2" is 2000000000.

    Plugins use `cpu_millis` and `bytes_of`, which have the units of a scheduler. This function leaves the public names
    with the next minor version.

    Returns: the value in billionths, exact; what is finer is rounded up (away from zero for negative values too), and
        amounts with a binary suffix end at 2**63 - 1 whole units. Of an amount beyond 10**100, only the lower digits
        are right, which is what `whole_units` needs.
    Raises:
        QuantityError: the text is not a quantity, or its exponent is out of range.

    Example:
        assert parse_quantity("1.5Gi") == 1.5 * 1024**3 * 10**9
    """
    return _read(text) if len(str(text)) <= _KEPT else _read.__wrapped__(text)


def cpu_millis(text: str | int | float) -> int:
    """Read an amount of CPU in milli-CPU, the unit of `CPU` in all arrays; parts of one are rounded up.

    Raises:
        QuantityError: the text is not a quantity.

    Example:
        assert cpu_millis("500m") == 500
        assert cpu_millis("2") == 2000
    """
    return whole_units("cpu", parse_quantity(text))


def bytes_of(text: str | int | float) -> int:
    """Read an amount of memory or storage in bytes, the unit of `MEMORY` in all arrays; parts of one are rounded up.

    Raises:
        QuantityError: the text is not a quantity.

    Example:
        assert bytes_of("1Gi") == 1024**3
        assert bytes_of("128974848") == 128974848
    """
    return whole_units("memory", parse_quantity(text))


@lru_cache(maxsize=65536)
def _read(text: str | int | float) -> int:
    match = _QUANTITY.fullmatch(str(text))
    if match is None:
        raise QuantityError(f"{_shown(text)} is not a quantity; {_meant(str(text))}")
    sign, before_point, after_point, only_after, suffix = match.groups()
    whole, fraction = (before_point or "").lstrip("0"), after_point or only_after or ""
    nano = _binary(whole, fraction, suffix) if suffix in _BINARY else _decimal(whole, fraction, suffix)
    return -nano if sign == "-" else nano


def _meant(text: str) -> str:
    """What to write instead: no spaces, and the units of Kubernetes for those that people know, such as GB."""
    closed = text.replace(" ", "")
    if closed != text and len(text) <= _MAX_SHOWN and _QUANTITY.fullmatch(closed):
        return f'did you mean "{closed}"?'
    match = _NEARLY.fullmatch(text) if len(text) <= _MAX_SHOWN else None
    if match is None:
        return 'write a number with an optional suffix, such as "500m", "2" or "1.5Gi"'
    number, letter, binary = match.groups()
    decimal = "k" if letter in "kK" else letter.upper()
    units = (f"{letter.upper()}i",) if binary else (decimal, f"{letter.upper()}i")
    listed = " or ".join(f'"{number}{unit}"' for unit in units)
    return f"did you mean {listed}?"


def _shown(text: str | int | float) -> str:
    """The text in quotes, cut where it gets long."""
    return repr(text) if len(str(text)) <= _MAX_SHOWN else f"'{text!s:.{_MAX_SHOWN}}...'"


def _binary(whole: str, fraction: str, suffix: str) -> int:
    """Billionths of digits with a binary suffix."""
    if len(whole) > _KEPT:
        return MAX_INT64 * NANO
    fraction = fraction.rstrip("0")
    if len(fraction) > _KEPT:
        fraction = fraction[:_KEPT] + "1"  # it is rounded up whatever follows
    exact = Fraction(int(whole + fraction or "0") * _BINARY[suffix] * NANO, 10 ** len(fraction))
    return min(-(-exact.numerator // exact.denominator), MAX_INT64 * NANO)


def _decimal(whole: str, fraction: str, suffix: str) -> int:
    """Billionths of digits with a power of ten."""
    digits, power = whole + fraction, _power(suffix) - len(fraction)
    nano = _shifted(digits, power + 9)
    if nano <= _ALWAYS_FITS or len(digits) > _SHORT:
        return nano
    short = _ShortDecimal(nano)
    short.power = power
    return short


def _power(suffix: str) -> int:
    """The power of ten of a decimal suffix."""
    if suffix in _POWERS:
        return _POWERS[suffix]
    exponent = suffix[1:].lstrip("+-").lstrip("0")
    if len(exponent) > _EXPONENT_DIGITS:
        limit = f"the exponent of a quantity has at most {_EXPONENT_DIGITS} digits"
        raise QuantityError(f"{_shown(suffix)} is out of range: {limit}")
    return -int(exponent or "0") if "-" in suffix else int(exponent or "0")


def _shifted(digits: str, power: int) -> int:
    """The digits times a power of ten, rounded up.

    Returns: of more than 100 digits the lower ones behind a 1. As 10**100 is a multiple of 2**64 billions, what is left
        of it in int64 is the same.
    """
    significant = digits.rstrip("0")
    if not significant:
        return 0
    power += len(digits) - len(significant)
    kept = significant if power >= 0 else significant[:power]
    if len(kept) > _KEPT:
        kept = "1" + kept[-_KEPT:]
    scale: int = 10 ** min(max(power, 0), _KEPT)
    return int(kept or "0") * scale + (power < 0)


def whole_units(resource: str, nano: int) -> int:
    """Round an exact amount up to what the scheduler counts in: milli-CPU for `cpu`, whole units for everything else.

    Args:
        nano: in billionths, as `parse_quantity` gives it.
    Returns: an int64 in any case; one that does not fit loses its upper bits or becomes 0.
    Rule: kube-scheduler v1.36 (Resource.Add): MilliValue or Value, which round up. A decimal of at most 18 digits is an
        int64 that is multiplied: by 10, 100, 1000, 10**6 and 10**9 it loses its upper bits, any other power of ten
        gives 0. Everything else loses its upper bits. (Sums, too; upstream gives 0 for some sums of short decimals.)

    Example:
        assert whole_units("cpu", parse_quantity("0.1")) == 100
        assert whole_units("memory", parse_quantity("1Ki")) == 1024
    """
    milli = 3 if resource == "cpu" else 0
    whole: int = -(-nano // 10 ** (9 - milli))
    if -(2**63) <= whole <= MAX_INT64:
        return whole
    if isinstance(nano, _ShortDecimal) and nano.power + milli not in _WRAPPING_STEPS:
        return 0
    return (whole + 2**63) % 2**64 - 2**63


def canonical_quantity(text: str | int | float) -> str:
    """A quantity as an API server writes it: with the largest suffix of its kind that leaves a whole number.

    Rule: k8s.io/apimachinery v0.36 resource.Quantity.String; binary suffixes become decimal ones for less than 1Ki and
        for parts of one.
    Raises:
        QuantityError: the text is not a quantity.

    Example:
        assert canonical_quantity("1.5Gi") == "1536Mi"
        assert canonical_quantity("0.5") == "500m"
    """
    nano, written = parse_quantity(text), str(text)
    if nano % NANO == 0:
        return whole_quantity(nano // NANO, like=written)
    return _decimal_text(nano, has_exponent=bool(_EXPONENT.search(written)))


def whole_quantity(amount: int, like: str) -> str:
    """A whole number as an API server writes it.

    Args:
        like: a quantity with suffixes of the same kind.

    Example:
        assert whole_quantity(2048, like="1Mi") == "2Ki" and whole_quantity(2000, like="1M") == "2k"
    """
    if not like.endswith("i"):
        return _decimal_text(amount * NANO, has_exponent=bool(_EXPONENT.search(like)))
    for suffix, size in reversed(_BINARY.items()):
        if amount and amount % size == 0:
            return f"{amount // size}{suffix}"
    return _decimal_text(amount * NANO) if abs(amount) < _BINARY["Ki"] else str(amount)


def _decimal_text(nano: int, *, has_exponent: bool = False) -> str:
    for suffix, power in reversed(_POWERS.items()):
        size = 10 ** (9 + power)
        if nano and nano % size == 0:
            unit = f"e{power}" if has_exponent and power else suffix
            return f"{nano // size}{unit}"
    return "0"


def in_words(resource: str, amount: int) -> str:
    """An amount in canonical units as a short quantity, such as `250m`, `1.5`, `12.4Gi` or `3`."""
    if resource == "cpu":
        return f"{amount}m" if abs(amount) < 1000 and amount else _rounded(amount / 1000)
    if resource in _BYTES or resource.startswith("hugepages-"):
        for suffix, size in reversed(_BINARY.items()):
            if abs(amount) >= size:
                return f"{_rounded(amount / size)}{suffix}"
    return str(amount)


def _rounded(value: float) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
