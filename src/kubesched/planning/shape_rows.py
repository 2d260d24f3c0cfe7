"""Reads a file of types of machines: CSV with a row for each, which is a node that does not exist yet."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Final

from kubesched.api import TAINT_EFFECTS, Quantities, Taint, is_extended_resource, parse_quantity
from kubesched.config import Readable, read_text
from kubesched.controllers import MachineType
from kubesched.documents import did_you_mean
from kubesched.errors import InputError, QuantityError

_NEEDED: Final = ("name", "cpu", "memory")
_COLUMNS: Final = (
    *_NEEDED,
    "pods",
    "gpu",
    "ephemeral-storage",
    "arch",
    "os",
    "zone",
    "labels",
    "taints",
    "price",
    "max",
)
_RESOURCES: Final = {"cpu": "cpu", "memory": "memory", "pods": "pods", "gpu": "nvidia.com/gpu"}
_LABELS: Final = {"arch": "kubernetes.io/arch", "os": "kubernetes.io/os"}
_EXAMPLE: Final = "expected the columns name, cpu and memory, such as `m6i.2xlarge,7910m,29Gi`"


def read_shapes(source: Readable | bytes) -> list[MachineType]:
    r"""Read the rows of a file.

    Args:
        source: a file, or its text as bytes. The first line has the names of columns: `name`, `cpu` and `memory`, and
            `pods`, `gpu`, another resource, `arch`, `os`, `zone`, `labels`, `taints`, `price` and `max` as needed.
            Several zones, labels and taints have `;` between them. Amounts are what pods may have of a node.
    Raises:
        InputError: it cannot be read, a column is not known, or a value is not valid; with the line.

    Example:
        (row,) = read_shapes(b"name,cpu,memory,zone\nm6i.2xlarge,7910m,29Gi,a;b")
        assert row.zones == ("a", "b")
    """
    where = f"{source!s}" if isinstance(source, Readable) else "shapes"
    reader = csv.DictReader(io.StringIO(read_text(source)), skipinitialspace=True)
    columns = [name.strip() for name in reader.fieldnames or ()]
    reader.fieldnames = columns
    _check_columns(columns, where)
    rows: dict[str, MachineType] = {}
    for values in reader:
        row = _row(
            {key: (value or "").strip() for key, value in values.items() if key}, f"{where}: line {reader.line_num}"
        )
        if row.name in rows:
            raise InputError(f"{where}: line {reader.line_num}: {row.name} is there twice; give each row another name")
        rows[row.name] = row
    if not rows:
        raise InputError(f"{where}: no rows; {_EXAMPLE}")
    return list(rows.values())


def _check_columns(columns: list[str], where: str) -> None:
    if missing := [name for name in _NEEDED if name not in columns]:
        raise InputError(f"{where}: no column {missing[0]}; {_EXAMPLE}")
    for name in columns:
        if name not in _COLUMNS and not _is_resource(name):
            meant = did_you_mean(name, _COLUMNS)
            raise InputError(f"{where}: column {name!r} is not known; expected one of {', '.join(_COLUMNS)}{meant}")


def _is_resource(name: str) -> bool:
    return is_extended_resource(name) or name.startswith(("hugepages-", "ephemeral-storage"))


def _row(values: Mapping[str, str], where: str) -> MachineType:
    if not values["name"]:
        raise InputError(f"{where}: no name; {_EXAMPLE}")
    amounts = {_RESOURCES.get(key, key): text for key, text in values.items() if key in _RESOURCES or _is_resource(key)}
    allocatable: Quantities = {name: text for name, text in amounts.items() if text}
    for name in ("cpu", "memory", *allocatable):
        try:
            amount = parse_quantity(allocatable.get(name, ""))
        except QuantityError as error:
            raise InputError(f"{where}: {name}: {error}") from error
        if amount < 0:
            raise InputError(f"{where}: {name}: found {allocatable[name]}; expected 0 or more")
    labels = {label: values[key] for key, label in _LABELS.items() if values.get(key)}
    labels |= dict(_pair(text, "label", where) for text in _several(values, "labels"))
    taints = tuple(_taint(text, where) for text in _several(values, "taints"))
    zones, most = tuple(_several(values, "zone")), _number(values, "max", where)
    price = _number(values, "price", where)
    return MachineType(values["name"], allocatable, labels, zones, taints, price, None if most is None else int(most))


def _several(values: Mapping[str, str], key: str) -> Iterator[str]:
    return (text.strip() for text in values.get(key, "").split(";") if text.strip())


def _pair(text: str, what: str, where: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise InputError(f"{where}: {text!r} is not a {what}; write key=value")
    return key, value


def _taint(text: str, where: str) -> Taint:
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    if not key or effect not in TAINT_EFFECTS:
        raise InputError(f"{where}: {text!r} is not a taint; write key=value:NoSchedule")
    return Taint(key, value, effect)


def _number(values: Mapping[str, str], key: str, where: str) -> float | None:
    text = values.get(key, "")
    if not text:
        return None
    try:
        number = int(text) if key == "max" else float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise InputError(f"{where}: {key}: {text!r} is not a number; expected 0 or more")
    return number
