"""Output of commands: text with tables for people, JSON for programs, progress bars for long work.

Text has colours on a terminal, is plain elsewhere, and NO_COLOR is honoured. JSON has sorted keys, the same bytes for
the same input. Progress bars are on standard error, and gone afterwards; there are none in a pipe.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import click

from kubesched.cli.general_options import is_quiet
from kubesched.cli.parameters import Decorator
from kubesched.cli.standard_streams import standard_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_PIPE_WIDTH: Final = 120
_REDRAW_SECONDS: Final = 0.1


@contextmanager
def text_console() -> Iterator["Console"]:
    """A console on standard output; what was printed to it is there when the block ends.

    Text is printed as it is: names and reasons may hold brackets that would pass for markup. Control characters, with
    which a reason from an extender could steer the terminal, are printed as escapes. In a pipe lines are as
    long as COLUMNS says, else as the terminal of standard error, else 120 characters, and end without blanks.
    """
    from rich.console import Console as RichConsole

    from kubesched.documents import escape_controls

    class Console(RichConsole):
        def render_str(self, text: str, **options: Any) -> "Text":
            return super().render_str(escape_controls(text), **options)

    console = Console(file=standard_output(), width=_width(), markup=False, emoji=False, highlight=False)
    if console.is_terminal:
        yield console
        return
    with console.capture() as captured:
        yield console
    standard_output().write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def _width() -> int | None:
    """The length of lines; None for that of the terminal on standard output."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    if standard_output().isatty():
        return None
    with suppress(OSError, ValueError):  # not a terminal, or not a file
        return os.get_terminal_size(sys.stderr.fileno()).columns or _PIPE_WIDTH
    return _PIPE_WIDTH


def print_text(text: str, *, is_error: bool = False, nl: bool = True) -> None:
    """Print text for people, whose control characters are printed as escapes.

    Args:
        is_error: whether it goes to standard error.
        nl: whether to end the line.
    """
    from kubesched.documents import escape_controls

    click.echo(escape_controls(text), file=sys.stderr if is_error else standard_output(), nl=nl)


def print_verbatim(text: str) -> None:
    """Print text for programs, such as YAML, exactly as it is."""
    output = standard_output()
    output.write(text)
    output.flush()


def print_document(document: Any) -> None:
    """Print one document, indented."""
    from kubesched.pages.formats import json_text

    standard_output().write(json_text(document))


def print_line(line: Any) -> None:
    """Print one document as one line."""
    from kubesched.pages.formats import json_line

    standard_output().write(json_line(line))


@contextmanager
def progress_bar(doing: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show how far something has come.

    Args:
        doing: what is going on.
    Yields: a function to call with how much is done and how much there is (0 when not known); None when standard error
        is not a terminal, and with --quiet.
    """
    if is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    # without rich's own thread: beside another thread no worker process is forked
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as shown:
        task = shown.add_task(doing, total=None)
        drawn = 0.0

        def on_progress(done: int, total: int) -> None:
            nonlocal drawn
            if time.monotonic() - drawn >= _REDRAW_SECONDS:
                drawn = time.monotonic()
                shown.update(task, completed=done, total=total or None, refresh=True)

        yield on_progress


def output_option(*formats: str, help: str) -> Decorator:
    """-o: the format of what the command prints; the first is the default."""
    return click.option("-o", "--output", type=click.Choice(formats), default=formats[0], show_default=True, help=help)
