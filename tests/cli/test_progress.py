import sys

from kubesched.cli.progress import progress_bar


def test_in_a_pipe_nobody_is_told():
    with progress_bar("reading") as told:
        assert told is None


def test_on_a_terminal_progress_goes_to_standard_error(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_bar("reading") as told:
        assert told is not None
        told(1, 2)
        told(2, 0)
    assert capsys.readouterr().out == ""
