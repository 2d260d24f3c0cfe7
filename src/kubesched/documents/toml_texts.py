"""Recognises TOML, which people give where YAML is expected."""

import re
from typing import Final

_TABLE: Final = r'\[{1,2}[\w. "-]+\]{1,2}\s*(?:#.*)?\n\s*'
_BEGIN: Final = re.compile(rf"\A(?:#.*\n|\s)*(?:{_TABLE})*[\w.-]+ *= *(?=[\"'\[{{\w+-])")


def is_toml(text: str) -> bool:
    """Whether a text begins as TOML does: with `key = value`, perhaps below a `[table]`.

    Example:
        assert is_toml("port = 80")
    """
    return bool(_BEGIN.match(text))
