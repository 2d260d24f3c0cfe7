"""Checks what plugins ask of their metrics. Everything that is not valid raises ValueError, in every run."""

import math
import operator
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

_MAX_BUCKETS: Final = 100
_MAX_LABELS: Final = 10
_MAX_TEXT: Final = 1000  # characters
_MAX_INCREASE: Final = 2**63
_NOT_IN_NAMES: Final = re.compile(r"[^a-zA-Z0-9_]")  # of Prometheus; a class may have a name in any script
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,99}")
_ENDINGS: Final = ("_bucket", "_sum", "_count", "_created", "_info", "_total")
"""What Prometheus appends to names."""


def check_text(name: str, text: object) -> None:
    """Check what people read about a metric.

    Raises:
        ValueError: it is not a text, or too long.
    """
    if not isinstance(text, str) or len(text) > _MAX_TEXT:
        raise ValueError(
            f"text of the metric {name}: found {text!r:.80}; expected one sentence, {_MAX_TEXT} characters at most"
        )


def check_label_values(name: str, labels: tuple[str, ...], values: tuple[Any, ...]) -> None:
    """Check the label values of one call.

    Raises:
        ValueError: they are too many or too few, or not texts.
    """
    if len(values) != len(labels):
        expected = ", ".join(labels) or "none"
        raise ValueError(f"{name}: found {len(values)} label values; expected one for each label ({expected})")
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"{name}: the label value {value!r:.80} is not a text")


def increase_of(name: str, n: Any) -> int:
    """What a counter is to add, as an int.

    Raises:
        ValueError: it is negative, not a whole number, or so large that a page could not show the sum.
    """
    try:
        number = operator.index(n)
    except TypeError:
        raise ValueError(f"{name}: found {n!r:.80}; expected a whole number") from None
    if not 0 <= number < _MAX_INCREASE:
        raise ValueError(f"{name}: a counter only grows; found {_shown(n)}; expected 0 or more, below 2^63")
    return number


def number_of(name: str, value: Any) -> float:
    """What a gauge or histogram is given, as a float.

    Raises:
        ValueError: it is not a finite number.
    """
    number = _float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name}: found {_shown(value)}; expected a finite number")
    return number


def _float(value: Any) -> float:
    """The number; NaN for what is not one."""
    try:
        return math.nan if isinstance(value, str | bytes | bytearray) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _shown(value: object) -> str:
    """The beginning of a value; Python does not write integers of more than 4,300 digits."""
    try:
        return f"{value!r:.80}"
    except ValueError:
        return "an integer of thousands of digits"


def buckets_of(name: str, buckets: Any) -> tuple[float, ...]:
    """The upper bounds of a histogram.

    Raises:
        ValueError: they are not valid.
    """
    bounds = tuple(map(_float, buckets)) if isinstance(buckets, Sequence) else ()
    is_ascending = all(a < b for a, b in pairwise(bounds))
    if not (0 < len(bounds) <= _MAX_BUCKETS and is_ascending and all(map(math.isfinite, bounds))):
        raise ValueError(f"buckets of {name}: found {_shown(buckets)}; expected up to {_MAX_BUCKETS} ascending numbers")
    return bounds


def metric_name(plugin: str, name: Any, labels: Any) -> str:
    """The name of a metric on the page.

    Raises:
        ValueError: it, or that of a label, is not valid.

    Example:
        assert metric_name("my-plugin", "lookups", ()) == "kubesched_plugin_my_plugin_lookups"
    """
    _check_name("metric", name)
    if isinstance(labels, str | bytes) or not isinstance(labels, Sequence) or len(labels) > _MAX_LABELS:
        raise ValueError(
            f"labels of the metric {name}: found {labels!r:.80}; expected a list of names, {_MAX_LABELS} at most"
        )
    for label in labels:
        _check_name("label", label)
    if len(set(labels)) < len(labels) or "le" in labels:
        raise ValueError(f"labels of the metric {name}: found {', '.join(labels)}; expected each once, and not le")
    if name.endswith(_ENDINGS):
        ending = next(ending for ending in _ENDINGS if name.endswith(ending))
        raise ValueError(f"the metric {name} ends with {ending}, which Prometheus appends itself; leave it out")
    return f"kubesched_plugin_{_NOT_IN_NAMES.sub('_', plugin)}_{name}"


def _check_name(what: str, given: object) -> None:
    if not isinstance(given, str) or not _NAME.fullmatch(given):
        expected = "expected lower-case letters, digits and '_', the first a letter"
        raise ValueError(f"{given!r:.80} is not the name of a {what}; {expected}")
