"""Reads what nodes cost: instance type -> price of an hour, in YAML or JSON.

The currency is not read: the report shows sums in that of the file.
"""

from typing import Any

from kubesched.config import Readable, read_text
from kubesched.documents import read_yaml
from kubesched.errors import InputError, YamlError

_EXAMPLE = "expected instance types with the price of an hour, such as m6i.2xlarge: 0.43"


def read_prices(source: Readable | bytes) -> dict[str, float]:
    """Read prices.

    Args:
        source: a file, or its text as bytes.
    Returns: instance type -> price, in any currency.
    Raises:
        InputError: it cannot be read, or something in it is not a price.

    Example:
        assert read_prices(b"m6i.2xlarge: 0.43") == {"m6i.2xlarge": 0.43}
    """
    where = f"{source!s}: " if isinstance(source, Readable) else "prices: "
    try:
        documents = list(read_yaml(read_text(source)))
    except YamlError as error:
        raise InputError(f"{where}{error}") from error
    value: Any = documents[0].value if len(documents) == 1 else None
    if not isinstance(value, dict) or not value:
        raise InputError(f"{where}not a list of prices; {_EXAMPLE}")
    if repeated := documents[0].repeated_keys:
        raise InputError(f"{where}line {repeated[0].line}: this instance type is there twice; give each one price")
    for name, price in value.items():
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < float("inf"):
            raise InputError(f"{where}{name}: {price!r} is not a price; {_EXAMPLE}")
    return {name: float(price) for name, price in value.items()}
