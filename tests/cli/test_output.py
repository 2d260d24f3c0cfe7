import os
import pty
import sys
import termios
import threading

import pytest

from kubesched.cli.output import progress_bar, text_console
from kubesched.pages.formats import Column, Page, Paragraph, Table, print_page


def test_a_pipe_gets_plain_lines_without_blanks_at_the_end(capsys):
    with text_console() as console:
        console.print("red  ", style="red")
        console.print("[bold]as it is[/bold] :smile:")
    assert capsys.readouterr().out == "red\n[bold]as it is[/bold] :smile:\n"


@pytest.mark.parametrize(("columns", "width"), [(None, 120), ("60", 60), ("wide", 120), ("0", 120)])
def test_lines_in_a_pipe_are_as_long_as_columns_says(monkeypatch, columns, width):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    with text_console() as console:
        assert console.width == width


@pytest.mark.parametrize(("columns", "width"), [(None, 91), ("60", 60)])
def test_lines_in_a_pipe_fit_the_terminal_that_standard_error_is(monkeypatch, columns, width):
    """As in `kubesched simulate | less`."""
    terminal, other_end = pty.openpty()
    termios.tcsetwinsize(other_end, (40, 91))
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    with os.fdopen(terminal), os.fdopen(other_end, "w") as stderr, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stderr)
        with text_console() as console:
            assert console.width == width


@pytest.mark.parametrize(("no_color", "coloured"), [(None, True), ("1", False)])
def test_a_terminal_gets_colours_unless_no_color_is_set(monkeypatch, capsys, no_color, coloured):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    with text_console() as console:
        console.print("red", style="red")
    assert ("\x1b[31m" in capsys.readouterr().out) is coloured


@pytest.mark.parametrize("is_terminal", [False, True])
def test_a_reason_cannot_steer_the_terminal(monkeypatch, capsys, is_terminal):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    with text_console() as console:
        reason = "red \x1b[31m \x9b2J bell \x07"
        table = Table("t", "", (Column("a", "REASON"),), [(reason,)])
        print_page(Page("test", Paragraph("verdict"), (table,)), console)
        console.print("clear \x1b[2J\nline", style="yellow")
    out = capsys.readouterr().out
    assert "red \\x1b[31m \\x9b2J bell \\x07" in out
    assert "clear \\x1b[2J" in out
    assert "\x1b[2J" not in out


def test_in_a_pipe_nobody_is_told():
    with progress_bar("reading") as told:
        assert told is None


def test_on_a_terminal_progress_goes_to_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    n_threads = threading.active_count()
    with progress_bar("reading") as told:
        assert told is not None
        told(1, 2)
        told(2, 0)
        assert threading.active_count() == n_threads  # workers are forked only without other threads
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "50%" in printed.err
