from pathlib import Path

from kubesched.cluster import Auth
from kubesched.cluster.content import Content
from kubesched.cluster.credentials import ConfiguredCredentials, basic_authorization
from tests.cluster.fake_timing import FakeTiming, run


def test_a_token_becomes_a_bearer_header_without_white_space(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("abc\n")
    credentials = ConfiguredCredentials(token=Content("t", FakeTiming(), path=file))
    assert run(credentials.current()) == Auth("Bearer abc")


def test_a_rejected_token_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    credentials = ConfiguredCredentials(token=Content("t", FakeTiming(), path=file))
    rejected = run(credentials.current())
    file.write_text("new")
    assert run(credentials.renew(rejected)) == Auth("Bearer new")


def test_certificates_are_read_again_together_with_the_token(tmp_path: Path) -> None:
    timing = FakeTiming()
    files = [tmp_path / "crt", tmp_path / "key"]
    for file in files:
        file.write_text("old")
    certificate, key = (Content("c", timing, path=file) for file in files)
    credentials = ConfiguredCredentials(certificate=certificate, key=key)
    assert run(credentials.current()) == Auth("", b"old", b"old")
    for file in files:
        file.write_text("new")
    timing.seconds += 60
    assert run(credentials.current()) == Auth("", b"new", b"new")


def test_name_and_password_become_a_basic_header() -> None:
    assert basic_authorization("ann", "pa:ss") == "Basic YW5uOnBhOnNz"


def test_nothing_shows_what_is_secret() -> None:
    shown = repr(Auth("Bearer s3cret", b"certificate", b"s3cret"))
    assert "s3cret" not in shown
    assert "authorization=***" in shown
