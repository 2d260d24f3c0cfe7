"""Words a duration as kubectl does, in its two largest units."""

from typing import Final

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "m"))


def time_words(seconds: float) -> str:
    """A number of seconds: `149d8h`, `1h`, `3m20s`, `12.4s`.

    Example:
        assert time_words(200) == "3m20s"
    """
    for length, unit in _UNITS:
        if round(seconds) >= length:
            whole, rest = divmod(round(seconds), length)
            smaller = next(((n, name) for n, name in (*_UNITS, (1, "s")) if n < length), (1, "s"))
            more = rest // smaller[0]
            return f"{whole}{unit}{more}{smaller[1]}" if more else f"{whole}{unit}"
    return f"{seconds:.1f}".removesuffix(".0") + "s"
