"""Collects the errors of an expression, and writes them as cel-go does: place, text, line, and a caret below it."""

from kubesched.errors import CelCompileError

MOST_REPORTED = 100
"""Upstream ends the list after that many errors."""


class SourceErrors:
    """The errors that are found in one expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._errors: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return bool(self._errors)

    def add(self, at: int, message: str) -> None:
        """Report an error at an offset of the text."""
        if (at, message) not in self._errors:
            self._errors.append((at, message))

    def raise_any(self) -> None:
        """Stop if there is an error.

        Raises:
            CelCompileError: with all of them, by place.
        """
        if self._errors:
            shown = [self._shown(*error) for error in sorted(self._errors, key=lambda error: error[0])]
            raise CelCompileError("compilation failed: " + "\n".join(shown[:MOST_REPORTED]))

    def _shown(self, at: int, message: str) -> str:
        before = self.text[:at]
        line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1)
        source = self.text.split("\n")[line - 1].replace("\t", " ")
        dots = "".join("." if character.isascii() else "．" for character in source[:column])
        caret = "^" if source[column : column + 1].isascii() else "＾"
        return f"ERROR: <input>:{line}:{column + 1}: {message}\n | {source}\n | {dots}{caret}"


def without_place(message: str) -> CelCompileError:
    """An error about the whole expression."""
    return CelCompileError(f"compilation failed: ERROR: <input>:-1:0: {message}")
