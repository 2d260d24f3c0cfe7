"""Reads and writes files of rows: JSON lines, CSV and Parquet. A file is replaced as a whole."""

import csv
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from kubesched.errors import InputError
from kubesched.snapshot import replacing
from kubesched.sweeps.rows import ROW_FIGURES, SweepRow


def check_rows_file(path: str | os.PathLike[str]) -> Path:
    """The path of a file of rows.

    Raises:
        InputError: its name has another ending, its folder does not exist, or pyarrow is missing for Parquet.
    """
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise InputError(f"{target}: expected a file of rows, whose name ends with {', '.join(_FORMATS)}")
    if not target.parent.is_dir():
        raise InputError(f"{target}: cannot be written: No such file or directory")
    if target.suffix == ".parquet":
        _parquet()
    return target


def read_rows(path: Path) -> list[SweepRow]:
    """The rows of a file; none if there is no such file.

    Raises:
        InputError: it cannot be read, or it has something else.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        return [SweepRow.of_fields(one) for one in _FORMATS[path.suffix][0](content)]
    except (KeyError, TypeError, ValueError) as error:  # pyarrow's and msgspec's errors are ValueErrors, too
        raise InputError(f"{path}: does not have the rows of a sweep ({error}); name another file") from error


def write_rows(rows: Sequence[SweepRow], path: Path) -> None:
    """Replace a file.

    Raises:
        InputError: it cannot be written; the file is as it was.
    """
    content = rows_as(path.suffix, rows)
    with replacing(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def rows_as(suffix: str, rows: Iterable[SweepRow]) -> bytes:
    """Rows as the content of a file.

    Args:
        suffix: `.jsonl`, `.csv` or `.parquet`.
    Raises:
        InputError: pyarrow is missing for Parquet.
    """
    return _FORMATS[suffix][1]([row.as_fields() for row in rows])


def _from_jsonl(content: bytes) -> Iterable[Mapping[str, Any]]:
    return [msgspec.json.decode(line, type=dict) for line in content.splitlines()]


def _to_jsonl(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def _from_csv(content: bytes) -> Iterable[Mapping[str, Any]]:
    reader = csv.DictReader(io.StringIO(content.decode(), newline=""))
    if reader.fieldnames and "key" not in reader.fieldnames:  # a table of others that is empty is not replaced either
        raise ValueError("it has other columns")
    return [*reader]


def _to_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO(newline="")
    names = [*rows[0]] if rows else []
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _from_parquet(content: bytes) -> Iterable[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = _parquet().read_table(io.BytesIO(content)).to_pylist()
    return found


def _to_parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    parquet = _parquet()
    import pyarrow

    numbers = {"seed": pyarrow.int64(), "seconds": pyarrow.float64()}
    numbers |= {one.name: pyarrow.float64() for one in ROW_FIGURES}
    names = [*SweepRow(snapshot="", configuration="", seed=0, figures={}).as_fields()]
    schema = pyarrow.schema([(name, numbers.get(name, pyarrow.string())) for name in names])
    file = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([*rows], schema=schema), file)
    return file.getvalue()


def _parquet() -> Any:
    try:
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise InputError("Parquet needs pyarrow, which is not installed: pip install 'kubesched[parquet]'") from None
    return pyarrow.parquet


_Reader = Callable[[bytes], Iterable[Mapping[str, Any]]]
_Writer = Callable[[Sequence[Mapping[str, Any]]], bytes]
_FORMATS: Final[dict[str, tuple[_Reader, _Writer]]] = {
    ".parquet": (_from_parquet, _to_parquet),
    ".csv": (_from_csv, _to_csv),
    ".jsonl": (_from_jsonl, _to_jsonl),
}
