"""Reads what nodes cost in an hour, by instance type and perhaps by capacity type: YAML, JSON or CSV.

The currency is not read: the report shows sums in that of the file.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kubesched.config import Readable, did_you_mean, read_text
from kubesched.controllers import CAPACITY_TYPES, capacity_type
from kubesched.documents import read_yaml
from kubesched.errors import InputError, YamlError

_TYPE_HEADINGS: Final = ("instancetype", "type", "machinetype", "vmsize", "sku", "name")
_CAPACITY_HEADINGS: Final = ("capacitytype", "capacity", "lifecycle", "purchaseoption")
_PRICE_HEADINGS: Final = ("price", "priceperhour", "hourly", "perhour", "hour")
_EXAMPLE: Final = "expected instance types with the price of an hour, such as m6i.2xlarge: 0.43"
_CSV_EXAMPLE: Final = "expected columns instanceType, capacityType (may be left out) and price"


def read_prices(source: Readable | bytes) -> dict[str, float | dict[str, float]]:
    """Read prices.

    Args:
        source: a file, or its text as bytes. CSV is known by its name, or by a first line with a comma and no colon.
    Returns: as in `Prices`, in any currency.
    Raises:
        InputError: it cannot be read, or something in it is not a price.

    Example:
        assert read_prices(b"m6i.2xlarge: {on-demand: 0.43, spot: 0.17}")["m6i.2xlarge"]["spot"] == 0.17
    """
    where = f"{source!s}: " if isinstance(source, Readable) else "prices: "
    text = read_text(source)
    if where.endswith(".csv: ") or _is_csv(text):
        return dict(_of_csv(text, where))
    try:
        documents = list(read_yaml(text))
    except YamlError as error:
        raise InputError(f"{where}{error}") from error
    value: Any = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, dict) or not value:
        raise InputError(f"{where}not a list of prices; {_EXAMPLE}")
    if repeated := documents[0].repeated_keys:
        raise InputError(f"{where}line {repeated[0].line}: this instance type is there twice; give each one price")
    return {name: _price(price, f"{where}{name}") for name, price in value.items()}


def _price(value: object, where: str) -> float | dict[str, float]:
    if isinstance(value, dict) and value:
        return {_known_type(str(name), where): _number(price, f"{where}: {name}") for name, price in value.items()}
    return _number(value, where)


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise InputError(f"{where}: {value!r} is not a price; {_EXAMPLE}")
    return float(value)


def _known_type(text: str, where: str) -> str:
    known = capacity_type(text)
    if known not in CAPACITY_TYPES:
        advice = did_you_mean(text, CAPACITY_TYPES) or f"expected {', '.join(CAPACITY_TYPES)}"
        raise InputError(f'{where}: "{text}" is not a capacity type; {advice}')
    return known


# --- CSV ---


def _is_csv(text: str) -> bool:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return "," in first and ":" not in first and not first.lstrip().startswith(("{", "[", "-", "#"))


def _of_csv(text: str, where: str) -> Iterator[tuple[str, float | dict[str, float]]]:
    """The prices of a table with a heading, or of two or three columns without one."""
    rows = [(i, [cell.strip() for cell in row]) for i, row in enumerate(csv.reader(text.splitlines()), 1) if any(row)]
    if not rows:
        raise InputError(f"{where}not a list of prices; {_CSV_EXAMPLE}")
    heading = [re.sub(r"[^a-z]", "", cell.lower()) for cell in rows[0][1]]
    has_heading = not _is_number(rows[0][1][-1])
    if not has_heading:
        heading = ["type", "price"] if len(heading) == 2 else ["type", "capacity", "price"]
    at = {name: next((heading.index(one) for one in names if one in heading), -1) for name, names in _HEADINGS.items()}
    wide = {capacity_type(cell): i for i, cell in enumerate(rows[0][1]) if capacity_type(cell) in CAPACITY_TYPES}
    if at["type"] < 0 or (at["price"] < 0 and not wide):
        raise InputError(f"{where}line {rows[0][0]}: found {', '.join(rows[0][1])}; {_CSV_EXAMPLE}")
    found: dict[str, float | dict[str, float]] = {}
    for line, row in rows[has_heading:]:
        for capacity, cell in _cells(row, at, wide, f"{where}line {line}"):
            _add(found, row[at["type"]], capacity, _csv_number(cell, f"{where}line {line}"), f"{where}line {line}")
    yield from found.items()


_HEADINGS: Final = {"type": _TYPE_HEADINGS, "capacity": _CAPACITY_HEADINGS, "price": _PRICE_HEADINGS}


def _cells(row: list[str], at: Mapping[str, int], wide: Mapping[str, int], where: str) -> Iterator[tuple[str, str]]:
    """The capacity type, empty for any, and the price of each price in a row."""
    if max(*at.values(), *wide.values()) >= len(row):
        raise InputError(f"{where}: found {len(row)} cells; {_CSV_EXAMPLE}")
    if at["price"] < 0:
        yield from ((capacity, row[i]) for capacity, i in wide.items() if row[i])
        return
    capacity = row[at["capacity"]] if at["capacity"] >= 0 else ""
    yield _known_type(capacity, where) if capacity else "", row[at["price"]]


def _add(found: dict[str, float | dict[str, float]], name: str, capacity: str, price: float, where: str) -> None:
    there = found.get(name, {} if capacity else None)
    if capacity and isinstance(there, dict) and capacity not in there:
        found[name] = {**there, capacity: price}
    elif there is None:
        found[name] = price
    else:
        raise InputError(f"{where}: {name} has a price already; give each instance and capacity type one")


def _csv_number(text: str, where: str) -> float:
    if not _is_number(text):
        raise InputError(f'{where}: "{text}" is not a price; {_CSV_EXAMPLE}')
    return _number(float(text), where)


def _is_number(text: str) -> bool:
    try:
        return float(text) is not None
    except ValueError:
        return False
