"""A log that others cannot fill."""

import logging

from kubesched.framework import LimitedLog


def test_each_text_is_logged_once_and_a_few_in_a_window(caplog):
    now = 100.0
    log = LimitedLog(logging.getLogger("kubesched.x"), "%d more were not logged", lambda: now)
    for number in range(1000):
        log.note(f"/{number}")
        log.note("/0")
    assert len(caplog.records) == log.n_kept == 8
    now += 61
    log.note("/more", logging.ERROR)
    assert [(one.levelname, one.getMessage()) for one in caplog.records[8:]] == [
        ("WARNING", "1992 more were not logged"),
        ("ERROR", "/more"),
    ]
    assert log.n_kept == 1
