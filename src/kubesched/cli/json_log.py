"""--log-json, as it is found before the command line is parsed: from then on standard error has JSON lines only."""

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kubesched.serving import JsonStream

_COMMANDS: Final = ("scheduler", "extender")


def with_json_log(words: Sequence[str]) -> AbstractContextManager[None]:
    """What to run a command line in: errors in its options, and what plugins print while they load, are lines, too."""
    if not _asks_for_json(words):
        return nullcontext()
    from kubesched.serving import only_json_lines

    return only_json_lines()


def json_log() -> "JsonStream | None":
    """Standard error, if it has JSON lines only."""
    if "kubesched.serving.json_stream" not in sys.modules:
        return None
    from kubesched.serving import JsonStream

    stream: object = sys.stderr
    return stream if isinstance(stream, JsonStream) else None


def _asks_for_json(words: Sequence[str]) -> bool:
    if not any(word in _COMMANDS for word in words):
        return False
    return "--log-json" in words or "--logging-format=json" in words or ("--logging-format", "json") in pairwise(words)
