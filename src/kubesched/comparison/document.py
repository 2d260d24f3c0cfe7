"""A comparison as plain values for JSON. docs/reference/output.md describes every field."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kubesched.comparison.comparison import Comparison, Difference
from kubesched.comparison.figures import Unit

__all__ = ["as_document", "as_lines"]


def as_document(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison."""
    return {
        "a": comparison.a,
        "b": comparison.b,
        "pods": {"mode": comparison.choice.mode, "selector": comparison.choice.selector, "count": comparison.n_pods},
        "runs": comparison.n_runs,
        "figures": [_figure(one) for one in comparison.differences],
        "pending": [_plain(one) for one in comparison.pending],
        "moves": [_plain(one) for one in comparison.moves],
        "spreads": [_plain(one) for one in comparison.spreads],
        "faults": dict(zip("ab", comparison.faults, strict=True)),
        "widest": dict(zip("ab", comparison.widest, strict=True)),
        "settings": _plain(comparison.settings),
        "unpriced": comparison.unpriced,
    }


def as_lines(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A line for each figure, then for each pod that is pending on one side, then for each pod that moves."""
    document = as_document(comparison)
    for name, kind in (("figures", "figure"), ("pending", "pending"), ("moves", "move")):
        yield from ({"type": kind, **entry} for entry in document[name])


def _figure(difference: Difference) -> dict[str, Any]:
    whole = difference.figure.unit not in (Unit.SHARE, Unit.PRICE)
    number = round if whole else float
    return {
        "name": difference.figure.name,
        "unit": difference.figure.unit.value,
        "a": number(difference.a),
        "b": number(difference.b),
        "rangeA": [number(value) for value in difference.range_a],
        "rangeB": [number(value) for value in difference.range_b],
        "finding": difference.is_finding,
    }


def _plain(value: msgspec.Struct) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return plain
